"""Review files: one row a case and reviewer, as a spreadsheet may leave them; knows nothing of what answers mean.

Columns: case (its id), item, generator, judge (for people; the id alone counts), label_ok and judge_ok (yes, no,
unclear or empty), reviewer, comment. Others ride along and are not read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis import files
from analysis.columns import TableError
from analysis.spreadsheet import restore

FIELDS = ("case", "item", "generator", "judge", "label_ok", "judge_ok", "reviewer", "comment")
NEEDED = ("case", "label_ok", "judge_ok")
SPELLINGS = {
    "yes": ("yes", "y", "true", "t", "1", "1.0", "ok", "x"),
    "no": ("no", "n", "false", "f", "0", "0.0"),
    "unclear": ("unclear", "unsure", "?", "maybe"),
    "": ("", "-", "–"),
}
MEANING = {spelling: answer for answer, spellings in SPELLINGS.items() for spelling in spellings}
DELIMITERS = (",", ";", "\t")
NAMED = 5
"""Cases that a remark names."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a review file holds."""

    rows: pd.DataFrame
    """`FIELDS`, answers as yes, no, unclear or empty; and row, its number in the spreadsheet, where the head is 1."""
    said: tuple[str, ...]
    """What the reader should know: what was dropped, changed or read otherwise than it is written."""


def blank(cases: pd.DataFrame, reviewer: str = "") -> pd.DataFrame:
    """A review file to fill in: the queue's cases, no answers."""
    shown = cases[["case", "item", "generator", "judge"]]
    return shown.assign(label_ok="", judge_ok="", reviewer=reviewer, comment="")[list(FIELDS)]


def save(reviews: pd.DataFrame, path: Path) -> None:
    """Writes a review file that is safe to open in a spreadsheet."""
    files.save(reviews[list(FIELDS)], path)


def parse(path: Path, cases: pd.DataFrame | None = None) -> Review:
    """Reads a review file, however a spreadsheet has saved it.

    Delimiters, quotes, byte order marks, capitals and the spelling of answers may differ from what was written; so may
    all columns but the case's id and the answers.

    Args:
        path: a .csv, .tsv or .txt file.
        cases: of the queue, to say which are missing; None: any case is taken.

    Raises:
        TableError: it is no such file, lacks a column, has an answer or case that nobody knows, or two different rows
            for one case and reviewer; names the row as a spreadsheet counts it.
    """
    said: list[str] = []
    records = _records(_text(path, said), path)
    rows = pd.DataFrame([_read(record, path) for record in records], columns=[*FIELDS, "row"])
    rows = rows.assign(**{name: restore(rows[name].astype(str)) for name in ("item", "generator", "judge", "comment")})
    rows = _without_repeats(rows, path, said)
    if cases is not None:
        _check_cases(rows, cases, path, said)
    return Review(rows.reset_index(drop=True), tuple(said))


def _text(path: Path, said: list[str]) -> str:
    try:
        content = path.read_bytes()
    except OSError as e:
        raise TableError(f"{path} cannot be read: {e}") from e
    if content[:2] == b"PK":
        raise TableError(f"{path} is a spreadsheet's own file; save it as CSV and give that")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        said.append(f"{path.name} is not in UTF-8; it was read as Windows-1252, check its comments")
        return content.decode("cp1252", "replace")


def _records(text: str, path: Path) -> list[tuple[int, dict[str, str]]]:
    """Row number and cells by column, without empty rows."""
    first, _, rest = text.partition("\n")
    text = rest if first.strip().casefold().startswith("sep=") else text
    tables = {d: list(csv.reader(io.StringIO(text, newline=""), delimiter=d)) for d in DELIMITERS}
    table = max(tables.values(), key=lambda rows: len(set(_head(rows)) & set(FIELDS)))
    head = _head(table)
    missing = [name for name in NEEDED if name not in head]
    if missing:
        known = ", ".join(filter(None, head)) or "none"
        raise TableError(f"{path} has no column {', '.join(map(repr, missing))}; its columns are {known}")
    twice = next((name for name in FIELDS if head.count(name) > 1), None)
    if twice:
        raise TableError(f"{path} has two columns {twice!r}; keep one of them")
    found = []
    for number, cells in enumerate(table[1:], 2):
        if any(cell.strip() for cell in cells[len(head) :]):
            raise TableError(f"{path} row {number} has more cells than the head; is a comment without its quotes?")
        if any(cell.strip() for cell in cells):
            found.append((number, dict(zip(head, [cell.strip() for cell in cells], strict=False))))
    return found


def _head(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["_".join(name.strip().casefold().replace("-", " ").split()) for name in rows[0]] if rows else []


def _read(record: tuple[int, dict[str, str]], path: Path) -> tuple[str | int, ...]:
    number, cells = record
    if not cells.get("case"):
        raise TableError(f"{path} row {number} has no case")
    answers = {name: _answer(cells.get(name, ""), name, number, path) for name in ("label_ok", "judge_ok")}
    return *((cells | answers).get(name, "") for name in FIELDS), number


def _answer(cell: str, name: str, number: int, path: Path) -> str:
    if cell.casefold() not in MEANING:
        raise TableError(f"{path} row {number}, column {name!r}: {cell!r} is none of yes, no, unclear, or empty")
    return MEANING[cell.casefold()]


def _without_repeats(rows: pd.DataFrame, path: Path, said: list[str]) -> pd.DataFrame:
    key = ["case", "reviewer"]
    kept = rows.drop_duplicates([*key, "label_ok", "judge_ok"])
    again = kept[kept.duplicated(key, keep=False)]
    if len(again):
        one = again[(again[key] == again[key].iloc[0]).all(axis=1)]
        numbers = " and ".join(map(str, one["row"]))
        raise TableError(f"{path} rows {numbers} answer {one['case'].iloc[0]} differently; keep one of them")
    if len(kept) < len(rows):
        said.append(f"{len(rows) - len(kept):,} rows repeat an earlier one and were left out")
    return kept


def _check_cases(rows: pd.DataFrame, cases: pd.DataFrame, path: Path, said: list[str]) -> None:
    known = cases.set_index("case")
    strange = rows[~rows["case"].isin(known.index)]
    if len(strange):
        one = strange.iloc[0]
        raise TableError(f"{path} row {one['row']}: no case of the queue is called {one['case']!r}")
    missing = known.index[~known.index.isin(rows["case"])]
    if len(missing):
        said.append(f"{len(missing):,} of {len(known):,} cases of the queue are not in {path.name}: {_named(missing)}")
    for name in ("item", "generator", "judge"):
        ours = rows["case"].map(known[name]).astype(str)
        changed = rows[(rows[name] != "") & (rows[name] != ours)]
        if len(changed):
            said.append(
                f"column {name!r} was changed in {len(changed):,} rows; cases go by their id: {_named(changed['case'])}"
            )


def _named(cases: Iterable[str]) -> str:
    names = list(dict.fromkeys(cases))
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
