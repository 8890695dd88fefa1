"""The studies that a table of verdicts alone can answer: their metrics, their items, their tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast, get_args

import numpy as np
import pandas as pd

from analysis import accuracy, figures, reliability, repeats
from analysis.cells import Design
from analysis.confidence_study import CONFIDENCE
from analysis.contrast import temperature
from analysis.dependability import d_study
from analysis.evalpair_study import EVALPAIR
from analysis.generalizability import g_study
from analysis.paradigms import paradigms
from analysis.reference_studies import REFSENSE, SWAPREF
from analysis.study import Findings, Options, Study, find
from analysis.tables import attempt, by_slice, wide
from analysis.variance import anova

__all__ = ("STUDIES", "Findings", "Options", "Study", "find", "variance_tables")


def variance_tables(
    verdicts: pd.DataFrame, unreadable: str, *, complete_only: bool = False, found: Findings | None = None
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Analysis of variance of T over cells, components of verdicts, and the cheapest dependable designs.

    Args:
        verdicts: of the study `trust`.
        unreadable: its rule.
        complete_only: leave out judges, pairs... that lack a cell.
        found: what `find` found in the same verdicts by the same rule, if it is there already.

    Returns:
        Tables by name, and the reasons why there are none of the others.
    """
    trust = STUDIES["trust"]
    units = found.items if found else trust.items(verdicts, unreadable=unreadable)
    point = (
        found.metrics
        if found
        else trust.metrics(verdicts, rng=np.random.default_rng(0), replicates=0, unreadable=unreadable)
    )
    return attempt(
        {
            "anova": lambda: anova(point, complete_only=complete_only),
            "g_study": lambda: g_study(units, complete_only=complete_only),
            "g_study_correct": lambda: g_study(units, response="correct", complete_only=complete_only),
            "d_study": lambda: d_study(units, complete_only=complete_only),
        }
    )


def _temperature(metrics: pd.DataFrame, items: pd.DataFrame, options: Options) -> pd.DataFrame:
    return temperature(
        items,
        rng=options.rng,
        replicates=options.replicates,
        unreadable=cast(repeats.Unreadable, options.unreadable),
        interval=options.interval,
    )


def _reliability(verdicts: pd.DataFrame, *, unreadable: repeats.Unreadable) -> Design:
    return reliability.design(repeats.items(verdicts, unreadable=unreadable), unreadable=unreadable)


STUDIES: Mapping[str, Study] = {
    "trust": Study(
        metric_names=tuple(m.name for m in reliability.METRICS),
        metrics=reliability.trust,
        items=repeats.items,
        design=_reliability,
        rules=get_args(repeats.Unreadable),
        bounded=("A", "T", "T_joint"),
        tables={
            "trust": partial(wide, names=["C", "phi", "A", "T", "T_joint", "bound"], n_of="T"),
            "format_range": partial(wide, names=["delta_T_fmt"], n_of="delta_T_fmt"),
            "gap": partial(wide, names=["T", "T_joint", "T_joint_pair", "gap"], n_of="gap"),
            "trust_by_source": partial(wide, names=["C", "phi", "A", "T"], n_of="T", part="*"),
        },
        further={
            "paradigms": lambda metrics, items, options: paradigms(metrics),
            "temperature": _temperature,
            "trust_by_item": lambda metrics, items, options: repeats.by_item(items),
        },
        figures={
            "bound": figures.bound,
            "plane": figures.plane,
            "trust_by_judge": figures.trust_by_judge,
            "trust_by_temperature": figures.trust_by_temperature,
        },
    ),
    "judgebench": Study(
        metric_names=tuple(m.name for m in accuracy.METRICS),
        metrics=accuracy.judgebench,
        items=accuracy.items,
        design=accuracy.design,
        rules=get_args(accuracy.Unreadable),
        bounded=("accuracy", "accuracy_AB", "accuracy_BA"),
        tables={
            "orders": partial(
                wide,
                names=["accuracy", *(bare := ["accuracy_AB", "accuracy_BA", "inconsistent", "ties", "first_position"])],
                n_of="accuracy",
                bare=bare,
            ),
            "accuracy": partial(by_slice, name="accuracy"),
        },
    ),
    "swapref": SWAPREF,
    "refsense": REFSENSE,
    "evalpair": EVALPAIR,
    "confidence": CONFIDENCE,
}
