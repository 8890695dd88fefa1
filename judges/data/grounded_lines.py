"""Any JSONL of questions with answers and passages, as grounded records."""

from pathlib import Path
from typing import Any

from judges.data.fields import Record, kind, text
from judges.data.files import locate, read_lines
from judges.data.intake import Source
from judges.data.passages import Grounded, Passage
from judges.records import UserError


def read(path: Path | None) -> tuple[Source, list[tuple[str, Grounded]]]:
    """Reads a file, or the first `*.jsonl` of a folder, plain or .gz.

    A line has `question`, `answer` and `passages`: a list of texts, or of objects with `text` and perhaps `id`, `date`,
    `provider` and `answers` (true or false). It may have an `id` and any field of `Grounded`.

    Raises:
        UserError: no path, or names the place and the field that is missing or ill-formed.
    """
    if path is None:
        raise UserError("grounded_jsonl reads a file of yours; give data.path=FILE.jsonl.")
    source, found = read_lines(locate(path, "*.jsonl"))
    return source, [(place, _grounded(record, place, i)) for i, (place, record) in enumerate(found)]


def _grounded(record: Record, place: str, index: int) -> Grounded:
    passages = record.get("passages")
    if not isinstance(passages, list):
        raise UserError(f"{place}: the field 'passages' must be a list of texts or objects, not {kind(passages)}.")
    return Grounded(
        id=str(record.get("id", f"record-{index:05}")),
        question=text(record, "question", place),
        answer=text(record, "answer", place),
        passages=tuple(_passage(one, f"{place}, passage {i}", i) for i, one in enumerate(passages, 1)),
        date=str(record.get("date", "")),
        question_valid=_said(record, "question_valid", place),
        false_premise=_said(record, "false_premise", place),
        seeking=_said(record, "seeking", place),
        answer_validate=_said(record, "answer_validate", place),
        question_type=str(record.get("question_type", "")),
        complexity=str(record.get("complexity", "")),
        category=str(record.get("category", "")),
        popularity=str(record.get("popularity", "")),
    )


def _passage(given: Any, place: str, index: int) -> Passage:
    if isinstance(given, str):
        return Passage(f"p{index}", given)
    if not isinstance(given, dict):
        raise UserError(f"{place}: must be a text or an object with 'text', not {kind(given)}.")
    return Passage(
        id=str(given.get("id", f"p{index}")),
        text=text(given, "text", place),
        date=str(given.get("date", "")),
        provider=str(given.get("provider", "")),
        answers=_said(given, "answers", place),
    )


def _said(record: Record, key: str, place: str) -> bool | None:
    found = record.get(key)
    if found is not None and not isinstance(found, bool):
        raise UserError(f"{place}: the field {key!r} must be true or false, or left out; it is {kind(found)}.")
    return found
