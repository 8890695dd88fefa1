"""Grades of single answers as arrays of codes; refuses tables whose rows don't grade one answer.

Knows neither what the answers are nor which reference the judge saw.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.columns import TableError, rows_where
from analysis.verdicts import CELL, check

Codes = NDArray[np.int64]
GRADES = ("CORRECT", "INCORRECT", "UNKNOWN")
"""What a judge can say of an answer; UNKNOWN is its `I don't know`, a verdict like the others."""
CORRECT, INCORRECT, UNKNOWN = range(3)
UNREAD = -1
"""Code of a verdict that could not be read; the others are places in `GRADES`."""
ABSENT = -2
"""Code of a verdict that nobody asked for."""
ITEM = ("source", "language", "item", "group")
SETTING = tuple(c for c in CELL if c != "reference")
"""The columns of a cell but the reference, over which these studies compare."""


def graded(table: pd.DataFrame) -> pd.DataFrame:
    """Checks a verdict table whose rows grade one answer each.

    Raises:
        TableError: the table fails `check` or has no rows; a readable row has no grade, or one that is not in
            `GRADES`; an answer is shown in two orders; rows of one item disagree about what it is.
    """
    table = check(table)
    if table.empty:
        raise TableError("the verdict table has no rows")
    grade, outcome = table["grade"], table["outcome"]
    refuse(table, "grade", grade.notna() & ~grade.isin(GRADES), f"must be one of {', '.join(GRADES)}")
    lacking = grade.isna() & outcome.isin(("ok", "tie"))
    why = "is null although 'outcome' is {}; this study reads grades of one answer, leave out verdicts on pairs"
    refuse(table, "grade", lacking, why.format("ok or tie"))
    refuse(table, "order", table["order"] != "AB", "must be AB, as there is but one answer")
    for column in ("source", "group", "language"):
        refuse_split(table, ["dataset", "item"], column, "one item")
    return table


def codes(labels: pd.Series[str], known: Sequence[str]) -> Codes:
    """Places of labels among those known; -1 for null."""
    return pd.Index(known).get_indexer(pd.Index(labels)).astype(np.int64)


def refuse(table: pd.DataFrame, column: str, wrong: pd.Series[bool], rule: str) -> None:
    """Raises a TableError that names the column, the rule, the rows and a cell, if any row is wrong."""
    if wrong.any():
        example = table.loc[wrong.to_numpy(), column].iloc[0]
        raise TableError(f"column {column!r} {rule}; {rows_where(wrong)}: {example!r}")


def refuse_split(table: pd.DataFrame, keys: Sequence[str], column: str, what: str) -> None:
    """Raises a TableError if rows with the same keys differ in a column."""
    told = table[[*keys, column]].drop_duplicates()
    if not told.duplicated(keys).any():
        return
    differs = table.groupby(list(keys), dropna=False)[column].transform("nunique", dropna=False) > 1
    raise TableError(
        f"column {column!r} differs between rows of {what}: {rows_where(differs)}; "
        "give it one value everywhere, or different ids"
    )
