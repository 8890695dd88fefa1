"""Metrics under every rule for unreadable verdicts, between the worst and the best that those verdicts allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.cells import OVERALL, Design, told
from analysis.tables import cell
from analysis.verdicts import CELL

ENDS = ("worst", "best")


def only(design: Design, names: Sequence[str]) -> Design:
    """A design cut down to what `policies` shows of it: some metrics and their ends, over the whole of the data."""
    metrics = [metric for metric in design.metrics if metric.name in _with_ends(names)]
    return replace(design, metrics=metrics, slices={OVERALL: np.ones(len(design.units), dtype=bool)}, ranges={})


def policies(found: Mapping[str, pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Metrics under every rule side by side, one row a cell and metric.

    Args:
        found: tidy metrics of the same verdicts, by the rule for unreadable ones.
        names: metrics that have `NAME_worst` and `NAME_best` beside them: what they would be if every unreadable
            verdict had said the worst, or the best.

    Returns:
        The columns of the cell that differ, metric, one column a rule, worst, best (as text: `0.507 [0.401, 0.613]`)
        and unreadable, the share of unreadable verdicts. A rule may be harsher than the worst case: `fail` counts a
        pair against the judge even where its readable repeats have decided it.
    """
    keys = [*CELL, "metric"]
    shown = {rule: _cells(metrics, names) for rule, metrics in found.items()}
    first = next(iter(shown.values()))
    table = first.loc[first["metric"].isin(names), [*keys, "share_unreadable"]]
    for rule, cells in shown.items():
        table = table.merge(cells[[*keys, "cell"]].rename(columns={"cell": rule}), on=keys, how="left")
    for end in ENDS:
        # Unreadable verdicts allow the same under every rule.
        ends = first.assign(metric=first["metric"].str.removesuffix(f"_{end}"))[first["metric"].str.endswith(f"_{end}")]
        table = table.merge(ends[[*keys, "cell"]].rename(columns={"cell": end}), on=keys, how="left")
    table["unreadable"] = table.pop("share_unreadable").map("{:.3f}".format)
    return told(table, ["metric", *found, *ENDS, "unreadable"])


def _with_ends(names: Sequence[str]) -> list[str]:
    return [*names, *(f"{name}_{end}" for name in names for end in ENDS)]


def _cells(metrics: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    chosen = metrics[(metrics["slice"] == OVERALL) & metrics["metric"].isin(_with_ends(names))]
    return chosen.assign(cell=[cell(*numbers) for numbers in chosen[["value", "ci_low", "ci_high"]].to_numpy()])
