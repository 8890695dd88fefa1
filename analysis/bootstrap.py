"""The cluster bootstrap: whole groups are resampled, and every metric is a function of sums over groups.

Because of that, one resample of the groups is a vector of weights, all replicates are a matrix product, and
metrics that share the groups share the weights: a difference or a range of metrics has the right interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""Sums (K, R) -> metrics (M, R), column by column; NaN where a metric is undefined."""
Weights = NDArray[np.uint16]
Interval = Literal["percentile", "bca"]

NUMBERS_AT_ONCE = 4_000_000
"""Weights or sums held at a time: bounds the memory however many groups and sums there are."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Metrics with their intervals, arrays of shape (M,)."""

    value: Array
    low: Array
    high: Array
    error: Array
    """Standard deviation over the replicates."""


def bootstrap(
    statistic: Statistic,
    sums: Array,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    interval: Interval = "percentile",
    level: float = 0.95,
    strata: NDArray[np.int64] | None = None,
) -> Estimate:
    """Evaluates a statistic and its bootstrap interval.

    A mean over two groups with sums 1 of 2 and 4 of 4:
    `bootstrap(lambda s: s[:1] / s[1:], np.array([[1., 2.], [4., 4.]]), rng=rng)` has value 5/6, low 1/2, high 1.

    Args:
        statistic: function of the column sums, vectorised over replicates: (K, R) -> (M, R).
        sums: what each group adds to each column, (groups, K).
        rng: equal generators give equal intervals.
        replicates: number of resamples; 0 gives the value alone, with NaN for the interval.
        interval: `percentile`, or `bca` (bias-corrected and accelerated; Efron 1987), whose acceleration comes
            from leaving out one group at a time; where its bias is not finite, none is assumed.
        level: share of the sampling distribution that the interval covers.
        strata: (groups,) codes; groups are resampled within their own stratum, such as a data set. None: there
            is one.

    Returns:
        Value and interval. The interval is NaN if a stratum has fewer than two groups, which cannot vary.
        Replicates in which a metric is undefined are left out of its interval.
    """
    strata = np.zeros(len(sums), dtype=np.int64) if strata is None else strata
    return evaluate(statistic, sums, resample(strata, replicates, rng), interval=interval, level=level)


def resample(strata: NDArray[np.int64], replicates: int, rng: np.random.Generator) -> Weights:
    """How often each group is drawn in each replicate, with replacement and within its stratum.

    Args:
        strata: (groups,) codes.
        replicates: number of resamples.
        rng: equal generators give equal weights.

    Returns:
        (replicates, groups); no replicates if a stratum has fewer than two groups, which cannot vary.
    """
    parts = [np.flatnonzero(strata == code) for code in np.unique(strata)]
    if min(map(len, parts)) < 2:
        replicates = 0
    weights = np.empty((replicates, len(strata)), dtype=np.uint16)
    for part in parts:
        step = max(1, NUMBERS_AT_ONCE // len(part))
        for start in range(0, replicates, step):
            weights[start : start + step, part] = _counts(len(part), min(step, replicates - start), rng)
    return weights


def evaluate(
    statistic: Statistic, sums: Array, weights: Weights, *, interval: Interval = "percentile", level: float = 0.95
) -> Estimate:
    """`bootstrap` with resamples drawn before, so that several statistics can share them."""
    if interval not in get_args(Interval):
        raise ValueError(f"interval={interval!r}: choose {' or '.join(get_args(Interval))}")
    total = sums.sum(axis=0)[:, None]
    value = statistic(total)[:, 0]
    if not len(weights):
        nowhere = np.full_like(value, np.nan)
        return Estimate(value, nowhere, nowhere, nowhere)
    # Groups that add nothing, such as those outside a slice, need not be multiplied.
    adds = sums.any(axis=1)
    step = max(1, NUMBERS_AT_ONCE // max(sums.shape))
    chunks = (weights[start : start + step, adds].astype(np.float64) for start in range(0, len(weights), step))
    draws = np.concatenate([statistic(sums[adds].T @ chunk.T) for chunk in chunks], axis=1)
    levels = np.broadcast_to([(1 - level) / 2, (1 + level) / 2], (len(value), 2))
    if interval == "bca":
        levels = _bca_levels(value, draws, statistic(total - sums.T), levels)
    low, high = _quantiles(draws, levels).T
    undefined = np.isnan(value) | np.isnan(draws).all(axis=1)
    error = np.nanstd(np.where(undefined[:, None], 0.0, draws), axis=1)
    return Estimate(value, *(np.where(undefined, np.nan, x) for x in (low, high, error)))


def _counts(groups: int, replicates: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each group is drawn, (replicates, groups); every row sums to `groups`."""
    drawn = rng.integers(groups, size=(replicates, groups))
    drawn += groups * np.arange(replicates)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=replicates * groups)
    return counts.reshape(replicates, groups)


def _quantiles(draws: Array, levels: Array) -> Array:
    """Quantiles (M, 2) of draws (M, R) at levels (M, 2), linearly interpolated; NaNs are left out."""
    ordered = np.sort(draws, axis=1)
    last = (~np.isnan(draws)).sum(axis=1, keepdims=True) - 1
    at = np.where(np.isnan(levels), 0.0, levels) * np.maximum(last, 0)
    below = np.floor(at).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(last, 0))
    low, high = (np.take_along_axis(ordered, i, axis=1) for i in (below, above))
    return np.where(np.isnan(levels), np.nan, low + (high - low) * (at - below))


def _bca_levels(value: Array, draws: Array, without: Array, levels: Array) -> Array:
    """Levels at which BCa reads the draws, (M, 2), from leave-one-group-out metrics `without`, (M, groups)."""
    from scipy.special import ndtr, ndtri

    point = value[:, None]
    defined = np.maximum((~np.isnan(draws)).sum(axis=1, keepdims=True), 1)
    below = ((draws < point).sum(axis=1, keepdims=True) + (draws <= point).sum(axis=1, keepdims=True)) / 2
    # A draw that never or always lies below the value has no finite bias: then the levels stand as they are.
    bias = ndtri(below / defined)
    bias = np.where(np.isfinite(bias), bias, 0.0)
    z = bias + ndtri(levels)
    adjusted: Array = ndtr(bias + z / (1 - _acceleration(without) * z))
    return adjusted


def _acceleration(without: Array) -> Array:
    """Skewness of the metrics left without one group, over 6; (M, 1), 0 for a metric that no group changes."""
    defined = np.maximum((~np.isnan(without)).sum(axis=1, keepdims=True), 1)
    away = np.nansum(without, axis=1, keepdims=True) / defined - without
    cubes, squares = (np.nansum(away**power, axis=1, keepdims=True) for power in (3, 2))
    skew: Array = np.divide(cubes, 6 * squares**1.5, out=np.zeros_like(cubes), where=squares > 1e-30)
    return skew
