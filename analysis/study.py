"""What a study is: the metrics, items, tables and figures that a table of verdicts allows, and how they are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.bootstrap import Interval
from analysis.cells import Design, estimate
from analysis.columns import TableError
from analysis.policies import only, policies
from analysis.ratios import POOLED
from analysis.tables import attempt

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
    choices: Mapping[str, str] = field(default_factory=dict)
    """Settings that this study alone has, see `Study.choices`; its defaults hold for those not named."""

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
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further settings of `metrics`, `items` and `design` by name, and what they may be, the default first."""
    seed: int = 0
    """Of the bootstrap, unless another is asked for; not 0 where a source names its own."""


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
        **_chosen(study, options),
    )
    items = study.items(verdicts, unreadable=options.unreadable, **_chosen(study, options))
    made: dict[str, Callable[[], pd.DataFrame]] = {name: partial(t, metrics) for name, t in study.tables.items()}
    made |= {name: partial(t, metrics, items, options) for name, t in study.further.items()}
    if study.bounded:
        made |= {"policies": partial(_policies, study, verdicts, metrics, options)}
    tables, absent = attempt(made)
    return Findings(metrics, items, tables, absent)


def _policies(study: Study, verdicts: pd.DataFrame, metrics: pd.DataFrame, options: Options) -> pd.DataFrame:
    if not metrics["metric"].isin(study.bounded).any():
        raise TableError(f"none of {', '.join(study.bounded)} was measured")
    found = {}
    for rule in study.rules:
        if rule == options.unreadable:
            found[rule] = metrics[metrics["judge"] != POOLED]
        else:
            design = only(study.design(verdicts, unreadable=rule, **_chosen(study, options)), study.bounded)
            found[rule] = estimate(design, rng=options.rng, replicates=options.replicates, interval=options.interval)
    return policies(found, study.bounded)


def _chosen(study: Study, options: Options) -> dict[str, Any]:
    return {name: options.choices.get(name, values[0]) for name, values in study.choices.items()}
