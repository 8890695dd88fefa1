"""Whether judges differ on the same items: paired differences of any metric of a study, between every two judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Estimate, Interval, bootstrap
from analysis.cells import Design, Metric, clusters, settings, terms_read, told, told_of
from analysis.columns import TableError
from analysis.significance import detectable, holm, mcnemar, two_sided

OUTCOMES: Mapping[str, str] = {"accuracy": "correct", "phi": "P", "T_joint_pair": "joint_pair"}
"""Metrics that are a share of pairs (or 1 less one), and the term that is 1 for these pairs and 0 for the others."""
COLUMNS = (
    *("metric", "judge_1", "judge_2", "value_1", "value_2", "difference", "ci_low", "ci_high", "p", "p_holm"),
    *("only_1", "only_2", "p_mcnemar", "p_mcnemar_holm", "n", "planned", "detectable", "note"),
)


@dataclass(frozen=True, slots=True)
class _Match:
    """Two judges, and their units on the items that both have."""

    judges: tuple[str, str]
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    items: int
    left_out: int
    """Items that only one of the two has."""


def compare(
    design: Design,
    name: str,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    interval: Interval = "percentile",
    planned: int | None = None,
) -> pd.DataFrame:
    """Every two judges on the items that both have judged, in every data set and setting of the factors.

    - difference = value_1 - value_2, both resampled with the same groups of items.
    - p: two-sided and normal, with the bootstrap's standard error.
    - p_mcnemar: exact, from the pairs that count for one judge alone, only_1 and only_2; for metrics that are a
      share of pairs, judged once. It takes pairs to be independent.
    - p_holm and p_mcnemar_holm: adjusted for all rows of the result.
    - detectable: the smallest difference that a two-sided 5 % test finds with 80 % power on `planned` items.

    Args:
        design: of a study, see `analysis.accuracy.design` and `analysis.reliability.design`.
        name: a metric of the study.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples; 0 for none, then p and detectable are NaN, too.
        interval: `percentile` or `bca`.
        planned: items of a planned comparison; None: as many as the two judges share.

    Returns:
        One row a setting and two judges: the factors that differ, then `COLUMNS`. n counts shared items.

    Raises:
        TableError: there is no such metric, it is undefined for a judge, no two judges have been asked in the same
            setting, or two that have share no item.
    """
    metric = next((m for m in design.metrics if m.name == name), None)
    if metric is None:
        raise TableError(f"there is no metric {name!r}; choose {', '.join(m.name for m in design.metrics)}")
    seed = int(rng.integers(2**63))
    rows = []
    for setting, units in settings(design.units, ("judge",)):
        if metric not in told_of(design, units.index.to_numpy()):
            continue
        if matches := _matches(units, design.terms[metric.n] > 0, metric):
            weights = np.random.default_rng([seed, crc32(str(setting["dataset"]).encode())])
            found = _differences(design, metric, matches, weights, replicates, interval)
            rows.append(_rows(design, metric, matches, found, planned).assign(**setting))
    if not rows:
        raise TableError("a comparison needs two judges on the same data set, in the same format and other factors")
    table = pd.concat(rows, ignore_index=True)
    table = table.assign(p_holm=holm(table["p"]), p_mcnemar_holm=holm(table["p_mcnemar"]))
    return told(table, COLUMNS)


def _matches(units: pd.DataFrame, defined: NDArray[np.bool_], metric: Metric) -> list[_Match]:
    """Every two judges among the units of one setting, which are at their index in the design."""
    counted = units[defined[units.index]]
    items = {str(judge): part["item"] for judge, part in counted.groupby("judge", sort=True)}
    for judge in units["judge"].unique():
        if judge not in items:
            raise TableError(
                f"{metric.name} is undefined for {judge} on {units['dataset'].iloc[0]}: {metric.undefined}"
            )
    return [_match(judges, items[judges[0]], items[judges[1]]) for judges in combinations(items, 2)]


def _match(judges: tuple[str, str], one: pd.Series[str], other: pd.Series[str]) -> _Match:
    shared = np.intersect1d(one.unique(), other.unique())
    if not len(shared):
        raise TableError(f"{judges[0]} and {judges[1]} share no item; judge the same ones, or leave one judge out")
    rows = one.index[one.isin(shared)].to_numpy(), other.index[other.isin(shared)].to_numpy()
    return _Match(judges, rows, len(shared), one.nunique() + other.nunique() - 2 * len(shared))


def _differences(
    design: Design,
    metric: Metric,
    matches: Sequence[_Match],
    rng: np.random.Generator,
    replicates: int,
    interval: Interval,
) -> Estimate:
    """Values of the first judges, then of the second ones, then the differences; (3 x matches,)."""
    names = terms_read([metric])
    sums = _sums(design, names, matches)

    def statistic(columns: Array) -> Array:
        by_name = dict(zip(names, np.moveaxis(columns.reshape(*sums.shape[1:], -1), 2, 0), strict=True))
        one, other = metric.value(by_name).swapaxes(0, 1)
        return np.concatenate([one, other, one - other])

    return bootstrap(statistic, sums.reshape(len(sums), -1), rng=rng, replicates=replicates, interval=interval)


def _sums(design: Design, names: Sequence[str], matches: Sequence[_Match]) -> Array:
    """Sums of the terms, (groups, matches, 2, terms)."""
    terms = np.column_stack([design.terms[name] for name in names])
    used = np.unique(np.concatenate([rows for match in matches for rows in match.rows]))
    codes, groups = pd.factorize(clusters(design.units.loc[used]), sort=True)
    group = np.zeros(len(design.units), dtype=np.intp)
    group[used] = codes
    sums = np.zeros((len(groups), len(matches), 2, len(names)))
    for i, match in enumerate(matches):
        for side, rows in enumerate(match.rows):
            np.add.at(sums[:, i, side], group[rows], terms[rows])
    return sums


def _rows(
    design: Design, metric: Metric, matches: Sequence[_Match], found: Estimate, planned: int | None
) -> pd.DataFrame:
    value, other, difference = found.value.reshape(3, -1)
    low, high, error = (x.reshape(3, -1)[2] for x in (found.low, found.high, found.error))
    for match, undefined in zip(matches, np.isnan(difference), strict=True):
        if undefined:
            raise TableError(f"{metric.name} is undefined for {' or '.join(match.judges)}: {metric.undefined}")
    only = np.array([_discordant(design, metric, match) for match in matches])
    n = np.array([match.items for match in matches])
    plan = np.full(len(matches), planned) if planned else n
    left_out = [f"{m.left_out:,} items that only one has are left out" if m.left_out else "" for m in matches]
    return pd.DataFrame(
        {
            "metric": metric.name,
            "judge_1": [m.judges[0] for m in matches],
            "judge_2": [m.judges[1] for m in matches],
            **{"value_1": value, "value_2": other, "difference": difference, "ci_low": low, "ci_high": high},
            "p": two_sided(difference, error),
            **{"only_1": only[:, 0], "only_2": only[:, 1]},
            "p_mcnemar": [np.nan if np.isnan(a) else mcnemar(int(a), int(b)) for a, b in only],
            **{"n": n, "planned": plan, "detectable": detectable(error, n, plan), "note": left_out},
        }
    )


def _discordant(design: Design, metric: Metric, match: _Match) -> tuple[float, float]:
    """Pairs that count for the first judge alone, and for the second; NaN where a pair's count is not 0 or 1."""
    if metric.name not in OUTCOMES:
        return np.nan, np.nan
    outcome, item = design.terms[OUTCOMES[metric.name]], design.units["item"]
    one, other = (pd.Series(outcome[rows], index=item[rows]) for rows in match.rows)
    if one.index.has_duplicates or other.index.has_duplicates:
        return np.nan, np.nan
    other = other.reindex(one.index)
    return float((one > other).sum()), float((one < other).sum())
