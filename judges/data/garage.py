"""GaRAGe: questions with long answers written by people, and annotated passages from the web and private documents.

Upstream: github.com/amazon-science/GaRAGe, CC BY-NC 4.0 (Sorodoc et al. 2025, arXiv 2506.07671): 2,366 questions,
35,351 passages. The data set itself was not at hand: the reader follows its README, and takes what that leaves open
either way.
"""

import re
from pathlib import Path

from judges.data.fields import Record, kind, records, text, texts
from judges.data.files import locate, read_lines
from judges.data.intake import Source
from judges.data.passages import Grounded, Passage
from judges.data.pinned import fetch
from judges.records import UserError

COMMIT = "2b7264f5d4e066affbe4b67b7d3b9cffeff98ede"
NAME = "data/GaRAGe_benchmark.jsonl"
ORIGIN = f"https://raw.githubusercontent.com/amazon-science/GaRAGe/{COMMIT}"
SHA256 = "419e3941f6e8eb4082a74ca2140c1f9337f8b467ff76656a6b8b0290ca3f3a72"

_ANSWERS = "ANSWER-THE-QUESTION"
_MARKER = re.compile(r"cite_?\d+")
_SAID = {"YES": True, "TRUE": True, "NO": False, "FALSE": False, "": False}


def read(path: Path | None) -> tuple[Source, list[tuple[str, Grounded]]]:
    """Reads the records from a folder or file, or from the pinned commit of the repository if `path` is None.

    Args:
        path: the repository's folder, or one of `GaRAGe_benchmark.jsonl`, plain or .gz, or a file in its schema.

    Returns:
        The file's provenance, and each record with its place, `FILE:LINE`.

    Raises:
        UserError: the file is missing, or names the place and field that is missing or ill-formed.
    """
    if path is None:
        file, origin = fetch(f"{ORIGIN}/{NAME}", Path("GaRAGe", COMMIT, NAME), SHA256), f"{ORIGIN}/{NAME}"
    else:
        file, origin = locate(path, "GaRAGe_benchmark.jsonl", NAME), ""
    return read_file(file, origin)


def read_file(file: Path, origin: str = "") -> tuple[Source, list[tuple[str, Grounded]]]:
    """Reads a file in the schema of GaRAGe."""
    source, found = read_lines(file, origin)
    return source, [(place, _grounded(record, place)) for place, record in found]


def _grounded(record: Record, place: str) -> Grounded:
    return Grounded(
        id=text(record, "sample_id", place),
        question=text(record, "question", place),
        answer=text(record, "answer_generate", place),
        passages=_passages(record, place),
        date=str(record.get("question_date", "")),
        question_valid=_said(record, "question_valid", place),
        false_premise=_said(record, "question_false_premise", place),
        seeking=_said(record, "question_seeking", place),
        answer_validate=_said(record, "answer_validate", place),
        question_type=str(record.get("question_type") or ""),
        complexity=text(record, "question_complexity", place),
        category=_domain(text(record, "question_category", place)),
        popularity=text(record, "question_popularity", place),
    )


def _passages(record: Record, place: str) -> tuple[Passage, ...]:
    found, tags = records(record, "grounding", place), texts(record, "evidence_correct", place)
    if len(tags) != len(found):
        raise UserError(f"{place}: {len(tags)} tags in 'evidence_correct' for {len(found)} passages in 'grounding'.")
    return tuple(
        Passage(
            id=f"cite_{i}",
            text=_cited(passage, f"{place}, passage {i}"),
            date=str(passage.get("date", "")),
            provider=str(passage.get("provider", "")),
            answers=tag.strip().upper() == _ANSWERS,
        )
        for i, (passage, tag) in enumerate(zip(found, tags, strict=True), 1)
    )


def _cited(passage: Record, place: str) -> str:
    """The text under the citation marker, whatever number that has."""
    marker = next((key for key in passage if _MARKER.fullmatch(key)), "text")
    if marker not in passage:
        raise UserError(f"{place}: no field such as 'cite_1' holds the text; found {', '.join(map(repr, passage))}.")
    return text(passage, marker, place)


def _said(record: Record, key: str, place: str) -> bool:
    """What YES, NO, true, false or an empty field says."""
    found = record.get(key, "") if record.get(key, "") is not None else ""
    if key not in record:
        text(record, key, place)
    if str(found).strip().upper() not in _SAID:
        raise UserError(f"{place}: the field {key!r} must be YES or NO, not {found!r} ({kind(found)}).")
    return _SAID[str(found).strip().upper()]


def _domain(category: str) -> str:
    """The topmost of a category's levels: `/Sports/Team Sports` gives `Sports`."""
    return category.strip().strip("/").partition("/")[0].strip()
