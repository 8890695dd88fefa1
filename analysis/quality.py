"""What signals of confidence are worth: discrimination, calibration, selective accuracy and cost, with intervals.

The formulas are in `analysis.calibration` and `analysis.selective`; the signals come from `analysis.confidence`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import calibration, selective
from analysis.bootstrap import Array, Estimate, Interval, Statistic, evaluate
from analysis.cells import TIDY, ratio
from analysis.columns import TableError
from analysis.confidence import SIGNALS, places
from analysis.scored import AT_ONCE, Cell, Scored, cells, scored

COVERAGES = tuple(round(0.1 * i, 1) for i in range(1, 10))
RISKS = (0.05, 0.1, 0.2)
RANKED = (
    "auroc",
    "aurc",
    *(f"accuracy_at_coverage_{c:g}" for c in COVERAGES),
    "accuracy",
    *(f"coverage_at_risk_{r:g}" for r in RISKS),
)
MEANS = ("calls", "tokens", "label_mass")
BINS = [f"{k / calibration.BINS:.1f}-{(k + 1) / calibration.BINS:.1f}" for k in range(calibration.BINS)]
POINTS = (*(f"confidence_in_{b}" for b in BINS), *(f"accuracy_in_{b}" for b in BINS))
CALIBRATED = ("brier", "ece", "ece_mass", "ece_debiased", *POINTS)


def confidence(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: str = "drop",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """How good every signal of confidence is, in every cell, with intervals.

    - auroc: chance that a right verdict has more confidence than a wrong one. aurc: area under the risk-coverage
      curve. accuracy: share right. accuracy_at_coverage_c: share right among the surest share c.
      coverage_at_risk_r: largest share that can be kept with no more than r wrong among them.
    - brier: mean squared distance of confidence and correctness. ece: calibration error over ten bins of equal width;
      ece_mass: of equal mass; ece_debiased: root mean square over bins of equal mass, less chance. confidence_in_ and
      accuracy_in_: the means in each bin of equal width, the points of the reliability diagram. Only for signals that
      may be read as probabilities (`analysis.confidence.SIGNALS`).
    - calls, tokens: what the signal costs a verdict. label_mass: probability that the labels captured, before it was
      renormalised away.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none. Bins stay as they are in all resamples; as
            resampling adds noise to every bin, the intervals of calibration errors lie high.
        unreadable: `drop`, the only rule: verdicts that cannot be read are left out, and counted.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`); the slice is the signal, n counts verdicts (a pair in one order).

    Raises:
        TableError: the table is faulty, its rows are not verdicts on pairs, or it holds no signal at all.
    """
    units = places(table)
    if units[list(SIGNALS)].isna().all(axis=None):
        needs = "; ".join(f"{name} needs {signal.needs}" for name, signal in SIGNALS.items())
        raise TableError(f"the table holds no signal of confidence: {needs}")
    found = [(cell, name, _measure(cell, name, interval)) for cell in cells(units, rng, replicates) for name in SIGNALS]
    sizes = [len(measured["metric"]) for *_, measured in found]
    shared = pd.DataFrame([{**cell.key, "slice": name, "share_unreadable": _unread(cell)} for cell, name, _ in found])
    numbers = {c: np.concatenate([measured[c] for *_, measured in found]) for c in found[0][2]}
    return shared.loc[shared.index.repeat(sizes)].reset_index(drop=True).assign(**numbers)[list(TIDY)]


def _unread(cell: Cell) -> float:
    asked, readable = (cell.columns[c].sum() for c in ("repeats_asked", "readable"))
    return float((asked - readable) / asked)


def _measure(cell: Cell, name: str, interval: Interval) -> dict[str, NDArray[Any]]:
    """All metrics of one signal in one cell; one that says what is lacking, where there is none."""
    (verdicts,) = scored(cell, [name])
    if not len(verdicts.score):
        lacks = SIGNALS[name].needs if np.isnan(cell.columns[name]).all() else "a gold label and a readable verdict"
        empty = {"metric": "auroc", "value": np.nan, "ci_low": np.nan, "ci_high": np.nan, "n": 0}
        return {c: np.array([v]) for c, v in (empty | {"note": f"undefined: needs {lacks}"}).items()}
    probability = SIGNALS[name].probability
    found = _estimate(verdicts, probability, interval)
    metrics = np.array([*RANKED, *MEANS, *(CALIBRATED if probability else ())], dtype=object)
    n = np.full(len(metrics), len(verdicts.score))
    if probability:
        n[-len(POINTS) :] = np.tile(np.bincount(calibration.by_width(verdicts.score), minlength=len(BINS)), 2)
    missing = len(cell.group) - len(verdicts.score)
    lacking = f"undefined for {missing:,} of {len(cell.group):,} verdicts" if missing else ""
    notes = [_undefined(m, verdicts) if np.isnan(v) else lacking for m, v in zip(metrics, found.value, strict=True)]
    table = {"metric": metrics, "value": found.value, "ci_low": found.low, "ci_high": found.high, "n": n}
    return {c: v[n > 0] for c, v in (table | {"note": np.array(notes, dtype=object)}).items()}


def _estimate(verdicts: Scored, probability: bool, interval: Interval) -> Estimate:
    """Metrics of one signal; intervals over coarser levels, moved to where the value is."""
    told = ~np.isnan(verdicts.costs).any(axis=0)
    rest = [verdicts.summed(np.where(told, verdicts.costs, 0)), verdicts.summed(_counts(verdicts, probability))]
    if probability:
        rest += [verdicts.binned(by(verdicts.score), calibration.BINS) for by in _BINNINGS]
    exact, coarse = verdicts.whole_curve(), verdicts.coarse_curve()
    whole = np.vstack([exact, np.hstack(rest).sum(axis=0)[:, None]])
    value = _statistic(len(exact) // 2, probability)(whole)[:, 0]
    value[len(RANKED) : len(RANKED) + len(MEANS)][~told] = np.nan
    resampled = _statistic(coarse.shape[1] // 2, probability)
    found = evaluate(resampled, np.hstack([coarse, *rest]), verdicts.weights, interval=interval)
    moved = value - found.value
    return replace(found, value=value, low=found.low + moved, high=found.high + moved)


_BINNINGS = (calibration.by_width, calibration.by_mass)


def _counts(verdicts: Scored, probability: bool) -> Array:
    # A margin may be infinite.
    away = verdicts.score - verdicts.right if probability else np.zeros_like(verdicts.score)
    return np.column_stack([away**2, np.ones_like(verdicts.score)])


def _statistic(levels: int, probability: bool) -> Statistic:
    """Sums (K, R) -> metrics (M, R): curve, costs, squares and count, bins of equal width and of equal mass."""

    def some(sums: Array) -> Array:
        kept, right, costs, (squares, n), *bins = np.split(
            sums, np.cumsum([levels, levels, len(MEANS), 2, 3 * calibration.BINS][: 5 if probability else 3])
        )
        ranked = [selective.auroc(kept, right), selective.aurc(kept, right)]
        ranked += [selective.accuracy_at(kept, right, c) for c in (*COVERAGES, 1.0)]
        ranked += [selective.coverage_at(kept, right, r) for r in RISKS]
        found = [*ranked, *ratio(costs, np.broadcast_to(n, costs.shape))]
        return np.stack(found + (_calibrated(squares, n, bins) if probability else []))

    def statistic(sums: Array) -> Array:
        return np.hstack([some(sums[:, start : start + AT_ONCE]) for start in range(0, sums.shape[1], AT_ONCE)])

    return statistic


def _calibrated(squares: Array, n: Array, bins: list[Array]) -> list[Array]:
    width, mass = (b.reshape(3, calibration.BINS, -1) for b in bins)
    errors = [ratio(squares, n), calibration.ece(*width), calibration.ece(*mass), calibration.ece_debiased(*mass)]
    return [*errors, *ratio(width[1], width[0]), *ratio(width[2], width[0])]


def _undefined(metric: str, verdicts: Scored) -> str:
    if metric in MEANS:
        return f"undefined: {metric} was not recorded for every verdict"
    return f"undefined: all verdicts are {'right' if verdicts.right.all() else 'wrong'}"
