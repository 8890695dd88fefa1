"""Abstention with a guarantee: the confidence below which a judge's verdicts are set aside, so that few kept are wrong.

A threshold is calibrated on one half of the groups and looked at on the other (split conformal). It is found by testing
(Learn then Test; Angelopoulos, Bates, Candès, Jordan & Lei 2021): candidates are the other half's quantiles of
confidence, so they are fixed before the calibration half is seen; the hypothesis "of the verdicts kept, more than the
target share is wrong" is tested with the exact binomial tail, from each of a few starting coverages upward until it
stands, each sequence with its share of `delta`. With probability 1 - delta over the calibration half the threshold
chosen keeps no more than the target share of wrong verdicts. The binomial needs independent verdicts, so one verdict of
each group is drawn for calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.cells import clusters
from analysis.columns import TableError
from analysis.confidence import SIGNALS
from analysis.verdicts import CELL

FEWEST = 20
"""Verdicts without which no threshold is calibrated."""
GRID = 20
STARTS = (0.25, 0.5, 0.75)
"""Coverages at which sequences of tests begin, as far as enough verdicts could be kept there; else at 1."""
SPLITS = 100


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be kept below what."""

    risk: float
    delta: float = 0.1
    """Chance, over calibration halves, that the guarantee fails."""

    def __post_init__(self) -> None:
        for name, value in (("target risk", self.risk), ("delta", self.delta)):
            if not 0 < value < 1:
                raise TableError(f"{name} {value}: give a share above 0 and below 1")

    @property
    def fewest(self) -> int:
        """Verdicts, all right, with which a single test can hold the goal.

        >>> Goal(risk=0.05, delta=0.1).fewest  # 0.95^45 = 0.099
        45
        """
        return int(np.ceil(np.log(self.delta) / np.log1p(-self.risk)))


def threshold(scores: Array, right: Array, candidates: Array, goal: Goal) -> float:
    """The lowest confidence that may be kept, among candidates fixed in advance; infinite where none is safe.

    >>> sure, unsure = np.full(60, 0.9), np.full(40, 0.6)
    >>> right = np.concatenate([np.ones(60), np.tile([1.0, 0.0], 20)])
    >>> threshold(np.concatenate([sure, unsure]), right, np.array([0.9, 0.6]), Goal(0.1))  # 0.9^60 = 0.002
    0.9

    Args:
        scores: (n,) confidence of independent verdicts.
        right: (n,) 1 where a verdict is right.
        candidates: (J,) thresholds; a verdict is kept if its confidence is at least the threshold.
        goal: what is to hold.
    """
    from scipy.special import bdtr

    ladder = np.unique(candidates)[::-1]
    kept = (scores >= ladder[:, None]).sum(axis=1)
    wrong = ((scores >= ladder[:, None]) & (right == 0)).sum(axis=1)
    p = np.where(kept > 0, bdtr(wrong, np.maximum(kept, 1), goal.risk), 1.0)
    starts = _starts(len(ladder), len(scores), goal)
    safe = [first + _before_failure(p[first:] <= goal.delta / len(starts)) - 1 for first in starts]
    # A sequence that fails at once ends before its start, and so says nothing.
    ends = [end for end, first in zip(safe, starts, strict=True) if end >= first]
    return float(ladder[max(ends)]) if ends else np.inf


def abstention(
    units: pd.DataFrame, goal: Goal, *, rng: np.random.Generator, signal: str = "", splits: int = SPLITS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A threshold for every cell, and what becomes of every verdict.

    Args:
        units: one row a verdict, from `analysis.confidence.places`.
        goal: what is to hold.
        rng: draws the halves and the verdicts for calibration.
        signal: the signal to decide by; empty: in each cell the first of p, repeats, stated, orders, formats, margin
            and reward_margin that it has.
        splits: further random halves by which the guarantee is checked.

    Returns:
        One row a cell: the columns of the cell, signal, target_risk, delta, threshold, calibrated (verdicts, one a
        group), coverage and risk in the held-out half, coverage_all, splits, share_over (of the splits whose held-out
        risk exceeds the target; chance in the held-out half adds to it), mean_risk, mean_coverage and note. A cell
        without the signal, or with fewer than 20 groups to calibrate on, has no threshold, and its note says so.
        One row a verdict: the cell, item, order, signal, value, threshold, part (calibration or held-out; empty where
        nothing was calibrated) and decision, keep or abstain.

    Raises:
        TableError: no cell has the signal and enough groups.
    """
    names = _signals(units, signal)
    cells, verdicts = [], []
    for _, rows in units.groupby(list(CELL), dropna=False, sort=True).indices.items():
        row, decided = _cell(units.iloc[rows], names, goal, rng, splits)
        cells.append(row)
        verdicts.append(decided)
    if not any(row["calibrated"] for row in cells):
        raise TableError("; ".join(dict.fromkeys(_named(row) for row in cells)))
    return pd.DataFrame(cells), pd.concat(verdicts, ignore_index=True)


def exported(table: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """A verdict table with the decision beside every row.

    Args:
        table: the verdict table.
        verdicts: the second result of `abstention`; extra columns of the table ride along.

    Returns:
        The table with the columns signal, signal_value, threshold, part and decision; rows of a verdict share them.
    """
    keys = [*CELL, "item", "order"]
    return table.merge(verdicts.rename(columns={"value": "signal_value"}), on=keys, how="left", validate="many_to_one")


def _cell(
    cell: pd.DataFrame, names: Sequence[str], goal: Goal, rng: np.random.Generator, splits: int
) -> tuple[dict[str, Any], pd.DataFrame]:
    name = next((n for n in names if cell[n].notna().any()), names[0])
    score, right = cell[name].to_numpy(dtype=float), cell["correct"].to_numpy(dtype=float)
    group = pd.factorize(clusters(cell), sort=True)[0].astype(np.intp)
    known = ~np.isnan(score) & ~np.isnan(right)
    groups = len(np.unique(group[known]))
    found = dict.fromkeys(("coverage", "risk", "coverage_all", "share_over", "mean_risk", "mean_coverage"), np.nan)
    limit, calibrated, parts = np.inf, 0, np.full(len(cell), "", dtype=object)
    if groups // 2 < FEWEST:
        note = _too_few(name, groups, recorded=not np.isnan(score).all())
    else:
        calibrated = groups // 2
        limit, found, calibrating = _calibrated(score[known], right[known], group[known], goal, rng, splits)
        parts = np.where(np.isin(group, calibrating), "calibration", "held-out")
        found["coverage_all"] = (score >= limit).mean()
        note = "" if np.isfinite(limit) else _why_none(calibrated, goal)
    key = {c: cell[c].iloc[0] for c in CELL}
    told = {"signal": name, "target_risk": goal.risk, "delta": goal.delta, "threshold": limit, "calibrated": calibrated}
    checked = ("share_over", "mean_risk", "mean_coverage")
    row = key | told | {n: found[n] for n in ("coverage", "risk", "coverage_all")}
    row |= {"splits": splits if calibrated else 0} | {n: found[n] for n in checked} | {"note": note}
    decided = cell[[*CELL, "item", "order"]].assign(
        signal=name, value=score, threshold=limit, part=parts, decision=np.where(score >= limit, "keep", "abstain")
    )
    return row, decided


def _calibrated(
    score: Array, right: Array, group: NDArray[np.intp], goal: Goal, rng: np.random.Generator, splits: int
) -> tuple[float, dict[str, float], NDArray[np.intp]]:
    """Threshold of one random half, what it does in the other one and in further halves, groups of the first."""
    data = score, right, group
    limit, coverage, risk, calibrating = _halves(*data, goal, rng)
    again = np.array([_halves(*data, goal, rng)[:3] for _ in range(splits)]).reshape(-1, 3)
    found = {
        "coverage": coverage,
        "risk": risk,
        "share_over": float((again[:, 2] > goal.risk).mean()) if splits else np.nan,
        "mean_risk": float(np.nanmean(again[:, 2])) if (~np.isnan(again[:, 2])).any() else np.nan,
        "mean_coverage": float(again[:, 1].mean()) if splits else np.nan,
    }
    return limit, found, calibrating


def _halves(
    score: Array, right: Array, group: NDArray[np.intp], goal: Goal, rng: np.random.Generator
) -> tuple[float, float, float, NDArray[np.intp]]:
    """Threshold of one random half, coverage and risk (NaN if none is kept) in the other, groups of the first."""
    groups = rng.permutation(np.unique(group))
    calibrating = groups[: len(groups) // 2]
    shuffled = rng.permutation(len(score))
    one = shuffled[np.unique(group[shuffled], return_index=True)[1]]
    one = one[np.isin(group[one], calibrating)]
    held = ~np.isin(group, calibrating)
    candidates: Array = np.quantile(score[held], 1 - np.arange(1, GRID + 1) / GRID, method="lower").astype(float)
    limit = threshold(score[one], right[one], candidates, goal)
    keeps = score[held] >= limit
    risk = 1 - right[held][keeps].mean() if keeps.any() else np.nan
    return limit, float(keeps.mean()), float(risk), calibrating


def _starts(rungs: int, n: int, goal: Goal) -> Sequence[int]:
    """Rungs of the ladder at which sequences begin."""
    hopeful = [c for c in STARTS if c * n >= Goal(goal.risk, goal.delta / len(STARTS)).fewest]
    return sorted({int(np.ceil(c * rungs)) - 1 for c in hopeful or (1.0,)})


def _before_failure(passes: NDArray[np.bool_]) -> int:
    return int(len(passes) if passes.all() else passes.argmin())


def _signals(units: pd.DataFrame, asked: str) -> Sequence[str]:
    """The signals that may decide, the first one first, of those that some cell has."""
    order = ("p", "repeats", "stated", "orders", "formats", "margin", "reward_margin", "p_mean")
    if asked and asked not in SIGNALS:
        raise TableError(f"there is no signal {asked!r}; choose {', '.join(SIGNALS)}")
    there = [name for name in ([asked] if asked else order) if units[name].notna().any()]
    if not there:
        lacks = "; ".join(f"{name} needs {SIGNALS[name].needs}" for name in ([asked] if asked else order))
        raise TableError(f"the table does not hold a signal of confidence to decide by: {lacks}")
    return there


def _too_few(name: str, groups: int, *, recorded: bool) -> str:
    if not recorded:
        return f"no threshold: the signal {name!r} needs {SIGNALS[name].needs}"
    return (
        f"no threshold: half of its {groups} groups with a gold label and the signal {name!r} is fewer than {FEWEST} "
        "to calibrate on; judge more items"
    )


def _named(row: dict[str, Any]) -> str:
    return f"{' '.join(filter(None, (row['judge'], 'on', row['dataset'], row['format'])))}: {row['note']}"


def _why_none(n: int, goal: Goal) -> str:
    if n < goal.fewest:
        return f"no threshold: {n} verdicts can't show a risk of {goal.risk:g}; that takes {goal.fewest}, all right"
    return "no threshold keeps the target risk: too many verdicts are wrong, or the signal doesn't tell which"
