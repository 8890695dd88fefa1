"""Two signals of confidence on the same verdicts: which one tells right from wrong better?"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from analysis import selective
from analysis.bootstrap import Array, Interval, evaluate
from analysis.columns import TableError
from analysis.confidence import SIGNALS
from analysis.scored import AT_ONCE, Cell, cells, scored
from analysis.verdicts import CELL

METRICS = {"auroc": selective.auroc, "aurc": selective.aurc}
COLUMNS = ("metric", "signal_1", "signal_2", "value_1", "value_2", "difference", "ci_low", "ci_high", "n")


def compared(
    units: pd.DataFrame, *, rng: np.random.Generator, replicates: int = 10_000, interval: Interval = "percentile"
) -> pd.DataFrame:
    """Every two signals on the verdicts that have all signals of the cell: differences, resampled together.

    A higher AUROC and a lower AURC are better.

    Args:
        units: one row a verdict, from `analysis.confidence.places`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        interval: `percentile` or `bca`.

    Returns:
        The columns of the cell, then `COLUMNS`: difference = value_1 - value_2; n counts verdicts.

    Raises:
        TableError: no cell has two signals on the same verdicts.
    """
    parts = [_pairs(cell, interval) for cell in cells(units, rng, replicates)]
    table = pd.concat(parts, ignore_index=True)
    if table.empty:
        raise TableError("no two signals of confidence were recorded on the same verdicts")
    return table


def _pairs(cell: Cell, interval: Interval) -> pd.DataFrame:
    known = ~np.isnan(cell.columns["correct"])
    names = [name for name in SIGNALS if (known & ~np.isnan(cell.columns[name])).any()]
    signals = scored(cell, names) if len(names) > 1 else []
    if not signals or not len(signals[0].score):
        return pd.DataFrame(columns=[*CELL, *COLUMNS])
    pairs = list(combinations(range(len(names)), 2))
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    exact = _values([s.whole_curve() for s in signals])[:, :, 0]
    curves = [s.coarse_curve() for s in signals]
    ends = np.cumsum([c.shape[1] for c in curves])[:-1]

    def statistic(sums: Array) -> Array:
        parts = [sums[:, start : start + AT_ONCE] for start in range(0, sums.shape[1], AT_ONCE)]
        values = np.concatenate([_values(np.split(part, ends)) for part in parts], axis=2)
        differences: Array = values[:, one] - values[:, other]
        return differences.reshape(len(METRICS) * len(pairs), -1)

    found = evaluate(statistic, np.hstack(curves), signals[0].weights, interval=interval)
    difference = (exact[:, one] - exact[:, other]).ravel()
    moved = difference - found.value
    return pd.DataFrame(
        {
            **cell.key,
            "metric": np.repeat(list(METRICS), len(pairs)),
            "signal_1": np.tile(np.array(names)[one], len(METRICS)),
            "signal_2": np.tile(np.array(names)[other], len(METRICS)),
            "value_1": exact[:, one].ravel(),
            "value_2": exact[:, other].ravel(),
            "difference": difference,
            "ci_low": found.low + moved,
            "ci_high": found.high + moved,
            "n": len(signals[0].score),
        }
    )


def _values(curves: list[Array]) -> Array:
    """Metrics of each signal, (metrics, signals, R), from its curve's sums."""
    halves = [np.split(curve, 2) for curve in curves]
    return np.stack([[metric(kept, right) for kept, right in halves] for metric in METRICS.values()])
