"""Verdicts on pairs as arrays of codes; refuses tables whose rows are not verdicts on pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.columns import TableError, rows_where
from analysis.verdicts import CELL, ORDERS, WINNERS, check

Codes = NDArray[np.int64]
NONE = -1
"""Code of a verdict or gold label that is not there; the others are places in `WINNERS`."""
ITEM = ("source", "item", "group", "gold")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Verdicts on pairs. Units and rows are sorted, so results don't depend on the order of the table."""

    units: pd.DataFrame
    """One row a unit: the columns of its cell and of its item, and `per`."""
    gold: Codes
    """(units,) the right verdict."""
    unit: Codes
    """(rows,) which unit a verdict belongs to."""
    order: Codes
    """(rows,) 0 for AB, 1 for BA."""
    winner: Codes
    """(rows,) the verdict; within a unit and order, rows stand in order of repeat."""
    beside: pd.DataFrame
    """(rows,) the further columns asked for."""


def pairs(table: pd.DataFrame, per: Sequence[str] = (), *, beside: Sequence[str] = ()) -> Pairs:
    """Checks a verdict table and groups its rows into units: a pair in a cell, and in each value of `per`.

    The columns `beside` come along row by row.

    Raises:
        TableError: the table fails `check`; a gold label names no verdict on a pair; a readable row holds no
            winner; rows of one item disagree about its gold label, source or group.
    """
    table = check(table)
    if table.empty:
        raise TableError("the verdict table has no rows")
    _check_pairs(table)
    keys = [*CELL, "item", *per]
    told = [*CELL, *ITEM, *per]
    table = table[[*dict.fromkeys([*told, "order", "repeat", "winner", *beside])]].sort_values(
        [*keys, "order", "repeat"]
    )
    units = table.drop_duplicates(keys).reset_index(drop=True)
    return Pairs(
        units=units[told],
        gold=_codes(units["gold"], WINNERS),
        unit=table.groupby(keys, dropna=False, sort=False).ngroup().to_numpy().astype(np.int64),
        order=_codes(table["order"], ORDERS),
        winner=_codes(table["winner"], WINNERS),
        beside=table[list(beside)].reset_index(drop=True),
    )


def _codes(labels: pd.Series[str], known: Sequence[str]) -> Codes:
    return pd.Index(known).get_indexer(pd.Index(labels)).astype(np.int64)


def _check_pairs(table: pd.DataFrame) -> None:
    wrong = table["gold"].notna() & ~table["gold"].isin(WINNERS)
    if wrong.any():
        example = table.loc[wrong.to_numpy(), "gold"].iloc[0]
        raise TableError(
            f"column 'gold' must name a verdict on a pair, {', '.join(WINNERS)}: {rows_where(wrong)} say {example!r}"
        )
    wrong = (table["outcome"] == "ok") & table["winner"].isna()
    if wrong.any():
        raise TableError(
            f"column 'winner' is null although 'outcome' is ok: {rows_where(wrong)}; "
            "this study reads verdicts on pairs, leave out rows that grade or score a single answer"
        )
    for column in ("gold", "source", "group"):
        told = table.groupby(["dataset", "item"])[column].transform("nunique", dropna=False)
        if (told > 1).any():
            raise TableError(
                f"column {column!r} differs between rows of one item: {rows_where(told > 1)}; "
                "give the item one value everywhere, or different items different ids"
            )
