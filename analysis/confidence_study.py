"""The study `confidence`: which of its metrics, tables and figures are made of a table of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from analysis import confidence_figures as figures
from analysis.bootstrap import Interval
from analysis.cells import Design, told
from analysis.columns import TableError
from analysis.confidence import SIGNALS, places
from analysis.expected_audit import expected_audit, side_by_side
from analysis.quality import confidence
from analysis.signal_contrast import COLUMNS as COMPARED
from analysis.signal_contrast import compared
from analysis.study import Options, Study
from analysis.tables import wide


def metrics(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: str = "drop",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """What every signal is worth (`analysis.quality.confidence`), and where it can be told, the expected audit.

    The expected audit is that of `analysis.expected_audit`, beside the sampled one.
    """
    found = confidence(table, rng=rng, replicates=replicates, unreadable=unreadable, interval=interval)
    try:
        audit = expected_audit(table, rng=rng, replicates=replicates, interval=interval)
    except TableError:
        return found  # The table `expected` says why.
    return pd.concat([found, audit], ignore_index=True)


def _places(table: pd.DataFrame, *, unreadable: str = "drop") -> pd.DataFrame:
    return places(table)


def _design(table: pd.DataFrame, *, unreadable: str = "drop") -> Design:
    raise TableError("signals of confidence are compared within one judge: see the table 'signals'")


def _by_signal(metrics: pd.DataFrame, names: Sequence[str], bare: Sequence[str] = ()) -> pd.DataFrame:
    """One row a cell and signal that was recorded, as `analysis.tables.wide`."""
    there = metrics["slice"].isin(list(SIGNALS)) & (metrics["n"] > 0)
    return wide(metrics[there], names, n_of=names[0], part="*", bare=bare).rename(columns={"slice": "signal"})


def _not_recorded(metrics: pd.DataFrame) -> pd.DataFrame:
    """Signals that a cell lacks, and what records them."""
    lacking = metrics[(metrics["n"] == 0) & metrics["slice"].isin(list(SIGNALS))]
    if lacking.empty:
        raise TableError("every signal of confidence was recorded")
    table = lacking.assign(signal=lacking["slice"], needs=lacking["note"].str.removeprefix("undefined: needs "))
    return told(table, ["signal", "needs"]).drop_duplicates(ignore_index=True)


def _compared(metrics: pd.DataFrame, items: pd.DataFrame, options: Options) -> pd.DataFrame:
    found = compared(items, rng=options.rng, replicates=options.replicates, interval=options.interval)
    return told(found, COMPARED)


CONFIDENCE = Study(
    metric_names=(),
    metrics=metrics,
    items=_places,
    design=_design,
    rules=("drop",),
    bounded=(),
    tables={
        "confidence": partial(
            _by_signal, names=["auroc", "aurc", "brier", "ece", "accuracy", "calls"], bare=["accuracy", "calls"]
        ),
        "expected": side_by_side,
        "calibration": partial(_by_signal, names=["accuracy", "brier", "ece", "ece_mass", "ece_debiased"]),
        "selective": partial(
            _by_signal,
            names=["accuracy", "accuracy_at_coverage_0.8", "accuracy_at_coverage_0.5", "coverage_at_risk_0.1", "aurc"],
        ),
        "costs": partial(_by_signal, names=["auroc", "calls", "tokens", "label_mass"], bare=["calls", "tokens"]),
        "not_recorded": _not_recorded,
    },
    further={"signals": _compared},
    figures={
        "reliability": figures.reliability,
        "risk_coverage": figures.risk_coverage,
        "signals": figures.signals,
        "expected_against_sampled": figures.expected_against_sampled,
    },
)
