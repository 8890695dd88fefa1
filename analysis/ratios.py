"""Many ratios of sums over units at once, and means of them, with cluster bootstrap intervals that share resamples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Interval, Weights, evaluate
from analysis.cells import ratio

POOLED = "*"
"""Stands for all judges, or all generators, together."""


class Key(NamedTuple):
    """What a number is called."""

    judge: str
    generator: str
    slice: str
    metric: str


class Ratio(NamedTuple):
    """A ratio: its two sums' parts, (units,) each."""

    key: Key
    part: Array
    whole: Array
    needs: str = ""
    """What it takes to be defined: the note beside a NaN."""
    n: float | None = None
    """What the ratio is said to be over, if not the sum of the whole."""


class Mean(NamedTuple):
    """The mean of some ratios, less that of others if there are any."""

    key: Key
    of: Sequence[Key]
    less: Sequence[Key] = ()


def estimates(
    ratios: Iterable[Ratio],
    groups: NDArray[np.intp],
    weights: Weights,
    interval: Interval = "percentile",
    means: Sequence[Mean] = (),
) -> pd.DataFrame:
    """Evaluates ratios, then means of them, with their intervals.

    Units with parts 1, 0, 1 of wholes 1, 1, 2: value 2/4.

    Args:
        ratios: what to evaluate; no two have the same key.
        groups: the group of each unit, codes from 0; (units,).
        weights: resamples of the groups, see `analysis.bootstrap.resample`.
        interval: `percentile` or `bca`.
        means: of the ratios; undefined where one of them is.

    Returns:
        One row a number: judge generator slice metric value ci_low ci_high, n (the sum of the whole, of a mean the
        number of ratios), groups (those that add to it) and note. What fewer than two groups add to has no interval.
    """
    keys, notes, over, sides = [], [], [], []
    columns: dict[bytes, tuple[int, Array]] = {}
    for one in ratios:
        keys.append(one.key)
        notes.append(one.needs)
        over.append(one.whole.sum() if one.n is None else one.n)
        sums_of = [np.bincount(groups, v, weights.shape[1]).astype(float) for v in (one.part, one.whole)]
        # Many ratios have a sum in common, and what is multiplied with every resample should be there once.
        sides.append([columns.setdefault(column.tobytes(), (len(columns), column))[0] for column in sums_of])
    sums = np.column_stack([column for _, column in columns.values()])
    parts, wholes = np.transpose(sides)
    at = {key: i for i, key in enumerate(keys)}
    picked = [([at[k] for k in mean.of], [at[k] for k in mean.less]) for mean in means]

    def statistic(totals: Array) -> Array:
        values = ratio(totals[parts], totals[wholes])
        combined = [_mean(values, of) - (_mean(values, less) if less else 0) for of, less in picked]
        return np.concatenate([values, np.reshape(combined, (-1, values.shape[1]))])

    found = evaluate(statistic, sums, weights, interval=interval)
    populated = (sums > 0).sum(axis=0)[wholes]
    fewest = [populated[[*of, *less]].min(initial=len(sums)) for of, less in picked]
    n = np.array([*over, *(len(of) + len(less) for of, less in picked)]).round()
    table = pd.DataFrame([*keys, *(mean.key for mean in means)], columns=list(Key._fields))
    table = table.assign(value=found.value, n=n.astype("int64"), groups=np.append(populated, fewest).astype("int64"))
    low, high = (np.where(table["groups"] > 1, end, np.nan) for end in (found.low, found.high))
    note = np.array([*notes, *("every one of these cells" for _ in means)], dtype=object)
    return table.assign(ci_low=low, ci_high=high, note=np.where(np.isnan(found.value), "undefined: needs " + note, ""))


def ruled(numbers: pd.DataFrame, but: Sequence[str] = ()) -> pd.DataFrame:
    """The numbers with intervals by the rule of three where nothing, or everything, was an event.

    No event in 14 records: 0 to 3/14. A bootstrap would say that it can never happen. Verdicts on one record are not
    independent, so records are what is counted.

    Args:
        numbers: from `estimates`.
        but: metrics that are no share of anything, such as F1.
    """
    rate = ~numbers["metric"].isin(but)
    none, every = rate & (numbers["value"] == 0), rate & (numbers["value"] == 1)
    reach = (3 / numbers["groups"].clip(lower=1)).clip(upper=1)
    low = numbers["ci_low"].mask(none, 0.0).mask(every, 1 - reach)
    high = numbers["ci_high"].mask(none, reach).mask(every, 1.0)
    said = "rule of three over " + numbers["groups"].astype(str) + " records"
    return numbers.assign(ci_low=low, ci_high=high, note=numbers["note"].mask(none | every, said))


def _mean(values: Array, at: Sequence[int]) -> Array:
    mean: Array = values[list(at)].mean(axis=0)
    return mean
