"""The verdict table: its columns, what they mean, and the check that every table passes before it is analysed.

One row is one judged trial, whoever judged it. Verdicts, scores and probabilities are in the item's own
order, never in the order in which a judge was shown the answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analysis import files
from analysis.columns import Column, TableError, rows_where, typed

OUTCOMES = ("ok", "tie", "unreadable", "truncated", "overflow", "refused", "error")
READABLE = ("ok", "tie")
"""The outcomes that carry a verdict."""
WINNERS = ("A", "B", "tie")
ORDERS = ("AB", "BA")


def _key(name: str, meaning: str, values: tuple[str, ...] = ()) -> Column:
    return Column(name, "text", meaning, required=True, identifies=True, values=values)


def _label(name: str, meaning: str) -> Column:
    return Column(name, "text", meaning, neutral="")


COLUMNS: tuple[Column, ...] = (
    _key("study", "name of the study"),
    _key("judge", "name of the judge"),
    _label("judge_family", "family of models that the judge belongs to"),
    _key("dataset", "name of the data set"),
    _label("source", "part of the data set (subject, subset) that the item comes from"),
    _label("language", "language of the item, as a BCP 47 tag such as te; empty: not recorded"),
    _key("item", "id of the item, unique in its data set"),
    _label("group", "items that a bootstrap resamples together; empty: the item stands alone"),
    Column("gold", "text", "right verdict; for pairs A, B, tie, or null where none is known", required=True),
    _label("method", "how the judge was asked: pairwise, rubric, pointwise, reward"),
    _label("format", "output format asked for"),
    _key("order", "which answer was shown first: AB is the item's own order", ORDERS),
    _label("reference", "which reference, if any, the judge saw"),
    Column("temperature", "number", "sampling temperature, 0 is greedy"),
    Column("repeat", "count", "number of the repetition, from 0", neutral=0),
    Column("constrained", "flag", "was the output held to a grammar?", neutral=False),
    _label("generator", "who wrote the answer that is judged, where that is a factor"),
    _label("candidate", "which answer is judged, where a design chooses: original, swapped; right, other"),
    _label("swap", "how the reference was swapped, where a design does so, such as type_preserving"),
    Column("winner", "text", "A, B, tie, or null when there is no verdict", required=True, values=WINNERS),
    Column("grade", "text", "verdict on a single answer, such as CORRECT"),
    Column("extracted", "text", "what the judge copied from the answer"),
    Column("score_a", "number", "score of answer A, or of the only answer"),
    Column("score_b", "number", "score of answer B"),
    _key("outcome", "what became of the trial; only ok and tie carry a verdict", OUTCOMES),
    Column("p_first", "share", "probability of the item's own first answer, A, or of CORRECT, among the labels"),
    Column("p_tie", "share", "probability of a tie, renormalised over the labels"),
    Column("label_mass", "share", "probability that all labels together captured"),
    Column("confidence", "share", "confidence that the judge itself stated, 0 to 1"),
    Column("prompt_tokens", "count", "prompt tokens of all calls behind the row"),
    Column("cached_tokens", "count", "those of them that a prefix cache served"),
    Column("completion_tokens", "count", "tokens written"),
    Column("seconds", "number", "from submission to the last token, summed over calls"),
    _label("requests", "keys of the calls behind the row, separated by spaces"),
)
NAMES = tuple(c.name for c in COLUMNS)

FACTORS = (
    "method", "format", "order", "reference", "temperature", "repeat", "constrained", "generator", "candidate", "swap"
)  # fmt: skip
ROW_KEY = ("study", "judge", "dataset", "item", *FACTORS)
"""No two rows of a table agree in all of these."""
CELL = ("study", "judge", "dataset", *(f for f in FACTORS if f not in ("order", "repeat", "candidate", "swap")))
"""A cell of a design: one judge on one data set under one setting of the factors."""


def check(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the table with every column present and typed, known ones first, extra ones riding along.

    Required are study, judge, dataset, item, gold, order, winner and outcome. Other columns that the table
    lacks are filled: names and labels with the empty text, repeat with 0, constrained with false, all others with
    null ('not recorded').

    Args:
        table: one row a judged trial. Row labels are kept, and name the rows in errors.

    Raises:
        TableError: a required column is missing; a cell has the wrong type, is empty where it must not be or
            none of the known values; winner and outcome contradict each other; two rows are the same trial.
    """
    missing = [c.name for c in COLUMNS if c.required and c.name not in table]
    if missing:
        raise TableError(
            f"the verdict table has no column {', '.join(map(repr, missing))}; "
            f"its columns are {', '.join(map(str, table.columns)) or 'none'}"
        )
    if table.columns.has_duplicates:
        twice = table.columns[table.columns.duplicated()][0]
        raise TableError(f"the verdict table has two columns {str(twice)!r}; keep one of them")
    extra = table[[name for name in table.columns if name not in NAMES]]
    checked = pd.concat([pd.DataFrame({c.name: typed(table, c) for c in COLUMNS}), extra], axis=1)
    _check_verdicts(checked)
    _check_unique(checked)
    return checked


def read(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Reads verdict tables (.parquet, .csv, .jsonl), checks each, and gives them as one.

    Raises:
        TableError: a file cannot be read or fails `check`; names the file and the rows, counted from 1.
    """
    tables = {str(path): files.load(Path(path), NAMES) for path in paths}
    if not tables:
        raise TableError("no verdict tables were named; give at least one .parquet, .csv or .jsonl file")
    checked = [check(table.set_axis(_file_rows(path, len(table)))) for path, table in tables.items()]
    together = pd.concat(checked)
    if len(checked) > 1:
        _check_unique(together)
    return together.reset_index(drop=True)


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Writes a verdict table as .parquet, .csv (safe to open in a spreadsheet) or .jsonl, by the file's suffix."""
    files.save(table, Path(path))


def _check_verdicts(table: pd.DataFrame) -> None:
    winner, outcome = table["winner"], table["outcome"]
    named = winner.notna() | table["grade"].notna()
    faults = {
        "or 'grade' holds a verdict although 'outcome' says that there is none": named & ~outcome.isin(READABLE),
        "is null although 'outcome' is ok, and so are 'grade' and 'score_a'": ~named
        & table["score_a"].isna()
        & (outcome == "ok"),
        "is 'tie' although 'outcome' is ok; 'outcome' must say tie, too": (winner == "tie") & (outcome == "ok"),
        "is not 'tie' although 'outcome' is tie": (winner != "tie") & (outcome == "tie"),
    }
    for fault, wrong in faults.items():
        if wrong.any():
            raise TableError(f"column 'winner' {fault}: {rows_where(wrong)}")


def _check_unique(table: pd.DataFrame) -> None:
    again = table.duplicated(list(ROW_KEY))
    if again.any():
        keys = table[list(ROW_KEY)].astype(object).fillna("")
        first = keys.loc[again.to_numpy()].iloc[0]
        trial = ", ".join(f"{name} {value}" for name, value in first.items() if value != "")
        raise TableError(
            f"{int(again.sum()):,} rows repeat an earlier trial; {rows_where((keys == first).all(axis=1))} are all "
            f"{trial}. Keep one of them, or number them in 'repeat'"
        )


def _file_rows(path: str, rows: int) -> pd.MultiIndex:
    return pd.MultiIndex.from_product([[path], range(1, rows + 1)])
