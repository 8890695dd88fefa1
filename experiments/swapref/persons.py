"""Persons and how well they are known, for the swaps by popularity: those of PopQA, or of the data set itself."""

import re
from collections.abc import Iterable, Mapping

from experiments.swapref import Settings
from judges.data import load, popqa
from judges.records import Item, UserError

Visits = Mapping[str, Mapping[str, int]]
"""From a language to page views by person, each named as that language does."""
_ABOUT_PERSONS = ("occupation", "place of birth")
"""Relations whose subjects, whose page views PopQA counts, are people; parents have racehorses, too."""
_SUBJECTS = tuple(re.compile(popqa.TEMPLATES[name].replace(".+", "(.+)"), re.S) for name in _ABOUT_PERSONS)


def visits(settings: Settings) -> Visits:
    """Of `persons=`; else of the data set itself, if it ranks its persons; else of PopQA, downloaded.

    PopQA names them in English: they stand in for answers in English, or in a language that is not said.

    Raises:
        UserError: PopQA can't be had.
    """
    if settings.persons is None and settings.data.name == "verifiable_qa":
        return ranked(load("verifiable_qa").items)
    own = settings.data.path if settings.data.name == "popqa" else None
    try:
        named = subjects(load("popqa", settings.persons or own).items)
    except UserError as error:
        raise UserError(f"swaps by popularity take persons from PopQA; give its folder as persons=. {error}") from error
    return {"en": named, "": named}


def subjects(items: Iterable[Item]) -> dict[str, int]:
    """The people whom questions of PopQA are about, with their page views.

    >>> subjects([Item("1", "popqa", "What is Ada Lovelace's occupation?", ("poet",), None, popularity=70)])
    {'Ada Lovelace': 70}
    """
    found: dict[str, int] = {}
    for item in items:
        for template in _SUBJECTS:
            if item.popularity is not None and (match := template.fullmatch(item.question)):
                found[match[1]] = max(item.popularity, found.get(match[1], 0))
    return found


def ranked(items: Iterable[Item]) -> Visits:
    """The people who are answers of a data set that says how widely known they are, by language."""
    found: dict[str, dict[str, int]] = {}
    for item in items:
        if item.entity_type == "person" and item.popularity is not None:
            found.setdefault(item.language, {})[item.answers[0]] = item.popularity
    return found
