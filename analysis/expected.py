"""The audit of `trust` without sampling: what its numbers would be, from one pass of log-probabilities per order.

For one-token verdicts the labels' probabilities p at temperature 1 give those at any temperature T, p^(1/T)
renormalised over the label set, and with them the distribution of any number K of independent repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.bootstrap import Array

NUMBERS = ("C", "phi", "A", "T", "T_joint")


@dataclass(frozen=True, slots=True)
class Indications:
    """Expected N, P, R of pairs judged K times in each order; arrays (pairs, orders) unless it says otherwise."""

    n: Array
    """Chance that all repeats agree; NaN with fewer than two."""
    p: Array
    """(pairs,) chance that the majority verdicts of the two orders agree."""
    r: Array
    """Chance that the majority verdict is the gold label."""
    joint: Array
    """Chance that N = P = R = 1."""
    both: Array
    """(pairs,) chance that both majority verdicts are the gold label."""
    always: Array
    """(pairs,) chance that all repeats in both orders are the gold label."""


def tempered(chances: Array, temperature: float) -> Array:
    """Label probabilities at a temperature, from those at temperature 1; the last axis holds the labels.

    Temperature 0 is the limit: all to the likeliest label, shared where several are equally likely.

    >>> tempered(np.array([0.8, 0.2]), 0.5).round(4).tolist()  # 0.64 / (0.64 + 0.04)
    [0.9412, 0.0588]
    >>> tempered(np.array([[0.8, 0.2], [0.5, 0.5]]), 0).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    if temperature == 0:
        powers = (chances == chances.max(axis=-1, keepdims=True)).astype(float)
    else:
        with np.errstate(divide="ignore"):
            logs = np.log(chances / chances.max(axis=-1, keepdims=True)) / temperature
        powers = np.exp(logs)
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def majority(chances: Array, repeats: int) -> Array:
    """Chance that each label is the majority verdict of K independent repeats; the last axis holds the labels.

    Of labels that share the lead the one given first wins, and each is as likely to have been first. Two repeats at
    0.8 and 0.2: A with 0.64 + 0.32 / 2 = 0.8, as with one. Three: 0.512 + 3 0.64 0.2 = 0.896.

    >>> [majority(np.array([0.8, 0.2]), k).round(3).tolist() for k in (1, 2, 3)]
    [[0.8, 0.2], [0.8, 0.2], [0.896, 0.104]]
    """
    from scipy.special import gammaln, xlogy

    counts = _compositions(repeats, chances.shape[-1])
    ways = gammaln(repeats + 1) - gammaln(counts + 1).sum(axis=1)
    chance = np.exp(ways + xlogy(counts, chances[..., None, :]).sum(axis=-1))
    leads = counts == counts.max(axis=1, keepdims=True)
    won: Array = chance @ (leads / leads.sum(axis=1, keepdims=True))
    return won


def indications(chances: Array, gold: Array, temperature: float, repeats: int) -> Indications:
    """What is to be expected of N, P and R (see `analysis.repeats`) for pairs judged K times in each order.

    The verdicts are independent given their probabilities, which is what sampling at a temperature does, so chances
    multiply. p(A) = 0.8 in both orders, gold A, T = 1, K = 2: N = 0.64 + 0.04, P = 0.8^2 + 0.2^2, R = 0.8, N P R =
    0.64 0.8.

    >>> found = indications(np.array([[[0.8, 0.2], [0.8, 0.2]]]), np.array([0]), 1.0, 2)
    >>> [float(x.ravel()[0].round(3)) for x in (found.n, found.p, found.r, found.joint)]
    [0.68, 0.68, 0.8, 0.512]

    Args:
        chances: label probabilities at temperature 1, in the item's own order, (pairs, orders, labels).
        gold: (pairs,) place of the gold label among the labels; -1 where none is known.
        temperature: of the sampled audit.
        repeats: of the sampled audit.
    """
    p = tempered(chances, temperature)
    won = majority(p, repeats)
    agree = p**repeats
    known = gold >= 0
    at = np.where(known, gold, 0).astype(np.intp)[:, None, None]

    def of_gold(x: Array) -> Array:
        return np.where(known[:, None], np.take_along_axis(x, at, axis=2)[:, :, 0], np.nan)

    r, unanimous = of_gold(won), of_gold(agree)
    enough = np.nan if repeats < 2 else 1.0
    return Indications(
        n=agree.sum(axis=2) * enough,
        p=(won[:, 0] * won[:, 1]).sum(axis=1),
        r=r,
        joint=unanimous * r[:, ::-1] * enough,
        both=r.prod(axis=1),
        always=unanimous.prod(axis=1) * enough,
    )


def audit(found: Indications) -> Mapping[str, float]:
    """Expected C, phi, A, T and T_joint of a cell; T = C (A - phi q) of the expected C, A and phi.

    Without ties A - phi q is A - phi/2, as in the study.
    """
    with np.errstate(invalid="ignore"):
        c, phi, a, both, joint = (
            float(np.mean(x)) for x in (found.n, 1 - found.p, _known(found.r), _known(found.both), _known(found.joint))
        )
    return dict(zip(NUMBERS, (c, phi, a, c * both, joint), strict=True))


def sampling_interval(found: Indications, level: float = 0.95) -> Mapping[str, tuple[float, float]]:
    """Where the numbers of one sampled audit of these very pairs will lie, with at least this probability.

    Exact for C, phi, A and T_joint: they are sums of independent counts, whose distributions are convolved. Normal
    for T, whose variance is that of a product (delta method). It holds no uncertainty about other pairs.
    """
    tail = (1 - level) / 2
    r, joint = _known(found.r), _known(found.joint)
    always = _known(found.always)
    one = joint.sum(axis=1) - 2 * always
    ends = {
        "C": _ends(_bernoulli(found.n.ravel()), 1, tail),
        "phi": _ends(_bernoulli(1 - found.p), 1, tail),
        "A": _ends(_bernoulli(r.ravel()), 1, tail),
        "T": _normal_ends(found, level),
        "T_joint": _ends(np.column_stack([1 - one - always, one, always]), 2, tail),
    }
    return {name: ends[name] for name in NUMBERS}


def _normal_ends(found: Indications, level: float) -> tuple[float, float]:
    from scipy.special import ndtri

    n, both, joint = found.n, found.both, found.joint
    known = ~np.isnan(both)
    if not known.any() or np.isnan(n).any():
        return np.nan, np.nan
    c, decided = n.mean(), both[known].mean()
    pairs, rated = len(n), known.sum()
    var_c = (n * (1 - n)).sum() / (2 * pairs) ** 2
    var_d = (both * (1 - both))[known].sum() / rated**2
    covariance = (joint.mean(axis=1) - n.mean(axis=1) * both)[known].sum() / (pairs * rated)
    variance = var_c * decided**2 + var_d * c**2 + 2 * c * decided * covariance
    reach = ndtri((1 + level) / 2) * np.sqrt(max(variance, 0.0))
    return float(c * decided - reach), float(c * decided + reach)


def _ends(chances: Array, most: int, tail: float) -> tuple[float, float]:
    """Quantiles of the mean of independent counts from 0 to `most`, as a share of it; `chances` (counts, most + 1)."""
    if not len(chances) or np.isnan(chances).any():
        return np.nan, np.nan
    size = len(chances) * most + 1
    transformed = np.fft.rfft(chances, n=size, axis=1) if size > 1 else chances
    total = np.cumsum(np.clip(np.fft.irfft(transformed.prod(axis=0), n=size), 0, 1))
    low, high = (int(np.searchsorted(total, level - 1e-12)) for level in (tail, 1 - tail))
    return low / (size - 1), min(high, size - 1) / (size - 1)


def _bernoulli(chance: Array) -> Array:
    return np.column_stack([1 - chance, chance])


def _known(values: Array) -> Array:
    """Rows without NaN, which stands for an unknown gold label; all NaN where no row is left."""
    rows = ~np.isnan(values.reshape(len(values), -1)).any(axis=1)
    return values[rows] if rows.any() else np.full_like(values[:1], np.nan)


def _compositions(total: int, parts: int) -> Array:
    """All ways to write `total` as a sum of `parts` counts, (ways, parts)."""
    axes = np.indices((total + 1,) * (parts - 1)).reshape(parts - 1, -1).T
    axes = axes[axes.sum(axis=1) <= total]
    return np.column_stack([axes, total - axes.sum(axis=1)]).astype(float)
