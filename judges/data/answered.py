"""Makes rows of questions that come with all their accepted answers; knows no file format."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from judges.data.intake import GOLD, Row, plain
from judges.records import Item

NO_QUESTION = "no question"
NO_ANSWER = "no accepted answer"


def answered(item: Item, place: str, unfit: str = "") -> Row:
    """The row of a question whose `answers` are all that its file accepts, as they stand there, the primary one first.

    Answers are trimmed and lose what is empty or repeated; the first that is left becomes the reference `gold`. A
    question without text or answers is unfit, unless it already is for the reason given.
    """
    question, answers = item.question.strip(), distinct(item.answers)
    why = unfit or ("" if question else NO_QUESTION) or ("" if answers else NO_ANSWER)
    references = {GOLD: answers[0]} if answers else {}
    return Row(replace(item, question=question, answers=answers, references=references), place, why)


def distinct(answers: Iterable[str]) -> tuple[str, ...]:
    """The texts, trimmed, without empty ones and without repeats (canonically equivalent ones are the same), in order.

    >>> distinct(["two", " two ", "", "2"])
    ('two', '2')
    """
    first: dict[str, str] = {}
    for answer in map(str.strip, answers):
        if answer:
            first.setdefault(answer if answer.isascii() else unicodedata.normalize("NFC", answer), answer)
    return tuple(first.values())


def identified(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with an id each: items without one get the first 10 hex digits of their question's sha256.

    A question that comes again gets `-2`, `-3`, ... behind it. An id that occurs in several languages gets its language
    before it. Ids that occur twice in one language stay: the files are at fault, and intake says so.
    """
    rows = _named(rows)
    languages: dict[str, set[str]] = {}
    for row in rows:
        languages.setdefault(row.item.id, set()).add(row.item.language)
    return tuple(
        replace(row, item=replace(row.item, id=f"{row.item.language}:{row.item.id}"))
        if len(languages[row.item.id]) > 1
        else row
        for row in rows
    )


def _named(rows: Sequence[Row]) -> list[Row]:
    seen: Counter[str] = Counter()
    named = []
    for row in rows:
        if not (name := row.item.id):
            name = hashlib.sha256(plain(row.item.question).encode("utf-8", "replace")).hexdigest()[:10]
            seen[name] += 1
            name += f"-{seen[name]}" if seen[name] > 1 else ""
        named.append(row if row.item.id else replace(row, item=replace(row.item, id=name)))
    return named
