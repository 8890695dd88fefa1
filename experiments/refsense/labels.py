"""People's grades of the answers that a judge grades, joined to its verdicts."""

from pathlib import Path

import pandas as pd

from analysis import files
from analysis.columns import TableError, rows_where
from judges.records import UserError

GRADES = ("C", "I", "P")
"""Correct, incorrect, partly correct."""
_KEY = ("item", "generator")
_PEOPLE = ("human", "human_2")


def read(path: Path) -> pd.DataFrame:
    """A table of item, generator, human and human_2 (null where there is no second annotator).

    Raises:
        UserError: the file can't be read, lacks a column, grades an answer twice, or holds a label other than C, I, P;
            an empty label says that nobody graded that answer.
    """
    try:
        table = files.load(path, (*_KEY, *_PEOPLE))
    except TableError as error:
        raise UserError(f"labels={error}") from error
    if absent := [name for name in (*_KEY, "human") if name not in table]:
        raise UserError(f"labels={path} has no column {', '.join(absent)}; it has {', '.join(map(str, table.columns))}")
    if "human_2" not in table:
        table = table.assign(human_2="")
    table = table[[*_KEY, *_PEOPLE]].fillna("").astype(str)
    table = table.set_axis(pd.RangeIndex(2, len(table) + 2))  # as lines of a CSV file
    for name in _PEOPLE:
        unknown = ~table[name].isin((*GRADES, ""))
        if unknown.any():
            raise UserError(
                f"labels={path}, column {name}: {rows_where(unknown)} hold a label that is none of C (correct), "
                f"I (incorrect), P (partly correct): {table.loc[unknown, name].iloc[0]!r}"
            )
    if (twice := table.duplicated(list(_KEY))).any():
        raise UserError(f"labels={path}: {rows_where(twice)} grade an answer again; keep one row an item and generator")
    return table.reset_index(drop=True)


def unused(labels: pd.DataFrame, answers: pd.DataFrame) -> int:
    """How many labels go with none of the answers.

    Raises:
        UserError: all of them; says which generators either names.
    """
    here = pd.MultiIndex.from_frame(labels[list(_KEY)]).isin(pd.MultiIndex.from_frame(answers[list(_KEY)]))
    left = int((~here).sum())
    if left and left == len(labels):
        told, judged = (", ".join(sorted(set(table["generator"]))[:5]) for table in (labels, answers))
        raise UserError(
            f"labels: none of the {left} goes with an answer that is judged here. They are answers of {told} to items"
            f" such as {labels['item'].iloc[0]}; judged are answers of {judged}, to such as {answers['item'].iloc[0]}"
        )
    return left


def join(verdicts: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with the columns human and human_2."""
    joined = verdicts.merge(labels, on=list(_KEY), how="left")
    return joined.assign(**{name: joined[name].replace("", None) for name in _PEOPLE})
