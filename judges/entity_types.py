"""What kind of thing an answer is: the kinds, and plain rules that tell some by the words of an English question."""

import re

ENTITY_TYPES = (
    "person",
    "place",
    "organization",
    "group",
    "work",
    "event",
    "date",
    "number",
    "living thing",
    "substance",
    "concept",
    "other",
)
UNKNOWN = "other"

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DATE = re.compile(
    rf"(?:\b(?:{_MONTHS})\b.*\d|\d.*\b(?:{_MONTHS})\b|\b(?:1\d|20)\d\ds?$|^(?:{_MONTHS})$|\bcentury\b|\d\s*(?:bce?|ad)\b)",
    re.I,
)
_NUMBER = re.compile(r"^\W*(?:about\s+|over\s+|approximately\s+)?[\d.,]+\W*(?:[^\W\d]+\W*){0,3}$", re.I)
_NUMBER_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
_NUMBER_WORD = re.compile(rf"^(?:{_NUMBER_WORDS})\b", re.I)
_PLACES = r"city|country|state|county|town|continent|river|capital|province|island|region|place|location|planet"
_WHO = r"^(?:who|whose|whom)\b|\bwho (?:is|was|are|were|sings?|sang|plays?|played|wrote|won)\b"
_ASKS_PLACE = rf"\b(?:what|which) (?:is the )?(?:{_PLACES})\b|\bcapital of\b"
_WHERE = rf"^where\b|\bwhere (?:is|was|are|were|does|did|do)\b|{_ASKS_PLACE}"
_WHEN = r"^when\b|\bwhat (?:year|date|day|month|century|time)\b|\bwhich year\b"
_HOW = r"\bhow (?:many|much|old|long|tall|far|high|deep|big|often|fast)\b"
_ASKED = {
    kind: re.compile(words, re.I)
    for kind, words in {"person": _WHO, "place": _WHERE, "date": _WHEN, "number": _HOW}.items()
}


def by_rule(question: str, answer: str) -> str:
    """The type that the form of the answer shows, or the word that the question begins with; `other` if neither does.

    A lower-case answer to any other question is a concept. Rules of English: of other languages they tell numbers.

    >>> by_rule("when was it published", "1890"), by_rule("who sang it", "Spektor"), by_rule("What is it?", "osmosis")
    ('date', 'person', 'concept')
    """
    asked = next((kind for kind, words in _ASKED.items() if words.search(question.strip())), "")
    if _DATE.search(answer) and asked in ("date", ""):
        return "date"
    if _NUMBER.search(answer) or (asked in ("number", "") and _NUMBER_WORD.search(answer)):
        return "date" if asked == "date" else "number"
    if asked:
        return asked
    return "concept" if answer.isascii() and answer.islower() else UNKNOWN
