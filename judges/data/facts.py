"""A fact as questions and accepted answers in several languages, and the digits of each."""

from collections.abc import Mapping
from dataclasses import dataclass

LANGUAGES = ("en", "ar", "te")
DIGITS = {"en": "0123456789", "ar": "٠١٢٣٤٥٦٧٨٩", "te": "౦౧౨౩౪౫౬౭౮౯"}

Answers = Mapping[str, tuple[str, ...]]
"""Language to the answers accepted in it, the primary one first."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact; a language without a question asks none."""

    asked: Mapping[str, str]
    accepted: Answers
    popularity: int | None = None


def digits(text: str, language: str) -> str:
    """The text with its digits as the language writes them: `digits("48", "ar")` gives `٤٨`."""
    return text.translate(str.maketrans(DIGITS["en"], DIGITS[language]))


def table(text: str) -> list[dict[str, tuple[str, ...]]]:
    """Rows of names: one thing a line, its languages in the order of `LANGUAGES` between bars, aliases between slashes.

    >>> table("Rome | روما | రోమ్")[0]["en"], table("tin/stannum")
    (('Rome',), [{'en': ('tin', 'stannum')}])
    """
    rows = (line.split("|") for line in text.strip().splitlines())
    return [
        {lang: tuple(map(str.strip, cell.split("/"))) for lang, cell in zip(LANGUAGES, row, strict=False)}
        for row in rows
    ]


def templated(questions: Mapping[str, str], about: str, answers: str) -> tuple[Fact, ...]:
    """A fact for each line of two tables: `{x}` in a question becomes the name of what it is about."""
    return tuple(
        Fact({lang: text.replace("{x}", named[lang][0]) for lang, text in questions.items()}, accepted)
        for named, accepted in zip(table(about), table(answers), strict=True)
    )
