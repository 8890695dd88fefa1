"""What a report says of runs that were asked alike: metrics, tables, figures, comparisons, published numbers beside."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from analysis import published
from analysis.columns import TableError
from analysis.compare import compare
from analysis.studies import STUDIES, Options, Study, find, variance_tables
from experiments.runs import Run
from experiments.runs import find as runs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED: Mapping[str, tuple[str, ...]] = {
    "trust": ("T", "A"),
    "judgebench": ("accuracy",),
    "swapref": ("RPAG",),
    "refsense": ("CGP",),
    "evalpair": ("recall",),
}
"""Metrics by which judges are compared, by study; one that has none compares signals, not judges."""


@dataclass(frozen=True)
class Part:
    """All that is found in one group of runs."""

    runs: Sequence[Run]
    rows: pd.DataFrame
    metrics: pd.DataFrame
    items: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    """By name, the main one first."""
    published: Mapping[str, pd.DataFrame]
    absent: Mapping[str, str]
    """Tables that the verdicts don't allow, and why."""
    figures: Mapping[str, Callable[[pd.DataFrame], "Figure"]]
    """From the metrics to a figure, by name."""

    @property
    def main(self) -> str:
        """Name of the main table; empty if there is none."""
        return next(iter(self.tables), "")


def measured(name: str, runs: Sequence[Run], options: Options) -> Part:
    """Computes everything for runs of one design.

    Raises:
        TableError: the verdicts are faulty, or none of the study's.
    """
    if name == "serving":
        return _served(runs, options)
    study, rows = STUDIES[name], pd.concat([run.verdicts for run in runs], ignore_index=True)
    found = find(study, rows, options)
    further, absent = variance_tables(rows, options.unreadable, found=found) if name == "trust" else ({}, {})
    compared, why = _compared(name, study, rows, options)
    tables = {**found.tables, **further, **compared}
    reasons = {**found.absent, **absent, **why}
    return Part(runs, rows, found.metrics, found.items, tables, beside(name, found.metrics), reasons, study.figures)


def beside(study: str, metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Our numbers beside each table that the study's source prints, where any of them was measured; faults last."""
    found: dict[str, pd.DataFrame] = {}
    if study not in published.SOURCES or study == "judgebench":  # Its source prints a protocol and no numbers.
        return found
    paper = cast(published.Paper, study)
    for table in published.printed(paper)["table"].unique():
        with suppress(TableError):  # A table of ranges over cells has no single values to stand beside.
            ours = published.beside(metrics, paper, table)
            if ours["ours"].notna().any():
                found[f"published_{re.sub(r'[^a-z0-9]+', '_', table)}"] = ours
    notes = published.footnotes(pd.concat(found.values())) if found else {}
    if notes:
        found["published_faults"] = pd.DataFrame({"fault": list(notes), "says": list(notes.values())})
    return found


def _compared(
    name: str, study: Study, rows: pd.DataFrame, options: Options
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Every two judges on the items that both have judged."""
    judges = rows["judge"].nunique()
    if name not in COMPARED or judges < 2:
        return {}, {}
    made: list[pd.DataFrame] = []
    reasons: dict[str, str] = {}
    try:
        design = study.design(rows, unreadable=options.unreadable)
        for metric in COMPARED[name]:
            how: dict[str, Any] = {"replicates": options.replicates, "interval": options.interval}
            made.append(compare(design, metric, rng=options.rng, **how))
    except TableError as reason:
        reasons["compare"] = str(reason)
    return ({"compare": pd.concat(made, ignore_index=True)} if made else {}), reasons


def _served(runs: Sequence[Run], options: Options) -> Part:
    """Served requests; an audit of the same judge on the same pairs under this root splits its 1 - C."""
    from analysis.confidence_figures import serving_noise
    from analysis.serving_tables import findings

    root = runs[0].folder.parents[2]
    asked = {(run.judges, run.dataset) for run in runs}
    audits = [r for study in ("confidence", "trust") for r in runs_of(root, study) if (r.judges, r.dataset) in asked]
    sampled = pd.concat([r.verdicts for r in audits[:1]], ignore_index=True) if audits else None
    found = findings([run.table for run in runs], sampled, options)
    rows = pd.concat([run.verdicts for run in runs], ignore_index=True)
    figures = {"serving_noise": serving_noise}
    return Part(runs, rows, found.metrics, found.items, found.tables, {}, found.absent, figures)
