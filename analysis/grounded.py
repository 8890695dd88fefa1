"""Verdicts on grounded answers as sums by answer and judge: was the induced claim adopted, was an error flagged?

Source: 003_79504d017c0b1582.txt, section 4.2 and table 14.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.columns import Column, TableError, rows_where, typed
from analysis.matched import ANSWER, Panel, panels, with_generators
from analysis.verdicts import READABLE, check

Unreadable = Literal["drop", "miss"]
ERROR, NO_ERROR = "ERROR", "NO_ERROR"
BEHAVIOURS = ("context_follow", "both_claims", "memory_override", "conflict_aware", "refusal", "unrelated")
UNLABELLED = "unlabeled"
"""The stratum of answers without a behaviour."""
ADOPTING = ("context_follow", "both_claims")
"""Behaviours whose headline is recall: their answers assert the induced claim."""
VALIDATED, DIAGNOSTIC = "validated", "diagnostic"
EXTRA: tuple[Column, ...] = (
    Column("behaviour", "text", "how the answer deals with the perturbed evidence", neutral="", values=BEHAVIOURS),
    Column("status", "text", "did the record pass every gate?", neutral="", values=(VALIDATED, DIAGNOSTIC)),
    Column("perturber", "text", "who perturbed the record", neutral=""),
    Column("labeller", "text", "who labelled the answer", neutral=""),
    Column("perturbation_type", "text", "how the record was perturbed", neutral=""),
    Column("modified_passages", "count", "how many passages of the record were rewritten"),
    Column("answer_refused", "flag", "did the generator itself say that it refuses?"),
    Column("answer_cites_modified", "flag", "does the answer cite a rewritten passage?"),
    Column("cites_modified", "flag", "is the passage that the judge cites a rewritten one?"),
    Column("claim_has_replacement", "flag", "does the wrong claim hold the value that was put in?"),
)
"""Columns beyond those of `analysis.verdicts`; each may be absent."""
CARRIED = ("gold", *(c.name for c in EXTRA if c.name not in ("cites_modified", "claim_has_replacement")))
"""What a row says of its answer, and not of the judge."""
COUNTS = ("TP", "FP", "FN", "TN")


def grounded(table: pd.DataFrame, unreadable: Unreadable = "drop") -> list[Panel]:
    """Checks a table of the study and sums it by answer and judge, one panel for each data set and setting.

    Terms, all of them counts of rows: rows; unreadable; known (verdicts that count); said (flags among them);
    TP FP FN TN; flagged and labelled (of known ones with a gold label); adopted and avoided (likewise, by the label);
    adopted_rows and avoided_rows, readable or not; adopted_unread and avoided_unread; of true positives local,
    local_known, replaced and replaced_known.

    Args:
        table: grades ERROR or NO_ERROR; gold ERROR where the answer adopts the induced claim, NO_ERROR where it
            doesn't, null where nobody labelled it: such verdicts are in no cell of the confusion.
        unreadable: `drop` leaves out verdicts that cannot be read; `miss` counts them as not flagging.

    Raises:
        TableError: the table is faulty; a grade or gold label is none of the two; rows of one answer disagree.
    """
    rows = checked(table)
    return list(panels(rows, _terms(rows, unreadable), CARRIED))


def checked(table: pd.DataFrame) -> pd.DataFrame:
    """The table with every column that the study knows, typed; cells that may be null as objects.

    Raises:
        TableError: the table is faulty; a grade or gold label is none of the two.
    """
    rows = with_generators(check(table))
    rows = rows.assign(**{c.name: typed(rows, c) for c in EXTRA})
    rows = rows.assign(**{c.name: rows[c.name].astype(object).where(rows[c.name].notna(), None) for c in _nullable()})
    _check_grades(rows)
    return rows


def adopted(answers: pd.DataFrame) -> Array:
    """1 where an answer adopts the induced claim, 0 where it avoids it, NaN where nobody has labelled it."""
    gold = answers["gold"].to_numpy(dtype=object)
    return np.where(gold == ERROR, 1.0, np.where(gold == NO_ERROR, 0.0, np.nan))


def behaviours(answers: pd.DataFrame) -> NDArray[np.object_]:
    """The behaviour of each answer, or `unlabeled`."""
    named = answers["behaviour"].to_numpy(dtype=object)
    return np.where(named == "", UNLABELLED, named)


def primary(answers: pd.DataFrame) -> NDArray[np.bool_]:
    """The answers that main results are about: those of validated records; all, where no record has a status."""
    status = answers["status"].to_numpy(dtype=object)
    mask: NDArray[np.bool_] = (status == VALIDATED) | bool((status == "").all())
    return mask


def answer_key(answers: pd.DataFrame) -> pd.DataFrame:
    """The columns that name an answer and differ between any two."""
    return answers[[c for c in ANSWER if c in ("item", "generator") or (answers[c] != "").any()]]


def _nullable() -> list[Column]:
    return [c for c in EXTRA if c.kind in ("flag", "count")]


def _terms(rows: pd.DataFrame, unreadable: Unreadable) -> dict[str, pd.Series[float]]:
    readable = rows["outcome"].isin(READABLE)
    known = readable | (unreadable == "miss")
    flag = readable & (rows["grade"] == ERROR)
    wrong, right = rows["gold"] == ERROR, rows["gold"] == NO_ERROR
    caught = flag & wrong
    cells = {"TP": caught, "FP": flag & right, "FN": known & ~flag & wrong, "TN": known & ~flag & right}
    terms = {
        "rows": rows["outcome"].notna(),
        "unreadable": ~readable,
        "known": known,
        "said": flag,
        **cells,
        **{"flagged": flag & (wrong | right), "labelled": known & (wrong | right)},
        **{"adopted": known & wrong, "avoided": known & right, "adopted_rows": wrong, "avoided_rows": right},
        **{"adopted_unread": ~readable & wrong, "avoided_unread": ~readable & right},
        **_where(caught, rows["cites_modified"], "local"),
        **_where(caught, rows["claim_has_replacement"], "replaced"),
    }
    return {name: values.astype(float) for name, values in terms.items()}


def _where(caught: pd.Series[bool], flag: pd.Series[bool], name: str) -> dict[str, pd.Series[bool]]:
    return {name: caught & flag.eq(True), f"{name}_known": caught & flag.notna()}


def _check_grades(rows: pd.DataFrame) -> None:
    for column, wrong in {
        "grade": rows["outcome"].isin(READABLE) & ~rows["grade"].isin([ERROR, NO_ERROR]),
        "gold": rows["gold"].notna() & ~rows["gold"].isin([ERROR, NO_ERROR]),
    }.items():
        if wrong.any():
            example = rows.loc[wrong.to_numpy(), column].iloc[0]
            raise TableError(
                f"column {column!r} must be {ERROR} or {NO_ERROR}: {rows_where(wrong)} say {example!r}; "
                "this study reads verdicts on single grounded answers"
            )
