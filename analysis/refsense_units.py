"""What a judge said of one answer in each setting, side by side (study `refsense`); knows no metrics.

Source: 001_1ea9d04442e7600e.txt, sections 3.1 and 3.2. There are three kinds of units: a calibration (an item's right
answer and another item's), a model's answer in one setting, and a model's answer in two settings, a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.columns import Column, typed
from analysis.reference import ABSENT, GRADES, ITEM, SETTING, Codes, codes, graded, refuse
from analysis.verdicts import CELL

SETTINGS = ("NR", "RV", "RVP", "RC", "RCP")
"""No reference; reference visible; comparison with it asked for; P: the reference comes after the answer."""
CHANGES = (("NR", "RV"), ("RV", "RC"), ("NR", "RC"), ("RV", "RVP"), ("RC", "RCP"))
ARROW = "->"
SHOWN = ("right", "other")
"""What a calibration shows: the item's own right answer, or that of another item."""
HUMANS = ("human", "human_2")
LABELS = ("C", "I", "P")
"""What people said of an answer: correct, incorrect, partially correct."""
FURTHER = (
    Column("generator_family", "text", "family of models that wrote the answer", neutral=""),
    *(Column(name, "text", "a person's label of the answer: C, I, P or null") for name in HUMANS),
    Column("answer_empty", "flag", "was there no answer to grade?", neutral=False),
    Column("invented", "flag", "did the judge copy something from an empty answer?", neutral=False),
)


def units(table: pd.DataFrame) -> pd.DataFrame:
    """All that the metrics are made of, one row a unit and repeat.

    Args:
        table: a verdict table (see `analysis.verdicts`). Rows with candidate `right` or `other` are calibrations;
            the others are on a model's answer, in the setting that `reference` names: NR, RV, RVP, RC or RCP.

    Returns:
        The columns of the cell and the item and repeat; kind: calibration, setting or change, whose `reference` is
        empty, the setting, or `NR->RV` and the like; grade_1 and grade_2: codes of `analysis.reference` for the right
        and the other answer, for the one verdict (the second is `ABSENT`), or in the first and the second setting;
        extracted_1 and extracted_2 likewise, for changes; the columns `FURTHER`, for settings.

    Raises:
        TableError: the table is faulty, or its rows are neither.
    """
    table = _checked(table)
    calibrations, answers = table[table["candidate"] != ""], table[table["candidate"] == ""]
    parts = [p for p in (*_calibrations(calibrations), *_settings(answers), *_changes(answers)) if len(p)]
    found = pd.concat(parts, ignore_index=True)
    return found.astype({"grade_1": "int64", "grade_2": "int64"})


def named(found: pd.DataFrame) -> pd.DataFrame:
    """The units with their grades as words; an unreadable verdict is null, as is one that is not there."""
    words = np.array([*GRADES, None, None], dtype=object)
    return found.assign(**{g: words[found[g]] for g in ("grade_1", "grade_2")})


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    table = graded(table)
    table = table.assign(**{column.name: typed(table, column) for column in FURTHER})
    wrong = ~table["candidate"].isin(("", *SHOWN))
    refuse(table, "candidate", wrong, f"must be empty, for a model's answer, or one of {', '.join(SHOWN)}")
    on_answers = table["candidate"] == ""
    wrong = on_answers & ~table["reference"].isin(SETTINGS)
    refuse(table, "reference", wrong, f"must be one of {', '.join(SETTINGS)} for a model's answer")
    truth = table["candidate"].map({"right": "CORRECT", "other": "INCORRECT"})
    wrong = ~on_answers & table["gold"].notna() & (table["gold"] != truth)
    refuse(table, "gold", wrong, "contradicts the candidate: right is CORRECT, other is INCORRECT")
    for name in HUMANS:
        rule = f"must be one of {', '.join(LABELS)}, or null where nobody labelled the answer"
        refuse(table, name, table[name].notna() & ~table[name].isin(LABELS), rule)
    return table


def _calibrations(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if rows.empty:
        return
    rows = rows.assign(reference="")
    base, at = _laid_out(rows)
    grades = _placed(base, at, codes(rows["candidate"], SHOWN), codes(rows["grade"], GRADES), len(SHOWN), ABSENT)
    yield base.assign(kind="calibration", grade_1=grades[:, 0], grade_2=grades[:, 1])


def _settings(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if rows.empty:
        return
    rows = rows.sort_values([*CELL, "item", "repeat"])
    told = rows[[*CELL, *ITEM, "repeat", "judge_family", *(c.name for c in FURTHER)]]
    yield told.assign(kind="setting", grade_1=codes(rows["grade"], GRADES), grade_2=ABSENT)


def _changes(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Every change of which a cell has both settings; an answer not judged in one of them has no grade there."""
    if rows.empty:
        return
    base, at = _laid_out(rows)
    setting = codes(rows["reference"], SETTINGS)
    grades = _placed(base, at, setting, codes(rows["grade"], GRADES), len(SETTINGS), ABSENT)
    texts = _placed(base, at, setting, rows["extracted"].to_numpy(dtype=object), len(SETTINGS), None)
    judged = grades != ABSENT
    cell = base.groupby(list(SETTING), dropna=False).ngroup()
    asked = pd.DataFrame(judged).groupby(cell).transform("any").to_numpy()
    for first, second in CHANGES:
        two = [SETTINGS.index(first), SETTINGS.index(second)]
        both = asked[:, two].all(axis=1) & judged[:, two].any(axis=1)
        told = {f"grade_{i}": grades[both, s] for i, s in enumerate(two, 1)}
        told |= {f"extracted_{i}": texts[both, s] for i, s in enumerate(two, 1)}
        yield base[both].assign(kind="change", reference=f"{first}{ARROW}{second}", **told)


def _laid_out(rows: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """One row for each answer and repeat, whatever the setting, and the place of each row's answer among them."""
    at = rows.groupby([*SETTING, "item", "repeat"], dropna=False, sort=True).ngroup().to_numpy().astype(np.int64)
    base = rows.iloc[np.unique(at, return_index=True)[1]][[*CELL, *ITEM, "repeat"]]
    return base.reset_index(drop=True), at


def _placed(
    base: pd.DataFrame, at: Codes, column: Codes, values: NDArray[Any], columns: int, fill: object
) -> NDArray[Any]:
    placed = np.full((len(base), columns), fill, dtype=values.dtype)
    placed[at, column] = values
    return placed
