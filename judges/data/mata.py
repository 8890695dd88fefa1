"""MATA: questions that probe a model's Telugu, in seven categories; only its open-ended ones are read.

Upstream: the hub data set TeluguLLMResearch/MATA (Kranti and Vajjala, LREC 2026). No copy was at hand when this was
written: file and column names are therefore taken from lists (`NAMES`), and a file that fits none of them is refused
with the columns that it has. What the refsense paper (001, section 4) says of it: seven categories, 540 open-ended
questions beside multiple-choice ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from judges.data.answered import answered, identified
from judges.data.fields import Record
from judges.data.files import READERS, files_in, read_records
from judges.data.hub import fetch, listing
from judges.data.intake import Raw, Row, Source
from judges.records import Item, UserError

REPO = "TeluguLLMResearch/MATA"

NAMES = {
    "question": ("question", "question_text", "question_telugu", "query", "prompt"),
    "answer": ("answer", "correct_answer", "gold_answer", "ground_truth", "answer_text", "reference", "target"),
    "category": ("category", "question_category", "subcategory", "task", "domain", "topic"),
    "form": ("question_type", "format", "question_format", "answer_type", "type"),
    "options": ("options", "choices"),
    "id": ("id", "question_id", "qid", "uid"),
}
"""Column names by what they hold, the likeliest first; case and spaces do not matter."""

OPTIONS = "options to choose from"

_CHOICE = re.compile(r"mcq|choice|option", re.IGNORECASE)
_OPEN = re.compile(r"open|free|short", re.IGNORECASE)


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the open-ended questions from a folder or file, or from the hub if `path` is None.

    Questions with options, or that a column says are multiple-choice, are unfit. The source is the category.

    Args:
        path: a folder of JSONL, JSON, CSV, TSV or Parquet files, plain or .gz, or one such file. Where some names of
            files say `open`, only these are read.
        split: only files that have it in their name, such as `test`; None takes all.

    Raises:
        UserError: no such file, or one without a question or answer column.
    """
    rows: list[Row] = []
    sources: list[Source] = []
    for file, origin in _fetched(split) if path is None else _found(path, split):
        source, records = read_records(file, origin)
        sources.append(source)
        rows += [_row(record, place) for place, record in records]
    return Raw(identified(rows), tuple(sources))


def _fetched(split: str | None) -> Iterator[tuple[Path, str]]:
    commit, names = listing(REPO)
    return fetch(REPO, _chosen(names, split, f"the hub data set {REPO}"), commit)


def _found(path: Path, split: str | None) -> list[tuple[Path, str]]:
    files = files_in(path)
    if not path.is_dir():
        return [(file, "") for file in files]
    chosen = set(_chosen([file.name for file in files], split, f"data.path={path}"))
    return [(file, "") for file in files if file.name in chosen]


def _chosen(names: list[str], split: str | None, where: str) -> list[str]:
    data = [name for name in names if any(ending in READERS for ending in Path(name).suffixes)]
    fitting = [name for name in data if (split or "").lower() in name.lower()]
    if not fitting:
        part = f" of the split {split}" if split else ""
        raise UserError(
            f"{where} holds no MATA file{part}; found {', '.join(data) or 'none'}. "
            f"Expected a name that ends in {', '.join(READERS)}."
        )
    return [name for name in fitting if _OPEN.search(Path(name).name)] or fitting


def _row(record: Record, place: str) -> Row:
    column = {re.sub(r"[\s-]+", "_", name.strip().lower()): value for name, value in record.items()}
    form = next((value for value in _values(column, "form") if _CHOICE.search(value) or _OPEN.search(value)), "")
    options = any(_values(column, "options")) and not _OPEN.search(form)
    item = Item(
        id=next(_values(column, "id"), ""),
        dataset="mata",
        question=_needed(column, "question", place),
        answers=(_needed(column, "answer", place),),
        gold=None,
        source=next(_values(column, "category"), ""),
        language="te",
    )
    return answered(item, place, OPTIONS if options or _CHOICE.search(form) else "")


def _needed(column: Record, what: str, place: str) -> str:
    if not any(name in column for name in NAMES[what]):
        raise UserError(
            f"{place}: no column holds the {what}; looked for {', '.join(NAMES[what])}, found {', '.join(column)}."
        )
    return next(_values(column, what), "")


def _values(column: Record, what: str) -> Iterator[str]:
    """The texts in the columns for it that are not empty."""
    found = (column.get(name) for name in NAMES[what])
    return (str(value).strip() for value in found if value is not None and value != [] and str(value).strip())
