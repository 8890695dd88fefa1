"""Columns with a declared type and meaning, and how a table's cells are brought to it or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

TEXT = pd.StringDtype(na_value=np.nan)


class TableError(ValueError):
    """A table that cannot be analysed: says which column and rows, and what to do."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type, what it means, and what stands in for it where a table lacks it."""

    name: str
    kind: Literal["text", "number", "share", "count", "flag"]
    meaning: str
    required: bool = False
    """Must the table have it?"""
    identifies: bool = False
    """May no cell be null or empty?"""
    neutral: str | int | bool | None = None
    """Fills an absent column and null cells; `None`: cells may be null, which means 'not recorded'."""
    values: tuple[str, ...] = ()
    """The only values allowed, if there are any such."""


def typed(table: pd.DataFrame, column: Column) -> pd.Series[Any]:
    """The cells of one column in its type; the neutral value where the table has none.

    Raises:
        TableError: a cell has the wrong type, is empty where it must not be, or is none of the known values.
    """
    if column.name not in table:
        return pd.Series([column.neutral] * len(table), index=table.index, dtype=_dtype(column))
    values = table[column.name]
    cells = _CONVERT[column.kind](values, column)
    if column.identifies and cells.isna().any():
        raise TableError(f"column {column.name!r} is empty in {rows_where(cells.isna())}; every row needs one")
    if column.values:
        unknown = cells.notna() & ~cells.isin(column.values)
        _refuse(values, unknown, column, f"must be one of {', '.join(column.values)}")
    return (cells if column.neutral is None else cells.fillna(column.neutral)).astype(_dtype(column))


def rows_where(mask: pd.Series[bool], shown: int = 5) -> str:
    """Names the rows where `mask` is true, for an error message: `rows 3, 17 and 5 more`."""
    labels = [_row_name(label) for label in mask.index[mask.to_numpy()]]
    more = f" and {len(labels) - shown:,} more" if len(labels) > shown else ""
    return f"row{'s' if len(labels) > 1 else ''} {', '.join(labels[:shown])}{more}"


def encodable(cell: Any) -> Any:
    """Text with lone surrogates, which no file can hold, replaced by question marks; all else as it is."""
    return cell.encode("utf-8", "replace").decode("utf-8") if isinstance(cell, str) else cell


def _dtype(column: Column) -> Any:
    counts, flags = ("Int64", "boolean") if column.neutral is None else ("int64", "bool")
    return {"text": TEXT, "number": "float64", "share": "float64", "count": counts, "flag": flags}[column.kind]


def _text(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    if values.dtype != TEXT:
        wrong = values.notna() & ~values.map(lambda v: isinstance(v, str)).astype(bool)
        _refuse(values, wrong, column, "must be text (turn numbers into text with .astype(str))")
        values = values.map(encodable, na_action="ignore").astype(TEXT)
    return values.where(values != "")


def _number(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    _refuse(values, numbers.isna() & values.notna() & (values != ""), column, "must be a number")
    return numbers


def _share(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    shares = _number(values, column)
    _refuse(values, (shares < -1e-9) | (shares > 1 + 1e-9), column, "must lie between 0 and 1")
    return shares


def _count(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    counts = _number(values, column)
    _refuse(values, (counts < 0) | (counts % 1 > 0), column, "must be a whole number, 0 or more")
    return counts


def _flag(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    flags = values.map({True: True, False: False, "True": True, "true": True, "False": False, "false": False})
    _refuse(values, flags.isna() & values.notna() & (values != ""), column, "must be true or false")
    return flags.astype("boolean")


_CONVERT = {"text": _text, "number": _number, "share": _share, "count": _count, "flag": _flag}


def _refuse(values: pd.Series[Any], wrong: pd.Series[bool], column: Column, rule: str) -> None:
    if wrong.any():
        example = values[wrong].iloc[0]
        raise TableError(f"column {column.name!r} {rule}; {rows_where(wrong)}: {example!r} ({column.meaning})")


def _row_name(label: object) -> str:
    return f"{label[1]} of {label[0]}" if isinstance(label, tuple) else str(label)
