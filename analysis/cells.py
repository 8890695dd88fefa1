"""Metrics of every cell of a design, with intervals, as one tidy table; the metrics themselves come from a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Interval, Statistic, Weights, evaluate, resample
from analysis.verdicts import CELL

Sums = Mapping[str, Array]
"""Sums of terms over units, by the terms' names; arrays of one shape."""
Masks = Mapping[str, NDArray[np.bool_]]
TIDY = (*CELL, "slice", "metric", "value", "ci_low", "ci_high", "n", "share_unreadable", "note")
OVERALL = "overall"
ALL_FORMATS = "*"
BLOCKS_AT_ONCE = 16
"""Blocks that are resampled together: bounds the memory, as the replicates of all their metrics are held at once."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a study: a function of sums over units."""

    name: str
    value: Callable[[Sums], Array]
    n: str
    """Term that counts what the metric is a mean of."""
    of: str
    """Term that counts what `n` would be if nothing were undefined."""
    undefined: str
    """What the metric needs to be defined: the note beside a NaN."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Notes to make where the sum of a term is not zero, by the term's name."""


@dataclass(frozen=True, slots=True)
class Design:
    """A study's units and what is to be computed from them."""

    units: pd.DataFrame
    """One row a unit, with the columns of `CELL`, `item` and `group`; an item without a group stands alone."""
    terms: Mapping[str, Array]
    """What each unit adds to each sum, (units,); among them `verdicts` and `unreadable`, counts of rows."""
    metrics: Sequence[Metric]
    slices: Masks
    """Which units each slice holds; it has no rows where it holds none."""
    ranges: Mapping[str, str] = field(default_factory=dict)
    """Metrics that are the range of another one over formats: `{"delta_T_fmt": "T"}`."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Metrics that only units of some kind have, by the term that counts those; they are left out elsewhere."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One slice of cells that differ in format alone."""

    design: Design
    slice: str
    cells: pd.DataFrame
    sums: Array
    """(groups of the data set, cells, terms)"""
    populated: int
    """Groups that hold a unit of the block."""


def estimate(
    design: Design, *, rng: np.random.Generator, replicates: int = 10_000, interval: Interval = "percentile"
) -> pd.DataFrame:
    """Evaluates all metrics in all cells and slices.

    All cells of one data set are resampled with the same weights over its groups. They are drawn from `rng`
    and the data set's name, so a further data set in the table changes no interval.

    Returns:
        One number a row, columns `TIDY`. A range over formats has format `*`. `note` says why a value is
        undefined, for how many units it is, or how the value is to be read.
    """
    seed = int(rng.integers(2**63))
    parts = []
    for dataset in sorted(design.units["dataset"].unique()):
        rows = np.flatnonzero(design.units["dataset"] == dataset)
        group, groups = pd.factorize(clusters(design.units.iloc[rows]), sort=True)
        draws = np.random.default_rng([seed, crc32(dataset.encode())])
        weights = resample(np.zeros(len(groups), dtype=np.int64), replicates, draws)
        blocks = list(_blocks(design, rows, group))
        parts += [_tidy(blocks[i], found) for i, found in sorted(_evaluated(blocks, weights, interval))]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(TIDY))


def ratio(part: Array, whole: Array) -> Array:
    """`part / whole`, NaN where there is nothing to divide by."""
    out: Array = np.full(np.shape(whole), np.nan)
    return np.divide(part, whole, out=out, where=whole > 0)


def clusters(units: pd.DataFrame) -> pd.Series[str]:
    """What a bootstrap resamples together: the group of each unit, or its item where that stands alone."""
    return units["group"].where(units["group"] != "", "item " + units["item"])


def terms_read(metrics: Iterable[Metric]) -> list[str]:
    """The terms whose sums the metrics are functions of."""
    read: defaultdict[str, Array] = defaultdict(lambda: np.ones(1))
    for metric in metrics:
        metric.value(read)
    return list(read)


def settings(table: pd.DataFrame, facets: Collection[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The parts of a table that differ in no column of the cell but the facets, each with those columns' values."""
    others = [c for c in CELL if c not in facets]
    values: tuple[Any, ...]
    for values, part in table.groupby(others, dropna=False, sort=True):
        yield dict(zip(others, values, strict=True)), part


def told(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Judge, data set and what else of the cell differs between rows, as far as the table has them; then the others."""
    own = [c for c in CELL if c in table and (c in ("judge", "dataset") or table[c].nunique(dropna=False) > 1)]
    return table[[*own, *columns]]


def told_of(design: Design, units: NDArray[np.intp]) -> list[Metric]:
    """The metrics that the units at these places have."""
    own = {name: design.terms[kind][units].any() for name, kind in design.kinds.items()}
    return [m for m in design.metrics if own.get(m.name, True)]


def slices_by(units: pd.DataFrame, labels: pd.Series[str]) -> dict[str, NDArray[np.bool_]]:
    """The whole and each labelled part of it; parts only of data sets that have two or more."""
    parts = labels.groupby(units["dataset"]).transform("nunique") > 1
    names = sorted(set(labels[parts]) - {""})
    masks = {name: (parts & (labels == name)).to_numpy(dtype=bool) for name in names}
    return {OVERALL: np.ones(len(units), dtype=bool), **masks}


def _blocks(design: Design, rows: NDArray[np.intp], group: NDArray[np.intp]) -> Iterator[_Block]:
    """The blocks of one data set, whose units are at `rows` and belong to these groups; all have the same groups."""
    units = design.units.iloc[rows]
    terms = np.column_stack([term[rows] for term in design.terms.values()])
    family = units.groupby([c for c in CELL if c != "format"], dropna=False).ngroup().to_numpy()
    setting = units.groupby(list(CELL), dropna=False).ngroup().to_numpy()
    keys = units[list(CELL)]
    for one in range(family.max() + 1):
        for name, mask in design.slices.items():
            at = np.flatnonzero((family == one) & mask[rows])
            if len(at):
                _, first, cell = np.unique(setting[at], return_index=True, return_inverse=True)
                cells = keys.iloc[at[first]]
                sums = np.zeros((group.max() + 1, len(cells), terms.shape[1]))
                np.add.at(sums, (group[at], cell), terms[at])
                if told := told_of(design, at):
                    yield _Block(replace(design, metrics=told), name, cells, sums, len(np.unique(group[at])))


def _evaluated(
    blocks: Sequence[_Block], weights: Weights, interval: Interval
) -> Iterator[tuple[int, tuple[Array, Array, Array]]]:
    """Value, low and high of each block, with its place; blocks of one slice are resampled in one product."""
    alike: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for i, block in enumerate(blocks):
        alike[block.slice, block.populated > 1].append(i)
    for (_, varies), places in alike.items():
        for start in range(0, len(places), BLOCKS_AT_ONCE):
            at = places[start : start + BLOCKS_AT_ONCE]
            found = _evaluate([blocks[i] for i in at], weights if varies else weights[:0], interval)
            yield from zip(at, found, strict=True)


def _evaluate(blocks: Sequence[_Block], weights: Weights, interval: Interval) -> Iterator[tuple[Array, Array, Array]]:
    """Value, low and high of each block."""
    statistics, sums = zip(*map(_statistic, blocks), strict=True)
    columns = np.cumsum([part.shape[1] for part in sums])[:-1]
    ends = np.cumsum([len(b.cells) * len(b.design.metrics) + len(b.design.ranges) for b in blocks])[:-1]

    def together(column_sums: Array) -> Array:
        return np.concatenate([f(part) for f, part in zip(statistics, np.split(column_sums, columns), strict=True)])

    whole = evaluate(together, np.concatenate(sums, axis=1), weights, interval=interval)
    return zip(*(np.split(x, ends) for x in (whole.value, whole.low, whole.high)), strict=True)


def _statistic(block: _Block) -> tuple[Statistic, Array]:
    """Metrics of a block, cells varying fastest, then the ranges over its cells; and the columns that they read."""
    groups, cells, _ = block.sums.shape
    read = terms_read(block.design.metrics)
    needed = block.sums[:, :, list(map(list(block.design.terms).index, read))]

    def statistic(sums: Array) -> Array:
        by_name = dict(zip(read, np.moveaxis(sums.reshape(cells, len(read), -1), 1, 0), strict=True))
        values = {m.name: m.value(by_name) for m in block.design.metrics}
        ranges = [_range(values[of]) for of in block.design.ranges.values()]
        return np.concatenate([*values.values(), *ranges])

    return statistic, needed.reshape(groups, -1)


def _range(values: Array) -> Array:
    """Largest less smallest value over cells, (cells, R) -> (1, R); NaN if any is, or if there is but one."""
    return np.ptp(values, axis=0, keepdims=True) if len(values) > 1 else np.full_like(values, np.nan)


def _tidy(block: _Block, found: tuple[Array, Array, Array]) -> pd.DataFrame:
    """One row a number: cell by cell, metrics in their order, ranges last."""
    value, low, high = found
    cells, metrics = len(block.cells), block.design.metrics
    totals = dict(zip(block.design.terms, block.sums.sum(axis=0).T, strict=True))
    at = np.arange(cells * len(metrics)).reshape(-1, cells).T.ravel()
    own = block.cells.loc[block.cells.index.repeat(len(metrics))].assign(
        metric=[m.name for m in metrics] * cells,
        n=np.column_stack([totals[m.n] for m in metrics]).ravel(),
        share_unreadable=np.repeat(totals["unreadable"] / totals["verdicts"], len(metrics)),
        note=[_note(m, value[i * cells + c], totals, c) for c in range(cells) for i, m in enumerate(metrics)],
    )
    whole = [_range_row(block, name, of, totals) for name, of in block.design.ranges.items()]
    rows = pd.concat([own, pd.DataFrame(whole)]) if whole else own
    at = np.concatenate([at, np.arange(at.size, value.size)])
    numbers = {"value": value[at], "ci_low": low[at], "ci_high": high[at]}
    return rows.assign(slice=block.slice, **numbers, n=rows["n"].astype("int64"))[list(TIDY)]


def _range_row(block: _Block, name: str, of: str, totals: Sums) -> dict[str, object]:
    metric = next(m for m in block.design.metrics if m.name == of)
    return block.cells.iloc[0].to_dict() | {
        "format": ALL_FORMATS,
        "metric": name,
        "n": totals[metric.n].min(),
        "share_unreadable": totals["unreadable"].sum() / totals["verdicts"].sum(),
        "note": f"{of} over {len(block.cells)} formats" if len(block.cells) > 1 else "needs two formats or more",
    }


def _note(metric: Metric, value: float, totals: Sums, cell: int) -> str:
    if np.isnan(value):
        return f"undefined: {metric.undefined}"
    missing = int(totals[metric.of][cell] - totals[metric.n][cell])
    lacking = [f"undefined for {missing:,} of {int(totals[metric.of][cell]):,}"] if missing else []
    return "; ".join(lacking + [text for term, text in metric.remarks.items() if totals[term][cell]])
