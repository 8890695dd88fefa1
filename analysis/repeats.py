"""Repeated verdicts on a pair, read as three indications: reproducible (N), order-invariant (P), correct (R).

Source: 004_e1840bb43771aeee.txt, section on the problem setting.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import pairs as judged
from analysis.bootstrap import Array
from analysis.columns import TableError
from analysis.pairs import NONE, Codes, Pairs
from analysis.verdicts import ORDERS, WINNERS

Unreadable = Literal["drop", "fail"]
TIE = WINNERS.index("tie")


def items(table: pd.DataFrame, *, unreadable: Unreadable = "drop") -> pd.DataFrame:
    """The indications of every pair in every cell, one row each, orders side by side.

    For a pair i shown in order o:

    - N = 1 if all readable verdicts among the repeats agree; undefined with fewer than two of them.
    - M = the verdict that most repeats give; an exact split: of those that lead, the one given first.
    - P = 1 if M is the same in both orders.
    - R = 1 if M is the gold label.

    Verdicts A A B under AB and A A A under BA, gold A: N = 0 and 1, M = A and A, P = 1, R = 1 and 1.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).
        unreadable: `drop` leaves unreadable verdicts out, as the source does. `fail` is the worst case: a pair
            and order with any unreadable verdict has N = R = 0, and the pair P = 0.

    Returns:
        The columns of the cell and the item, then M_AB M_BA N_AB N_BA P R_AB R_BA; N_low_AB N_low_BA N_high_AB
        N_high_BA and the same of R, the least and the most they could be, had all verdicts been readable (under
        either rule); and the counts of verdicts behind them: repeats_AB repeats_BA readable_AB readable_BA
        votes_A_AB votes_A_BA votes_B_AB votes_B_BA ties.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    if unreadable not in get_args(Unreadable):
        raise TableError(f"unreadable={unreadable!r}: choose drop or fail")
    found = judged.pairs(table)
    votes = count_votes(found)
    repeats = _per_order(found, np.ones(len(found.unit), dtype=bool))
    most, readable = votes.max(axis=2), votes.sum(axis=2)
    majority = leading(found, votes)
    known, gold = majority != NONE, found.gold[:, None]
    n = np.where(readable >= 2, most == readable, np.nan)
    p = np.where(known.all(axis=1), majority[:, 0] == majority[:, 1], np.nan)
    r = np.where(known & (gold != NONE), majority == gold, np.nan)
    ends = _possible(n, r, votes, gold, repeats)
    if unreadable == "fail":
        failed = readable < repeats
        n = np.where(failed & (repeats >= 2), 0.0, n)
        p = np.where(failed.any(axis=1) & (repeats > 0).all(axis=1), 0.0, p)
        r = np.where(failed & (gold != NONE), 0.0, r)
    named = np.array([*WINNERS, None], dtype=object)[majority]
    columns = _by_order("M", named) | _by_order("N", n) | {"P": p} | _by_order("R", r)
    for name, values in ends.items():
        columns |= _by_order(name, values)
    columns |= _by_order("repeats", repeats) | _by_order("readable", readable)
    columns |= _by_order("votes_A", votes[:, :, 0]) | _by_order("votes_B", votes[:, :, 1])
    return found.units.assign(**columns, ties=votes[:, :, TIE].sum(axis=1))


def by_item(units: pd.DataFrame) -> pd.DataFrame:
    """What becomes of one pair over all the cells in which it is judged, one row a pair.

    Args:
        units: one row a pair in a cell, from `items`.

    Returns:
        dataset source item gold, cells (how many), and the means over cells and orders of N, P, R and N P R as C,
        phi = 1 - mean P, A and T_joint; NaN where none is defined. The least trustworthy pairs of a data set first.
    """
    sides = {x: units[[f"{x}_AB", f"{x}_BA"]] for x in ("N", "R")}
    joint = sides["N"].to_numpy() * sides["R"].to_numpy() * units[["P"]].to_numpy()
    means = units.assign(
        C=sides["N"].mean(axis=1), phi=1 - units["P"], A=sides["R"].mean(axis=1), T_joint=joint.mean(axis=1)
    )
    groups = means.groupby(["dataset", "source", "item", "gold"], dropna=False, sort=True)
    found = groups[["C", "phi", "A", "T_joint"]].mean()
    found.insert(0, "cells", groups.size())
    return found.reset_index().sort_values(["dataset", "T_joint", "item"], ignore_index=True)


def count_votes(found: Pairs) -> Codes:
    """Verdicts for A, B and tie, (units, orders, 3)."""
    return np.stack([_per_order(found, found.winner == code) for code in range(len(WINNERS))], axis=2)


def _per_order(found: Pairs, rows: NDArray[np.bool_]) -> Codes:
    place = found.unit[rows] * len(ORDERS) + found.order[rows]
    return np.bincount(place, minlength=len(found.units) * len(ORDERS)).reshape(-1, len(ORDERS))


def leading(found: Pairs, votes: Codes) -> Codes:
    """The leading verdict, (units, orders); where several lead, the one that an earlier repeat gave."""
    first = np.full(votes.shape, len(found.unit))
    rows = np.flatnonzero(found.winner != NONE)
    np.minimum.at(first, (found.unit[rows], found.order[rows], found.winner[rows]), rows)
    leads = votes == votes.max(axis=2, keepdims=True)
    earliest = np.where(leads, first, len(found.unit) + 1).argmin(axis=2)
    return np.where(votes.any(axis=2), earliest, NONE)


def _possible(n: Array, r: Array, votes: Codes, gold: Codes, repeats: Codes) -> dict[str, Array]:
    """The least and the most that N and R can be, (units, orders), whatever the unreadable verdicts would have said.

    Gold A, verdicts A A B ?: one more B makes an exact split, so R may be 0 or 1. Verdicts A A A B ?: R is 1.
    """
    readable = votes.sum(axis=2)
    right = np.take_along_axis(votes, np.maximum(gold, 0)[:, :, None], axis=2)[:, :, 0]
    others = np.where(np.arange(votes.shape[2]) == gold[:, :, None], 0, votes).max(axis=2)
    unread = repeats - readable
    ends = {
        "N_low": np.zeros_like(n),
        "N_high": votes.max(axis=2) == readable,
        "R_low": right > others + unread,
        "R_high": right + unread >= others,
    }
    judged = {"N": repeats >= 2, "R": (repeats > 0) & (gold != NONE)}
    known = {"N": n, "R": r}
    return {
        name: np.where(judged[name[0]], np.where(unread > 0, end, known[name[0]]), np.nan) for name, end in ends.items()
    }


def _by_order(name: str, values: NDArray[np.generic]) -> dict[str, NDArray[np.generic]]:
    return {f"{name}_{order}": values[:, o] for o, order in enumerate(ORDERS)}
