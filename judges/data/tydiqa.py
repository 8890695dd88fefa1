"""TyDi QA, gold passage task: questions that speakers of a language asked, with the passage that answers them.

Upstream: github.com/google-research-datasets/tydiqa and the hub data set google-research-datasets/tydiqa, Apache-2.0,
passages CC BY-SA (Clark et al. 2020, arXiv 2003.05002). Of its languages these three are read: Arabic, English, Telugu.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judges.data.answered import answered, identified
from judges.data.fields import Record, records, text
from judges.data.files import files_in, read_object, read_parquet, within
from judges.data.hub import fetch
from judges.data.intake import Raw, Row, Source
from judges.records import Item, UserError

LANGUAGES = {"arabic": "ar", "english": "en", "telugu": "te"}
ALL = (*LANGUAGES, *["bengali", "finnish", "indonesian", "japanese", "korean", "russian", "swahili", "thai"])
HUB = {
    "goldp": ("google-research-datasets/tydiqa", "secondary_task/validation-00000-of-00001.parquet"),
    "answerable": ("copenlu/answerable_tydiqa", "data/validation-00000-of-00001-1f04eb244a33fa1b.parquet"),
}
PATTERNS = (
    *("*_dev.json", "*_tydiqa_dev.json", "*/*_tydiqa_dev.json", "language_data/*/*_tydiqa_dev.json"),
    *("tydiqa-goldp-*dev*.json", "validation-*.parquet", "*/validation-*.parquet"),
)


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the development questions from a folder or file, or from the hub if `path` is None.

    The context is the passage, the source the language by its English name.

    Args:
        path: a folder of `<language>_dev.json`, of a mirror's `<language>_tydiqa_dev.json`, of the upstream
            `tydiqa-goldp-v1.1-dev.json` or of the hub's Parquet, plain or .gz; or one such file.
        split: which hub data set to download: `goldp` (default), or `answerable`, copenlu/answerable_tydiqa, which the
            refsense paper (001, section 4) takes; its unanswerable half has no accepted answer and is left out. Files
            are read as what they are.

    Raises:
        UserError: an unknown split, or files that are missing or ill-formed.
    """
    split = split or "goldp"
    if split not in HUB:
        raise UserError(f"data.split={split} is unknown; tydiqa has {', '.join(HUB)}.")
    repo, name = HUB[split]
    rows: list[Row] = []
    sources: list[Source] = []
    for file, origin in fetch(repo, [name]) if path is None else _found(path):
        source, found = (_tabular if ".parquet" in file.suffixes else _nested)(file, origin)
        sources.append(source)
        rows += found
    return Raw(identified(rows), tuple(sources))


def _found(path: Path) -> list[tuple[Path, str]]:
    files = files_in(path)
    if path.is_dir():
        files = sorted(set(within(path, *PATTERNS)))
    if not files:
        raise UserError(f"data.path={path} holds no TyDi QA file; expected english_dev.json or its like, plain or .gz.")
    return [(file, "") for file in files]


def _nested(file: Path, origin: str) -> tuple[Source, list[Row]]:
    source, whole = read_object(file, origin)
    articles = [(article, f"{file}: data[{i}]") for i, article in enumerate(records(whole, "data", str(file)))]
    return source, [
        row
        for article, place in articles
        for paragraph in records(article, "paragraphs", place)
        for asked in records(paragraph, "qas", place)
        for row in _row(asked, text(paragraph, "context", place), _texts(asked, place), file.name, place)
    ]


def _texts(asked: Record, place: str) -> tuple[str, ...]:
    return tuple(text(answer, "text", place) for answer in records(asked, "answers", place))


def _tabular(file: Path, origin: str) -> tuple[Source, list[Row]]:
    source, found = read_parquet(file, origin)
    rows: list[Row] = []
    for place, record in found:
        if "annotations" in record:
            spoken = text(record, "language", place)
            asked = {"question": record.get("question_text"), "id": "", "language": spoken}
            answers = _column(record, "annotations", "answer_text", place)
            rows += _row(asked, text(record, "document_plaintext", place), answers, spoken, place)
        else:
            rows += _row(record, text(record, "context", place), _column(record, "answers", "text", place), "", place)
    return source, rows


def _column(record: Record, key: str, column: str, place: str) -> tuple[str, ...]:
    found: Any = record.get(key)
    if not isinstance(found, dict) or not isinstance(found.get(column), list):
        raise UserError(f"{place}: the field {key!r} must be an object with a list {column!r}.")
    return tuple(map(str, found[column]))


def _row(asked: Record, passage: str, answers: tuple[str, ...], hint: str, place: str) -> Iterator[Row]:
    """The question's row, if it is in one of the languages: as its id says, else as the file's name or column does."""
    name = text(asked, "id", place)
    hints = (name.partition("-")[0].lower(), *re.split(r"[^a-z]+", hint.lower()))
    language = next((one for one in hints if one in ALL), "")
    if not language:
        raise UserError(f"{place}: neither the id {name!r} nor {hint!r} tells a language of TyDi QA.")
    if language in LANGUAGES:
        item = Item(
            id=name,
            dataset="tydiqa",
            question=text(asked, "question", place),
            answers=answers,
            gold=None,
            source=language,
            context=passage,
            language=LANGUAGES[language],
        )
        yield answered(item, place)
