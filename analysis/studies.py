"""The studies that a table of verdicts alone can answer: their metrics, their items, their tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast, get_args

import numpy as np
import pandas as pd

from analysis import accuracy, figures, reliability, repeats
from analysis.bootstrap import Interval
from analysis.cells import Design, estimate
from analysis.contrast import temperature
from analysis.dependability import d_study
from analysis.generalizability import g_study
from analysis.paradigms import paradigms
from analysis.policies import only, policies
from analysis.tables import attempt, by_slice, wide
from analysis.variance import anova

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Options:
    """How metrics are estimated."""

    unreadable: str
    """The study's rule for verdicts that cannot be read."""
    replicates: int = 10_000
    seed: int = 0
    interval: Interval = "percentile"

    @property
    def rng(self) -> np.random.Generator:
        """A generator as if nothing had been drawn yet, so that no table's numbers depend on which others are made."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, slots=True)
class Study:
    """What is computed from a verdict table, and what is printed of it."""

    metric_names: tuple[str, ...]
    metrics: Callable[..., pd.DataFrame]
    """(verdicts, *, rng, replicates, unreadable, interval) -> tidy metrics."""
    items: Callable[..., pd.DataFrame]
    """(verdicts, *, unreadable) -> one row a pair in a cell."""
    design: Callable[..., Design]
    """(verdicts, *, unreadable) -> what the metrics are computed from."""
    rules: tuple[str, ...]
    """The rules for unreadable verdicts, the default first."""
    bounded: tuple[str, ...]
    """Metrics for which the worst and the best case are known: the rows of the table `policies`."""
    tables: Mapping[str, Table]
    """Tidy metrics -> table for people, by name; the first is the main one."""
    further: Mapping[str, Callable[[pd.DataFrame, pd.DataFrame, Options], pd.DataFrame]] = field(default_factory=dict)
    """(metrics, items, options) -> tables that not all verdicts allow; a TableError says why there is none."""
    figures: Mapping[str, Callable[[pd.DataFrame], Figure]] = field(default_factory=dict)
    """Tidy metrics -> figure, by name."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a study finds in a table of verdicts."""

    metrics: pd.DataFrame
    items: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    """By name; the first is the main one."""
    absent: Mapping[str, str]
    """Tables that the verdicts don't allow, and why."""


def find(study: Study, verdicts: pd.DataFrame, options: Options) -> Findings:
    """Computes a study's metrics, items and tables.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    metrics = study.metrics(
        verdicts,
        rng=options.rng,
        replicates=options.replicates,
        unreadable=options.unreadable,
        interval=options.interval,
    )
    items = study.items(verdicts, unreadable=options.unreadable)
    made: dict[str, Callable[[], pd.DataFrame]] = {name: partial(t, metrics) for name, t in study.tables.items()}
    made |= {name: partial(t, metrics, items, options) for name, t in study.further.items()}
    made |= {"policies": partial(_policies, study, verdicts, metrics, options)}
    tables, absent = attempt(made)
    return Findings(metrics, items, tables, absent)


def variance_tables(
    verdicts: pd.DataFrame, unreadable: str, *, complete_only: bool = False
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Analysis of variance of T over cells, components of verdicts, and the cheapest dependable designs.

    Returns:
        Tables by name, and the reasons why there are none of the others.
    """
    trust = STUDIES["trust"]
    units = trust.items(verdicts, unreadable=unreadable)
    point = trust.metrics(verdicts, rng=np.random.default_rng(0), replicates=0, unreadable=unreadable)
    return attempt(
        {
            "anova": lambda: anova(point, complete_only=complete_only),
            "g_study": lambda: g_study(units, complete_only=complete_only),
            "g_study_correct": lambda: g_study(units, response="correct", complete_only=complete_only),
            "d_study": lambda: d_study(units, complete_only=complete_only),
        }
    )


def _policies(study: Study, verdicts: pd.DataFrame, metrics: pd.DataFrame, options: Options) -> pd.DataFrame:
    found = {}
    for rule in study.rules:
        if rule == options.unreadable:
            found[rule] = metrics
        else:
            design = only(study.design(verdicts, unreadable=rule), study.bounded)
            found[rule] = estimate(design, rng=options.rng, replicates=options.replicates, interval=options.interval)
    return policies(found, study.bounded)


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
}
