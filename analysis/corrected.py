"""Gold labels beside a verdict table: what each judge's rate is once corrected (`python -m analysis correct`).

The estimators are in `analysis.correction`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import files
from analysis.bootstrap import Array
from analysis.columns import TableError, rows_where
from analysis.correction import Rate, judged, labelled, labels_needed, prediction_powered, rogan_gladen
from analysis.verdicts import CELL, READABLE, WINNERS, check

GRADES = ("CORRECT", "INCORRECT")
FEWEST = 2
"""Labels without which nothing is corrected."""
COLUMNS = (
    *("estimand", "estimator", "value", "ci_low", "ci_high", "n", "labels"),
    *("sensitivity", "specificity", "width", "labels_needed", "share_unreadable", "note"),
)


@dataclass(frozen=True, slots=True)
class Estimand:
    """The rate of which label is asked for, in which column."""

    column: str
    positive: str
    known: frozenset[str]
    """Labels that a gold label may be."""

    def __str__(self) -> str:
        return f"{self.column} = {self.positive}"


def corrected(
    table: pd.DataFrame, gold: pd.DataFrame, *, positive: str = "", width: float = 0.1, level: float = 0.95
) -> pd.DataFrame:
    """The rate of positive items by every cell: as judged, as labelled, and from both.

    Of single answers the rate of `grade` = CORRECT, of pairs that of `winner` = A. An item's verdict is the share of
    its readable verdicts in the cell that are positive. The labelled items must be a random sample of the judged ones;
    items are taken to be independent, and the note says where groups of them make that doubtful.

    Args:
        table: a verdict table; its own gold labels are not looked at.
        gold: columns item and gold, and dataset where an item's id is not unique without it.
        positive: the label whose rate is asked for; empty: CORRECT or A.
        width: of an interval, for which the number of labels needed is computed.
        level: of the intervals.

    Returns:
        Four rows a cell, its columns and `COLUMNS`: estimator `judge` (uncorrected), `labels` (Wilson),
        `rogan_gladen` and `ppi++`. n counts items without a label, labels those with one; labels_needed is for
        `ppi++`, null where not even a label on every item makes the interval so narrow. A cell with fewer than two
        labels has only what the judge says, and its note says so.

    Raises:
        TableError: the table is faulty, a label is doubled, unknown, or of an item that was not judged, or no cell has
            two labels.
    """
    if not 0 < width < 1:
        raise TableError(f"width {width:g}: give a share above 0 and below 1")
    table = check(table)
    estimand = _estimand(table, positive)
    labels = _labels(table, gold, estimand)
    rows = []
    for _, at in table.groupby(list(CELL), dropna=False, sort=True).indices.items():
        rows += _cell(table.iloc[at], labels, estimand, width, level)
    if all(row["labels"] < FEWEST for row in rows):
        few = {f"{row['judge']} on {row['dataset']}: {_too_few(row['labels'])}": None for row in rows}
        raise TableError("; ".join(few))
    return pd.DataFrame(rows).astype({"labels_needed": "Int64"})[[*CELL, *COLUMNS]]


def read_labels(path: Path) -> pd.DataFrame:
    """Gold labels from a .csv, .jsonl or .parquet file; rows are counted from 1 in errors.

    Raises:
        TableError: the file cannot be read, or has no columns item and gold.
    """
    gold = files.load(path, ("item", "gold", "dataset"))
    if missing := [name for name in ("item", "gold") if name not in gold]:
        raise TableError(f"{path} has no column {', '.join(missing)}; gold labels need the columns item and gold")
    return gold.set_axis(pd.MultiIndex.from_product([[str(path)], range(1, len(gold) + 1)]))


def _estimand(table: pd.DataFrame, positive: str) -> Estimand:
    graded = table["grade"].notna().any()
    if graded and table["winner"].notna().any():
        raise TableError("the table holds verdicts on pairs and on single answers; correct them apart")
    column, labels = ("grade", GRADES) if graded else ("winner", WINNERS)
    known = frozenset(labels) | frozenset(table[column].dropna())
    if positive and positive not in known:
        raise TableError(f"no verdict is {positive!r}; the rate can be that of {', '.join(sorted(known))}")
    return Estimand(column, positive or labels[0], known)


def _labels(table: pd.DataFrame, gold: pd.DataFrame, estimand: Estimand) -> pd.DataFrame:
    """dataset, item and whether the label is positive, (labels,)."""
    _check_labels(gold, estimand)
    judged_items = table[["dataset", "item"]].drop_duplicates()
    keys = ["dataset", "item"] if "dataset" in gold else ["item"]
    again = gold.duplicated(keys, keep=False)
    if again.any():
        raise TableError(f"an item has two gold labels: {rows_where(again)}; keep one of them")
    shared = gold["item"].isin(judged_items.loc[judged_items.duplicated("item", keep=False), "item"])
    if "dataset" not in gold and shared.any():
        raise TableError(f"{rows_where(shared)} name items of several data sets; add a column dataset to the labels")
    found = gold[[*keys, "gold"]].merge(judged_items, on=keys, how="left", indicator=True)
    strange = pd.Series((found["_merge"] == "left_only").to_numpy(), index=gold.index)
    if strange.any():
        raise TableError(f"items with a gold label were not judged: {rows_where(strange)}; is it the right file?")
    return found[["dataset", "item"]].assign(positive=(found["gold"] == estimand.positive).astype(float))


def _check_labels(gold: pd.DataFrame, estimand: Estimand) -> None:
    for name in ("item", "gold"):
        empty = gold[name].isna() | (gold[name] == "")
        if empty.any():
            raise TableError(f"column {name!r} is empty in {rows_where(empty)} of the gold labels")
    unknown = ~gold["gold"].isin(estimand.known)
    if unknown.any():
        raise TableError(
            f"gold label {gold.loc[unknown.to_numpy(), 'gold'].iloc[0]!r} in {rows_where(unknown)} is unknown; "
            f"for '{estimand}' a label is one of {', '.join(sorted(estimand.known))}"
        )
    if gold.empty:
        raise TableError("the file of gold labels has no rows")


def _cell(
    cell: pd.DataFrame, labels: pd.DataFrame, estimand: Estimand, width: float, level: float
) -> list[dict[str, Any]]:
    readable = cell[cell["outcome"].isin(READABLE) & cell[estimand.column].notna()]
    said = (readable[estimand.column] == estimand.positive).astype(float)
    items = said.groupby([readable["dataset"], readable["item"]]).mean().rename("verdict").reset_index()
    both = items.merge(labels, on=["dataset", "item"], how="left")
    few = both["positive"].notna()
    f, y = both.loc[few, "verdict"].to_numpy(dtype=float), both.loc[few, "positive"].to_numpy(dtype=float)
    many = both.loc[~few, "verdict"].to_numpy(dtype=float)
    key = {c: cell[c].iloc[0] for c in CELL}
    shared = key | {"estimand": str(estimand), "n": len(many), "labels": len(y)}
    shared |= {"share_unreadable": 1 - len(readable) / len(cell), "width": width}
    rates = _rates(many, f, y, level)
    needed = labels_needed(many, f, y, width, level) if len(y) >= FEWEST else 0
    rows = [shared | _row(name, rate, f, y, needed) for name, rate in rates.items()]
    members = cell[cell["group"] != ""].groupby(["dataset", "group"])["item"].nunique()
    if not (several := int((members > 1).sum())):
        return rows
    caveat = f"groups of items ({several}) are taken to be independent items: intervals may be too narrow"
    return [row | {"note": "; ".join(filter(None, (row["note"], caveat)))} for row in rows]


def _rates(many: Array, few: Array, gold: Array, level: float) -> dict[str, Rate]:
    said = np.concatenate([many, few])
    judge = judged(said, level) if len(said) > 1 else Rate(np.nan, 0.0, 1.0, "undefined: fewer than two readable items")
    if len(gold) < FEWEST:
        unknown = Rate(np.nan, 0.0, 1.0, f"undefined: {_too_few(len(gold))}")
        return {"judge": judge, "labels": unknown, "rogan_gladen": unknown, "ppi++": unknown}
    return {
        "judge": judge,
        "labels": labelled(gold, level),
        "rogan_gladen": rogan_gladen(many, few, gold, level),
        "ppi++": prediction_powered(many, few, gold, level),
    }


def _too_few(labels: int) -> str:
    return f"only {labels} readable item{'s have' if labels != 1 else ' has'} a gold label"


def _row(name: str, rate: Rate, few: Array, gold: Array, needed: int) -> dict[str, Any]:
    numbers = {"estimator": name, "value": rate.value, "ci_low": rate.low, "ci_high": rate.high, "note": rate.note}
    rates: dict[str, Any] = {"sensitivity": np.nan, "specificity": np.nan, "labels_needed": None}
    if name == "rogan_gladen" and len(gold):
        rates["sensitivity"] = few[gold == 1].mean() if gold.any() else np.nan
        rates["specificity"] = 1 - few[gold == 0].mean() if not gold.all() else np.nan
    if name == "ppi++":
        rates["labels_needed"] = needed or None
        numbers["note"] = rate.note or ("" if needed else "not even labels on all items make it so narrow")
    return numbers | rates
