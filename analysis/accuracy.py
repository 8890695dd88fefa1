"""How often a judge finds the better answer of a pair when it must do so in both orders (study `judgebench`).

Source: 002_dbdf0f3d5247b095.txt, the prose on two trials; its pseudo-code counts a double tie as a win and never
maps the second trial back, which neither the prose nor the benchmark's own code does.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import pairs as judged
from analysis.bootstrap import Array, Interval
from analysis.cells import Design, Metric, estimate, ratio, slices_by
from analysis.columns import TableError
from analysis.pairs import NONE, Codes
from analysis.verdicts import CELL, ORDERS, WINNERS

Unreadable = Literal["tie", "wrong", "drop"]
TIE = WINNERS.index("tie")
ABSENT = -2
"""Stands for a verdict in an order in which the pair was not judged; `NONE` for one that could not be read."""
CATEGORIES = {
    "mmlu-pro": "knowledge",
    "livebench-reasoning": "reasoning",
    "livebench-math": "math",
    "livecodebench": "coding",
}
"""Category of a source, by how the source's name begins."""
POOLED = {"judgebench": ("judgebench-gpt", "judgebench-claude")}
"""Benchmarks whose parts are data sets of their own: reported apart and, where a judge has all parts, together."""


def items(table: pd.DataFrame, *, unreadable: Unreadable = "tie") -> pd.DataFrame:
    """The score of every pair in every cell, one row each (and each repeat, if there are several).

    A verdict scores +1 if it names the gold answer, -1 if it names the other one, 0 if it is a tie. A pair's
    score is the sum over the two orders, and the pair is correct if that is positive: right and tie count, right
    and wrong or two ties do not.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).
        unreadable: what a verdict that cannot be read scores: `tie` 0, as in the benchmark; `wrong` -1; `drop`
            leaves the pair out, its score is null.

    Returns:
        The columns of the cell, the item and `repeat`, with the item's category, then verdict_AB verdict_BA
        score correct inconsistent. The last three are null for a pair not judged in both orders.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    units, verdicts = _units(table, unreadable)
    both = _counted(units, verdicts, unreadable).all(axis=1)
    score = np.where(both, _score(units, verdicts, -1 if unreadable == "wrong" else 0), np.nan)
    named = np.array([*WINNERS, None, None], dtype=object)[verdicts]
    return units.assign(
        category=categories(units["source"]),
        verdict_AB=named[:, 0],
        verdict_BA=named[:, 1],
        score=score,
        correct=np.where(both, score > 0, np.nan),
        inconsistent=np.where(both, verdicts[:, 0] != verdicts[:, 1], np.nan),
    )


def judgebench(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "tie",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Accuracy over both orders, and what a single order would have said, in every cell, with intervals.

    - accuracy = correct pairs / pairs; pairs without a verdict stay in the denominator unless dropped.
      accuracy_worst and accuracy_best hold if every unreadable verdict were wrong, or right; so do accuracy_AB_worst
      and the like.
    - accuracy_AB, accuracy_BA = verdicts for the gold answer / pairs, in one order: biased by the position.
    - inconsistent = pairs whose two verdicts differ / pairs; no verdict twice is consistent.
    - ties = ties / verdicts; first_position = verdicts for the answer shown first / verdicts that name one.

    Pairs (A, tie), (A, B), (none, A), (tie, tie) with gold A: accuracy 2/4, accuracy_worst 1/4, accuracy_AB 2/4,
    inconsistent 3/4, ties 3/8.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        unreadable: `tie`, `wrong` or `drop`, see `items`.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`), overall and by category. A judge that has all parts of a
        benchmark in `POOLED` has further rows, whose data set is the benchmark.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    return estimate(design(table, unreadable=unreadable), rng=rng, replicates=replicates, interval=interval)


def design(table: pd.DataFrame, *, unreadable: Unreadable = "tie") -> Design:
    """The pairs, and what each adds to the sums behind the metrics; benchmarks in several parts also as a whole.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    units, verdicts = _with_pooled(*_units(table, unreadable))
    return Design(units, _terms(units, verdicts, unreadable), METRICS, slices_by(units, categories(units["source"])))


def categories(sources: pd.Series[str]) -> pd.Series[str]:
    """The category of each source; a source of another benchmark is a category of its own.

    `mmlu-pro-math` is knowledge, `livebench-math` is math.
    """
    named = {s: next((c for prefix, c in CATEGORIES.items() if s.startswith(prefix)), s) for s in sources.unique()}
    return sources.map(named)


def _units(table: pd.DataFrame, unreadable: Unreadable) -> tuple[pd.DataFrame, Codes]:
    """Pairs with their gold codes, and their verdicts in the two orders, (pairs, 2)."""
    if unreadable not in get_args(Unreadable):
        raise TableError(f"unreadable={unreadable!r}: choose {', '.join(get_args(Unreadable))}")
    found = judged.pairs(table, per=("repeat",))
    verdicts = np.full((len(found.units), 2), ABSENT)
    verdicts[found.unit, found.order] = found.winner
    return found.units, verdicts


def _with_pooled(units: pd.DataFrame, verdicts: Codes) -> tuple[pd.DataFrame, Codes]:
    """Adds the pairs of all parts of a benchmark once more, under its own name, unless that is there already."""
    setting = [units[c] for c in CELL if c != "dataset"]
    tables, codes = [units], [verdicts]
    for whole, parts in POOLED.items():
        part = units["dataset"].where(units["dataset"].isin(parts))
        complete = part.notna() & (part.groupby(setting, dropna=False).transform("nunique") == len(parts))
        if complete.any() and whole not in set(units["dataset"]):
            tables.append(units[complete].assign(dataset=whole))
            codes.append(verdicts[complete])
    return pd.concat(tables, ignore_index=True), np.concatenate(codes)


def _gold(units: pd.DataFrame) -> Codes:
    return pd.Index(WINNERS).get_indexer(pd.Index(units["gold"])).astype(np.int64)[:, None]


def _counted(units: pd.DataFrame, verdicts: Codes, unreadable: Unreadable) -> NDArray[np.bool_]:
    """Which verdicts enter the accuracies, (pairs, 2)."""
    counted: NDArray[np.bool_] = (verdicts > (NONE if unreadable == "drop" else ABSENT)) & (_gold(units) != NONE)
    return counted


def _score(units: pd.DataFrame, verdicts: Codes, unread: int) -> Codes:
    """Scores of pairs, (pairs,), when a verdict that is not there scores `unread`."""
    gold = _gold(units)
    readable = np.where(verdicts == gold, 1, np.where(verdicts == TIE, 0, -1))
    scores: Codes = np.where(verdicts < 0, unread, readable).sum(axis=1)
    return scores


def _terms(units: pd.DataFrame, verdicts: Codes, unreadable: Unreadable) -> dict[str, Array]:
    """What each pair adds to the sums behind the metrics, (pairs,)."""
    counted, present = _counted(units, verdicts, unreadable), verdicts != ABSENT
    right = (verdicts == _gold(units)) & counted
    both, complete = counted.all(axis=1), present.all(axis=1) & (_gold(units)[:, 0] != NONE)
    kept = verdicts >= 0 if unreadable == "drop" else present
    flags = {
        "pairs": np.ones(len(units)),
        "complete": complete,
        "both": both,
        "correct": both & (_score(units, verdicts, -1 if unreadable == "wrong" else 0) > 0),
        "worst": complete & (_score(units, verdicts, -1) > 0),
        "best": complete & (_score(units, verdicts, 1) > 0),
        "inconsistent": both & (verdicts[:, 0] != verdicts[:, 1]),
        "right_AB": right[:, 0],
        "right_BA": right[:, 1],
        "counted_AB": counted[:, 0],
        "counted_BA": counted[:, 1],
        "ties": (verdicts == TIE).sum(axis=1),
        "kept": kept.sum(axis=1),
        "first": (verdicts == [0, 1]).sum(axis=1),
        "named": np.isin(verdicts, (0, 1)).sum(axis=1),
        **_at_the_ends(units, verdicts),
        "verdicts": present.sum(axis=1),
        "unreadable": (verdicts == NONE).sum(axis=1),
    }
    return {name: np.asarray(values, dtype=float) for name, values in flags.items()}


def _at_the_ends(units: pd.DataFrame, verdicts: Codes) -> dict[str, NDArray[np.bool_]]:
    """By order: which verdicts there should be, and which would be right if the unreadable ones all were, or none."""
    gold = _gold(units)
    right, judged = verdicts == gold, (verdicts != ABSENT) & (gold != NONE)
    flags = {"judged": judged, "worst": right & judged, "best": (right | (verdicts == NONE)) & judged}
    return {f"{name}_{order}": flag[:, o] for name, flag in flags.items() for o, order in enumerate(ORDERS)}


def _share(name: str, part: str, whole: str, of: str, undefined: str) -> Metric:
    return Metric(name, lambda s: ratio(s[part], s[whole]), whole, of, undefined)


_BOTH = "needs a gold label and a verdict in both orders"

METRICS: tuple[Metric, ...] = (
    _share("accuracy", "correct", "both", "pairs", _BOTH),
    _share("accuracy_worst", "worst", "complete", "pairs", _BOTH),
    _share("accuracy_best", "best", "complete", "pairs", _BOTH),
    _share("accuracy_AB", "right_AB", "counted_AB", "pairs", "needs a gold label and a verdict in AB"),
    _share("accuracy_BA", "right_BA", "counted_BA", "pairs", "needs a gold label and a verdict in BA"),
    *(
        _share(f"accuracy_{o}_{end}", f"{end}_{o}", f"judged_{o}", "pairs", f"needs a gold label and a trial in {o}")
        for end in ("worst", "best")
        for o in ORDERS
    ),
    _share("inconsistent", "inconsistent", "both", "pairs", _BOTH),
    _share("ties", "ties", "kept", "verdicts", "needs a verdict"),
    _share("first_position", "first", "named", "named", "needs a verdict that names an answer"),
)
