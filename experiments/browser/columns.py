"""All verdicts of a study in columns of small numbers, sorted so that those on one item lie together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import files
from analysis.verdicts import FACTORS, READABLE, ROW_KEY
from experiments.runs import Run

TOLD = (
    "judge", "dataset", *FACTORS, "source", "language", "condition", "status", "behaviour", "perturbation_type",
    "freshness",
)  # fmt: skip
"""Columns that verdicts can be filtered by, where they vary."""
MOST = 500
"""Values of a column at most, where it is to be a filter."""
RIGHT = ("none", "right", "wrong")
"""None: there is no verdict, or no right one is known."""


@dataclass(frozen=True)
class Coded:
    """A column of texts, as numbers of its values."""

    values: tuple[str, ...]
    codes: NDArray[np.uint32]


@dataclass(frozen=True)
class Verdicts:
    """Verdicts of all runs, by item, judge, factors, repeat and order."""

    run: NDArray[np.int64]
    """Of each verdict, the number of its run."""
    row: NDArray[np.int64]
    """Its row in the run's table."""
    columns: dict[str, Coded]
    """What can be filtered by, constant columns included."""
    items: list[tuple[str, str]]
    """Data set and id of every item."""
    cells: NDArray[np.int64]
    """Of each verdict a number that it shares with its repeats, and with no other."""
    starts: NDArray[np.int64]
    """Where the verdicts on each item begin; one more for the end of the last."""
    runs: Sequence[Run]


def gather(runs: Sequence[Run]) -> Verdicts:
    """The verdicts of the runs.

    Raises:
        TableError: those of a run are faulty.
    """
    told = pd.concat([_slim(run, number) for number, run in enumerate(runs)], ignore_index=True)
    if told.groupby(["judge", "dataset"])["run"].nunique().gt(1).any():
        # One judge twice on one data set: which run a verdict is of is told by no other column.
        told["folder"] = told["run"].map(dict(enumerate(f"{run.data}/{run.judge}" for run in runs)))
    names = [str(c) for c in told if c not in ("run", "row")]
    sorting = ["dataset", "item", "judge", *(f for f in (*FACTORS, "condition") if f not in ("order", "repeat"))]
    # Values are numbered in the order in which they are to be shown; only the numbers are sorted.
    coded: dict[str, Coded] = {name: _coded(told[name]) for name in names}
    keys = [coded[name].codes for name in (*sorting, "run", "repeat", "order") if name in coded]
    order = np.lexsort(keys[::-1])
    coded = {name: Coded(c.values, c.codes[order]) for name, c in coded.items()}
    dataset, item = coded["dataset"], coded["item"]
    new = np.r_[True, (np.diff(dataset.codes) != 0) | (np.diff(item.codes) != 0)][: len(order)]
    starts = np.r_[np.flatnonzero(new), len(order)]
    heads = starts[:-1]
    pairs = [(dataset.values[d], item.values[i]) for d, i in zip(dataset.codes[heads], item.codes[heads], strict=True)]
    shared = [c.codes for name, c in coded.items() if name in (*TOLD, "item") and name != "repeat"]
    cells = pd.DataFrame(dict(enumerate(shared))).assign(run=told["run"].to_numpy()[order])
    numbers = cells.groupby(list(cells), sort=False).ngroup().to_numpy().astype(np.int64)
    shown = {name: c for name, c in coded.items() if name != "item" and len(c.values) <= MOST}
    return Verdicts(
        told["run"].to_numpy()[order],
        told["row"].to_numpy()[order],
        shown,
        pairs,
        numbers,
        starts.astype(np.int64),
        runs,
    )


def rows_of(run: Run) -> pd.DataFrame:
    """The table of a run with the way back to its calls, which a table of served requests loses when it is checked.

    Raises:
        TableError: it cannot be read or is faulty.
    """
    if run.study != "serving":
        return run.verdicts
    return files.load(run.table, ["item", "order", "outcome", "winner", "gold", "requests"])


def _slim(run: Run, number: int) -> pd.DataFrame:
    """What the index needs of a run's verdicts, as texts."""
    table = rows_of(run)
    has = [name for name in TOLD if name in table]
    slim = pd.DataFrame({name: _texts(table[name]) for name in ("item", *has)})
    verdict = table["winner"].astype(object)
    if "grade" in table:
        verdict = verdict.where(verdict.notna(), table["grade"].astype(object))
    readable = table["outcome"].isin(READABLE)
    known = readable & verdict.notna() & table["gold"].notna()
    right = np.where(known, np.where(verdict.eq(table["gold"]), RIGHT[1], RIGHT[2]), RIGHT[0])
    slim = slim.assign(outcome=_texts(table["outcome"]), verdict=_texts(verdict), right=right)
    key = [name for name in (*ROW_KEY, "condition") if name in table]
    said = slim["verdict"].where(readable, "")
    slim["flipped"] = _flag(_several(table, key, "order", said.where(said != "")))
    slim["unstable"] = _flag(_several(table, key, "repeat", said))
    return slim.assign(run=number, row=np.arange(len(table)))


def _several(table: pd.DataFrame, key: Sequence[str], over: str, said: "pd.Series[str]") -> NDArray[np.bool_]:
    """Whether rows that agree in all of the key but `over` say more than one thing; nulls say nothing."""
    if over not in table:
        return np.zeros(len(table), dtype=bool)
    cell = table.groupby([name for name in key if name != over], sort=False, dropna=False).ngroup().to_numpy()
    codes = pd.factorize(said)[0]
    there = codes >= 0
    low = np.full(len(table) + 1, len(table), dtype=np.int64)
    high = np.full(len(table) + 1, -1, dtype=np.int64)
    np.minimum.at(low, cell[there], codes[there])
    np.maximum.at(high, cell[there], codes[there])
    several: NDArray[np.bool_] = there & (low[cell] != high[cell])
    return several


def _flag(where: NDArray[np.bool_]) -> "pd.Categorical[Any]":
    return pd.Categorical.from_codes(where.astype(np.int8), categories=pd.Index(["no", "yes"]))


def _texts(column: "pd.Series[Any]") -> "pd.Series[str]":
    if pd.api.types.is_bool_dtype(column):
        return column.map({True: "true", False: "false"}).fillna("").astype(str)
    if pd.api.types.is_float_dtype(column):
        uniques = {value: "" if pd.isna(value) else f"{value:g}" for value in column.unique()}
        return column.map(uniques).fillna("").astype(str)
    return column.astype(object).where(column.notna(), "").astype(str)


def _coded(column: "pd.Series[str]") -> Coded:
    """Texts as numbers of their sorted values; numbers sort as such."""
    codes, values = pd.factorize(column.astype(object).where(column.notna(), ""))
    texts = list(map(str, values))
    rank = np.empty(len(texts), dtype=np.uint32)
    order = sorted(range(len(texts)), key=lambda i: _as_number(texts[i]))
    rank[order] = np.arange(len(texts), dtype=np.uint32)
    return Coded(tuple(texts[i] for i in order), rank[codes])


def _as_number(text: str) -> tuple[int, float, str]:
    return (0, float(text), text) if text.replace(".", "", 1).isdecimal() and text.isascii() else (1, 0.0, text)
