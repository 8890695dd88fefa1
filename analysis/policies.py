"""One metric under every rule for unreadable verdicts, between the worst and the best that they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.bootstrap import Interval
from analysis.cells import OVERALL, Design, estimate, told
from analysis.tables import cell
from analysis.verdicts import CELL

ENDS = ("worst", "best")


def policies(
    design: Callable[[str], Design],
    rules: Sequence[str],
    names: Sequence[str],
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Metrics under every rule, one row a cell and metric, with their intervals.

    Args:
        design: a study's design under a rule for unreadable verdicts.
        rules: the rules that the study knows.
        names: metrics that have `NAME_worst` and `NAME_best` beside them: what they would be if every unreadable
            verdict had said the worst, or the best.
        rng: one seed is drawn from it for all rules, so that they are resampled alike.
        replicates: bootstrap resamples; 0 for none.
        interval: `percentile` or `bca`.

    Returns:
        The columns of the cell, metric, one column a rule, worst, best (all as text: `0.507 [0.401, 0.613]`), and
        unreadable, the share of unreadable verdicts. A rule may be harsher than the worst case: `fail` counts a pair
        against the judge even where the readable repeats have decided it.
    """
    seed = int(rng.integers(2**63))
    found = {}
    for rule in rules:
        whole = _only(design(rule), [*names, *(f"{name}_{end}" for name in names for end in ENDS)])
        found[rule] = estimate(whole, rng=np.random.default_rng(seed), replicates=replicates, interval=interval)
    return _side_by_side(found, names)


def _only(design: Design, names: Sequence[str]) -> Design:
    """A design cut down to some of its metrics, for the whole of the data."""
    named = {metric.name: metric for metric in design.metrics}
    whole = np.ones(len(design.units), dtype=bool)
    return replace(design, metrics=[named[name] for name in names], slices={OVERALL: whole}, ranges={})


def _side_by_side(found: Mapping[str, pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    first = next(iter(found.values()))
    kept = first["metric"].isin(names).to_numpy()
    table = first.loc[kept, [*CELL, "metric"]].reset_index(drop=True)
    for rule, metrics in found.items():
        table[rule] = _cells(metrics[kept])
    for end in ENDS:
        # Bounds are the same under every rule, and stand in the order of the metrics in every cell.
        table[end] = _cells(first[first["metric"].isin([f"{name}_{end}" for name in names])])
    table["unreadable"] = first.loc[kept, "share_unreadable"].map("{:.3f}".format).to_numpy()
    return told(table, list(table.columns.drop(list(CELL))))


def _cells(metrics: pd.DataFrame) -> list[str]:
    return [cell(*numbers) for numbers in metrics[["value", "ci_low", "ci_high"]].to_numpy()]
