"""The four triplets of an item under a swapped reference, as a judge graded them (study `swapref`).

Source: 000_65c668a7267fc0e4.txt, section 3.1. An item has a reference and a candidate answer of its own (o) and
swapped ones (s); the truth of a triplet is CORRECT if reference and candidate come from the same side.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.cells import OVERALL, ratio
from analysis.columns import Column, TableError, typed
from analysis.reference import CORRECT, GRADES, INCORRECT, ITEM, SETTING, UNREAD, codes, graded, refuse, refuse_split
from analysis.verdicts import CELL

Unreadable = Literal["wrong", "drop"]
SIDES = ("original", "swapped")
PAIRINGS = ("oo", "os", "so", "ss")
"""Reference and candidate, each original or swapped."""
FURTHER = (
    Column("freshness", "text", "how fast the right answer changes, such as never-changing", neutral=""),
    Column("popularity", "number", "how often people look the item's subject up"),
)


def items(table: pd.DataFrame, *, unreadable: Unreadable = "wrong") -> pd.DataFrame:
    """How a judge graded the four triplets of every item under every swap, one row each.

    Args:
        table: a verdict table (see `analysis.verdicts`) with reference and candidate `original` or `swapped`, swap,
            and, if known, the further columns freshness and popularity.
        unreadable: `wrong` counts a verdict that cannot be read against the judge, as the source does; `drop` leaves
            it out, and with it the item if no repeat of the triplet can be read.

    Returns:
        The columns of the cell and the item, swap freshness popularity, then oo os so ss: the share of the repeats
        that are right, NaN where there is none; worst_oo and best_oo, and the like: that share if all unreadable
        verdicts were wrong, or right; verdicts and unreadable, counts of rows.

    Raises:
        TableError: the table is faulty, or its rows are no such triplets.
    """
    if unreadable not in get_args(Unreadable):
        raise TableError(f"unreadable={unreadable!r}: choose {', '.join(get_args(Unreadable))}")
    table = _triplets(table)
    unit = table.groupby([*SETTING, "item", "swap"], dropna=False, sort=True).ngroup().to_numpy().astype(np.int64)
    units = table.iloc[np.unique(unit, return_index=True)[1]].assign(reference="")
    rows, right, unread = _counts(table, unit, len(units))
    shares = {"": ratio(right, rows - unread if unreadable == "drop" else rows)}
    shares |= {"worst_": ratio(right, rows), "best_": ratio(right + unread, rows)}
    told = {f"{name}{p}": share[:, i] for name, share in shares.items() for i, p in enumerate(PAIRINGS)}
    units = units[[*CELL, *ITEM, "swap", "freshness", "popularity"]].reset_index(drop=True)
    return units.assign(**told, verdicts=rows.sum(axis=1), unreadable=unread.sum(axis=1))


def popularity_third(units: pd.DataFrame) -> pd.Series[str]:
    """`popularity-1of3` (least) to `popularity-3of3` by the ranks of a data set's items; empty where none is known.

    Items that are equally popular are in the same third. With fewer than three known ones there are no thirds.
    """
    one = units.drop_duplicates(["dataset", "item"]).set_index(["dataset", "item"])["popularity"]
    known = one.dropna().groupby(level=0)
    third = np.ceil(known.rank(pct=True) * 3)[known.transform("size") >= 3]
    named = third.map("popularity-{:.0f}of3".format).astype(object).reindex(one.index).fillna("")
    at = pd.MultiIndex.from_frame(units[["dataset", "item"]])
    return pd.Series(named.reindex(at).to_numpy(), index=units.index, dtype=object)


def _counts(table: pd.DataFrame, unit: NDArray[np.int64], units: int) -> tuple[Array, Array, Array]:
    """Rows of each triplet, those that are right and those that are unreadable, (units, 4) each."""
    reference, candidate = (codes(table[c], SIDES) for c in ("reference", "candidate"))
    grade = codes(table["grade"], GRADES)
    place = unit * len(PAIRINGS) + 2 * reference + candidate

    def count(which: NDArray[np.bool_]) -> Array:
        counts = np.bincount(place[which], minlength=units * len(PAIRINGS))
        return counts.astype(np.float64).reshape(-1, len(PAIRINGS))

    truth = np.where(reference == candidate, CORRECT, INCORRECT)
    return count(np.ones(len(table), dtype=bool)), count(grade == truth), count(grade == UNREAD)


def _triplets(table: pd.DataFrame) -> pd.DataFrame:
    """The table, checked for what only this study needs."""
    table = graded(table)
    table = table.assign(**{column.name: typed(table, column) for column in FURTHER})
    for column in ("reference", "candidate"):
        refuse(table, column, ~table[column].isin(SIDES), f"must be one of {', '.join(SIDES)}")
    refuse(table, "swap", table["swap"] == "", "must say how the reference was swapped, such as type_preserving")
    refuse(table, "swap", table["swap"].str.contains("/") | (table["swap"] == OVERALL), "is no name for a swap")
    same = table["reference"] == table["candidate"]
    rule = "contradicts the triplet, which is CORRECT if reference and candidate come from the same side"
    refuse(table, "gold", table["gold"].notna() & ((table["gold"] == "CORRECT") != same), rule)
    for column in ("freshness", "popularity"):
        refuse_split(table, ["dataset", "item"], column, "one item")
    return table
