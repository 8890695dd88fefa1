"""The study `confidence`: which of its metrics, tables and figures are made of a table of verdicts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from analysis import confidence_figures as figures
from analysis.bootstrap import Interval
from analysis.cells import Design
from analysis.columns import TableError
from analysis.confidence import places
from analysis.expected_audit import expected_audit, side_by_side
from analysis.quality import confidence
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


def _compared(metrics: pd.DataFrame, items: pd.DataFrame, options: Options) -> pd.DataFrame:
    return compared(items, rng=options.rng, replicates=options.replicates, interval=options.interval)


CONFIDENCE = Study(
    metric_names=(),
    metrics=metrics,
    items=_places,
    design=_design,
    rules=("drop",),
    bounded=(),
    tables={
        "confidence": partial(
            wide, names=["auroc", "aurc", "brier", "ece", "accuracy", "calls"], n_of="auroc", part="*", bare=["calls"]
        ),
        "expected": side_by_side,
        "calibration": partial(wide, names=["brier", "ece", "ece_mass", "ece_debiased"], n_of="brier", part="*"),
        "selective": partial(
            wide,
            names=["accuracy", "accuracy_at_coverage_0.8", "accuracy_at_coverage_0.5", "coverage_at_risk_0.1", "aurc"],
            n_of="accuracy",
            part="*",
        ),
        "costs": partial(
            wide,
            names=["calls", "tokens", "label_mass", "auroc"],
            n_of="auroc",
            part="*",
            bare=["calls", "tokens"],
        ),
    },
    further={"signals": _compared},
    figures={
        "reliability": figures.reliability,
        "risk_coverage": figures.risk_coverage,
        "signals": figures.signals,
        "expected_against_sampled": figures.expected_against_sampled,
    },
)
