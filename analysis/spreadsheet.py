"""Text that a spreadsheet would run as a formula, made harmless in CSV files and restored when read."""

from __future__ import annotations

from typing import Any

import pandas as pd

RISKY = r"^'*[=+\-@\t\r]"
ESCAPED = r"^'+[=+\-@\t\r]"


def neutralise(table: pd.DataFrame) -> pd.DataFrame:
    """Puts an apostrophe before each text cell that begins with = + - @, a tab or a carriage return.

    Numbers stay as they are. Cells that carry such an apostrophe already get one more, so that
    `restore` gives back exactly what was there: `=1+1` is written `'=1+1`, and `'=1+1` is written `''=1+1`.
    """
    return table.assign(**{str(c): _prefix(table[c]) for c in table if _is_text(table[c])})


def restore(text: pd.Series[Any]) -> pd.Series[Any]:
    """Takes away the apostrophes that `neutralise` put there."""
    return text.where(~text.str.match(ESCAPED, na=False), text.str[1:])


def _prefix(text: pd.Series[Any]) -> pd.Series[Any]:
    return text.where(~text.str.match(RISKY, na=False), "'" + text)


def _is_text(column: pd.Series[Any]) -> bool:
    return pd.api.types.infer_dtype(column, skipna=True) == "string"
