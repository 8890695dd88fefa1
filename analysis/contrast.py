"""What a change of temperature changes: the mean change of reliability over all cells judged at both.

Source: 004_e1840bb43771aeee.txt, the part on temperature and variance sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import reliability
from analysis.bootstrap import Array, Interval, bootstrap
from analysis.cells import Metric, clusters, settings, terms_read, told
from analysis.columns import TableError
from analysis.repeats import Unreadable

METRICS: tuple[Metric, ...] = tuple(m for m in reliability.METRICS if m.name in ("C", "A-phi/2", "T"))
TERMS = tuple(terms_read(METRICS))
CELLS = ("judge", "dataset", "format")
COLUMNS = (
    *("temperature_from", "temperature_to", "metric", "value_from", "value_to"),
    *("change", "ci_low", "ci_high", "cells", "n"),
)


def temperature(
    units: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "drop",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Mean change of C, A - phi/2 and T from the lowest temperature to each other one.

    The mean is over the judge x data set x format cells that have both temperatures, cells weighted equally.
    Groups are resampled within each data set, the same ones at both temperatures and in all cells.

    Args:
        units: one row a pair in a cell, from `analysis.repeats.items` under the same rule.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples; 0 for none.
        unreadable: the rule under which `units` were read.
        interval: `percentile` or `bca`.

    Returns:
        One row a metric and contrast: the factors that differ, temperature_from temperature_to metric, value_from
        value_to (means over cells), change ci_low ci_high, cells and n (pairs in them).

    Raises:
        TableError: no cell has two temperatures, or a metric is undefined in a cell.
    """
    rows = []
    for setting, part in settings(units, (*CELLS, "temperature")):
        for start, end in _spans(part):
            found = _contrast(
                part, start, end, rng=rng, replicates=replicates, unreadable=unreadable, interval=interval
            )
            rows.append(found.assign(**setting))
    if not rows:
        levels = ", ".join(f"{t:g}" for t in np.sort(units["temperature"].dropna().unique())) or "none recorded"
        raise TableError(f"a change of temperature needs cells judged at two temperatures; the table's are: {levels}")
    return told(pd.concat(rows, ignore_index=True), COLUMNS)


def _spans(part: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """The lowest temperature and each other one, where some cell has both."""
    levels = np.sort(part["temperature"].dropna().unique())
    for end in levels[1:]:
        spanned = part[part["temperature"].isin([levels[0], end])]
        if (spanned.groupby(list(CELLS), dropna=False)["temperature"].nunique() > 1).any():
            yield levels[0], end


def _contrast(
    part: pd.DataFrame, start: float, end: float, *, rng: np.random.Generator, unreadable: Unreadable, **options: Any
) -> pd.DataFrame:
    spanned = part[part["temperature"].isin([start, end])]
    both = spanned.groupby(list(CELLS), dropna=False)["temperature"].transform("nunique") > 1
    units = spanned[both].reset_index(drop=True)
    sums, strata = _sums(units, (units["temperature"] == end).to_numpy(), unreadable)
    _check_defined(units, _values(sums.sum(axis=0)[..., None]))

    def statistic(columns: Array) -> Array:
        before, after = _values(columns.reshape(*sums.shape[1:], -1)).mean(axis=1).swapaxes(0, 1)
        return np.concatenate([before, after, after - before])

    found = bootstrap(statistic, sums.reshape(len(sums), -1), rng=rng, strata=strata, **options)
    before, after, change = found.value.reshape(3, -1)
    low, high = (x.reshape(3, -1)[2] for x in (found.low, found.high))
    names = [m.name for m in METRICS]
    numbers = (start, end, names, before, after, change, low, high, sums.shape[1], len(units))
    return pd.DataFrame(dict(zip(COLUMNS, numbers, strict=True)))


def _sums(units: pd.DataFrame, later: NDArray[np.bool_], unreadable: Unreadable) -> tuple[Array, NDArray[np.int64]]:
    """Sums of the terms by group, cell and side, (groups, cells, 2, terms); and the data set of each group."""
    design = reliability.design(units, unreadable=unreadable)
    terms = np.column_stack([design.terms[t] for t in TERMS])
    cell = units.groupby(list(CELLS), dropna=False).ngroup().to_numpy()
    dataset = units["dataset"].astype("category").cat.codes.to_numpy()
    group = (units.groupby(["dataset", clusters(units)]).ngroup()).to_numpy()
    sums = np.zeros((group.max() + 1, cell.max() + 1, 2, len(TERMS)))
    np.add.at(sums, (group, cell, later.astype(int)), terms)
    return sums, dataset[np.unique(group, return_index=True)[1]].astype(np.int64)


def _values(sums: Array) -> Array:
    """Metrics from sums: (cells, 2, terms, R) -> (metrics, cells, 2, R)."""
    by_name = dict(zip(TERMS, np.moveaxis(sums, 2, 0), strict=True))
    return np.stack([m.value(by_name) for m in METRICS])


def _check_defined(units: pd.DataFrame, values: Array) -> None:
    for metric, of in zip(METRICS, values[..., 0], strict=True):
        cells = np.isnan(of).any(axis=1)
        if cells.any():
            first = units.drop_duplicates(list(CELLS)).sort_values(list(CELLS)).iloc[int(cells.argmax())]
            raise TableError(
                f"{metric.name} is undefined in {int(cells.sum()):,} of {len(cells):,} cells at one temperature, "
                f"such as {first['judge']} on {first['dataset']} in format {first['format']!r}: {metric.undefined}"
            )
