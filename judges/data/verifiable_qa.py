"""Our own questions with short answers that can be checked, the same ones in English, Arabic and Telugu.

Built from tables and a fixed seed, the same bytes on every Python, with nothing to download. Answers are numbers, dates
and names of things that do not change. `popularity` is set for persons only and counts no page views: it is the place
in a list that we ordered by how widely known we take the person to be, the highest for the best known.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judges.data import facts_calendar, facts_nature, facts_numbers, facts_people, facts_places
from judges.data.answered import answered
from judges.data.facts import LANGUAGES, Fact
from judges.data.intake import Raw, Source, digest
from judges.records import Item, UserError

SEED = 7

KINDS: Mapping[str, Sequence[Fact]] = {
    "number": facts_numbers.numbers(SEED),
    "date": facts_calendar.dates(SEED),
    "year": facts_numbers.years(),
    "month": facts_calendar.months(),
    "weekday": facts_calendar.weekdays(),
    "city": facts_places.capitals(),
    "country": facts_places.countries(),
    "river": facts_places.rivers(),
    "element": facts_nature.elements(),
    "planet": facts_nature.planets(),
    "animal": facts_nature.animals(),
    "person": facts_people.persons(),
}
"""By the entity type of the answer. Within a kind no answer is an alias of another's."""


def read(path: Path | None, split: str | None) -> Raw:
    """Builds the data set; nothing is read, so `path` and `split` must be None."""
    if path is not None or split is not None:
        raise UserError("verifiable_qa is generated and has no splits; leave data.path and data.split null.")
    rows = tuple(answered(item, item.id) for item in generate())
    return Raw(rows, (Source(f"generated, seed {SEED}", digest(tuple(row.item for row in rows))),))


def generate() -> tuple[Item, ...]:
    """All questions, those of a fact in its languages next to each other and in one group.

    An item accepts the answer in its own language first, then as the other languages write it.
    """
    return tuple(
        item for kind, facts in KINDS.items() for i, fact in enumerate(facts) for item in _items(kind, i, fact)
    )


def _items(kind: str, index: int, fact: Fact) -> Iterator[Item]:
    name = f"verifiable_qa-{kind}-{index:02}"
    for language in LANGUAGES:
        if question := fact.asked.get(language):
            others = (text for other in LANGUAGES if other != language for text in fact.accepted.get(other, ()))
            yield Item(
                id=f"{name}-{language}",
                dataset="verifiable_qa",
                question=question,
                answers=(*fact.accepted[language], *others),
                gold=None,
                source=kind,
                group=name,
                language=language,
                entity_type=kind,
                popularity=fact.popularity,
            )
