"""What the five source documents print, number by number, and our numbers beside it.

Rates are fractions from 0 to 1 and metrics have our names. Nothing is corrected; what is known to be wrong in a source
is a fault that the number carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.columns import TableError

Paper = Literal["trust", "judgebench", "swapref", "refsense", "evalpair"]
SOURCES: Mapping[Paper, str] = {
    "swapref": "000_65c668a7267fc0e4.txt",
    "refsense": "001_1ea9d04442e7600e.txt",
    "judgebench": "002_dbdf0f3d5247b095.txt",
    "evalpair": "003_79504d017c0b1582.txt",
    "trust": "004_e1840bb43771aeee.txt",
}
KEYS = ("judge", "dataset", "method", "format", "reference", "generator", "temperature", "slice", "metric")
"""What says which number a printed one is; a key that a row leaves empty is not told, and any of ours will do."""
NUMBERS = ("value", "low", "high", "step")
"""The number, the interval printed with it, and the unit of its last digit."""


def printed(paper: Paper, table: str | None = None) -> pd.DataFrame:
    """Every number that a source prints, or those of one of its tables.

    Returns:
        table (its number, an appendix, `figure 3`, or `text`) · `KEYS` · statistic (`value`; or `min`, `max`, `mean` of
        what the keys leave open) · `NUMBERS` · faults (ids, separated by spaces).

    Raises:
        TableError: the source prints no numbers of cells, or no such table.
    """
    name = files("analysis") / "published" / f"{paper}.csv"
    if not name.is_file():
        raise TableError(
            f"{paper!r} has no published numbers; choose {', '.join(p for p in SOURCES if p != 'judgebench')}"
        )
    with name.open(encoding="utf-8") as text:
        rows = pd.read_csv(text, dtype=str, keep_default_na=False)
    rows = rows.reindex(columns=["table", *KEYS, "statistic", *NUMBERS, "faults"], fill_value="")
    rows[list(NUMBERS)] = rows[list(NUMBERS)].replace("", np.nan).astype(float)
    if table is None:
        return rows
    if table not in set(rows["table"]):
        raise TableError(f"{paper} has no table {table!r}; it has {', '.join(rows['table'].unique())}")
    return rows[rows["table"] == table].reset_index(drop=True)


def protocol() -> pd.DataFrame:
    """The nine combinations of two verdicts and what the source of `judgebench` makes of them; empty: incorrect.

    Returns:
        verdict_AB verdict_BA (both in the item's own order), prose, recipe (its pseudo-code), recipe_unmapped (the
        pseudo-code taken at its word), faults.
    """
    with (files("analysis") / "published" / "judgebench_protocol.csv").open(encoding="utf-8") as text:
        return pd.read_csv(text, dtype=str, keep_default_na=False)


def faults(paper: Paper | None = None) -> dict[str, str]:
    """What is known to be wrong in the sources, or in one of them, by id."""
    with (files("analysis") / "published" / "faults.csv").open(encoding="utf-8") as text:
        rows = pd.read_csv(text, dtype=str)
    known = dict(zip(rows["fault"], rows["says"], strict=True))
    return {fault: says for fault, says in known.items() if paper is None or fault.startswith(f"{paper}-")}


def footnotes(table: pd.DataFrame) -> dict[str, str]:
    """The faults that a table's rows carry, by id, in the order of their first appearance."""
    known = faults()
    return {fault: known[fault] for cell in table["faults"] for fault in str(cell).split()}


def beside(metrics: pd.DataFrame, paper: Paper, table: str) -> pd.DataFrame:
    """Our numbers beside those of one printed table.

    Judges, data sets and formats go by their names, whatever their case and punctuation: `Llama-3.3-70B` is
    `llama-3.3-70b`.

    Args:
        metrics: tidy metrics (`analysis.cells.TIDY`), or any table with some of `KEYS`, value, ci_low and ci_high.
        paper: the source.
        table: a table of it, see `printed`.

    Returns:
        One row a printed value: the keys that differ or name judge, data set and metric, then ours ci_low ci_high
        printed place faults. place: `inside` if the interval, widened by half of the last printed digit, holds
        the printed value, else `outside`; `no interval` and `not measured` where there is none, or no number.

    Raises:
        TableError: there is no such table, or it prints no single values.
    """
    rows = printed(paper, table).query("statistic == 'value'")
    if rows.empty:
        raise TableError(f"table {table} of {paper} prints ranges and means over cells, but no value of a cell")
    found = pd.concat(_matched(rows, metrics)).sort_index(kind="stable").reset_index(drop=True)
    found = found.assign(place=_place(found))
    told = [k for k in KEYS if k in ("judge", "dataset", "metric") or found[k].nunique() > 1]
    # A number printed for all judges stands beside that of each of ours; where those agree, once is enough.
    return found[[*told, "ours", "ci_low", "ci_high", "printed", "place", "faults"]].drop_duplicates(ignore_index=True)


def _matched(rows: pd.DataFrame, metrics: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Printed rows with ours, those together that tell the same keys."""
    own = metrics.reindex(columns=[*KEYS, "value", "ci_low", "ci_high"])
    own = own.rename(columns={"value": "ours"}).assign(**{k: _names(own[k]) for k in KEYS})
    rows = rows.rename(columns={"value": "printed"})
    names = rows[list(KEYS)].map(_name)
    pattern: Any
    for pattern, at in names.groupby([names[k] != "" for k in KEYS], sort=False).groups.items():
        told = [k for k, is_told in zip(KEYS, pattern, strict=True) if is_told]
        ours = own[[*told, "ours", "ci_low", "ci_high"]]
        joined = names.loc[at, told].reset_index().merge(ours, on=told, how="left").set_index("index")
        yield rows.loc[joined.index].assign(**{c: joined[c] for c in ("ours", "ci_low", "ci_high")})


def _names(column: pd.Series[Any]) -> Any:
    """`_name` of every cell, found once for each value."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    return np.array([_name(value) for value in values], dtype=object)[codes]


def _name(key: object) -> str:
    """A key without case and punctuation; numbers as they are."""
    if isinstance(key, float):
        return "" if np.isnan(key) else f"{key:g}"
    return str(key) if str(key) == "*" else re.sub(r"[^a-z0-9]+", "", str(key).casefold())


def _place(found: pd.DataFrame) -> pd.Series[str]:
    half = found["step"] / 2 + 1e-12
    inside = found["printed"].between(found["ci_low"] - half, found["ci_high"] + half)
    place = inside.map({True: "inside", False: "outside"})
    place = place.mask(found["ci_low"].isna(), "no interval")
    return place.mask(found["ours"].isna(), "not measured")
