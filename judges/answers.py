"""Short answers compared as text: are two the same, and does a sentence name one? Plain code, no model.

Works on Unicode: forms, case, digits of any script, marks and direction signs that don't change a word.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Vowel points and lengthening strokes that Arabic writes or leaves out; accents on Latin, Greek and Cyrillic letters.
# The vowel signs of Telugu and its neighbours lie outside these ranges: they are letters, not decoration.
_OPTIONAL_MARKS = re.compile("[\u0640\u064b-\u0652\u0670\u0300-\u036f]")
_GROUPED = re.compile(r"(?<=\d)[,\u066c](?=\d{3}(?!\d))")
_KEPT = re.compile(r"(?<=\d)\.(?=\d)|(?<!\S)-(?=\d)")
_ARTICLES = frozenset(("a", "an", "the"))
_MINUS = str.maketrans({"\u2212": "-", "\u066b": "."})


@lru_cache(maxsize=1 << 18)
def normal(text: str) -> str:
    r"""The words of a text in one form: lower case, one space between them, no punctuation, no article in front.

    Digits of any script become 0 to 9; grouping commas go, decimal points and a minus sign stay.

    >>> normal("The  “Élysée” Palace!"), normal("١٬٢٣٤"), normal("-3.50 °C")
    ('elysee palace', '1234', '-3.50 c')
    """
    if not text.isascii():
        text = _unmarked(text)
    text = _GROUPED.sub("", text.casefold())
    kept = {match.start() for match in _KEPT.finditer(text)}
    words = "".join(c if c.isalnum() or i in kept or _is_sign(c) else " " for i, c in enumerate(text)).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)


def same(one: str, other: str) -> bool:
    """Are two answers the same once normalised? Two that normalise to nothing (`?`, `!`) are compared as they stand.

    >>> same("Paris.", "paris"), same("10", "100"), same("?", "!")
    (True, False, False)
    """
    left, right = normal(one), normal(other)
    return left == right if left or right else one.strip() == other.strip()


def names(text: str, answer: str) -> bool:
    """Does a text name an answer: are the answer's words among the text's, side by side?

    Words count as wholes, so that 10 is not in 100 and `art` is not in `party`. An answer in a script without capital
    letters may stand inside a longer word, because many of those scripts join prefixes and suffixes to a name; they
    join them to numbers and to names in other scripts, too.

    >>> names("There are 10 campuses.", "10"), names("There are 100 campuses.", "10")
    (True, False)
    >>> names("ఇది హైదరాబాద్‌లో ఉంది", "హైదరాబాద్"), names("It was Paris's first.", "Paris"), names("1947లో", "1947")
    (True, True, True)
    """
    whole, part = normal(text), normal(answer)
    if not part:
        return bool(answer.strip()) and answer.strip() in text
    if f" {part} " in f" {whole} ":
        return True
    if part not in whole:
        return False
    return len(part) > 1 if _joined(part) else _among_affixes(part, whole)


def names_any(text: str, answers: Iterable[str]) -> bool:
    """Does a text name any of the answers?"""
    return any(names(text, answer) for answer in answers)


def overlap(answer: str, accepted: Iterable[str]) -> bool:
    """Can't an answer be told from the accepted ones: is it one of them, or does either name the other?

    >>> overlap("Washington", ["George Washington"]), overlap("Paris, France", ["Paris"]), overlap("Rome", ["Paris"])
    (True, True, False)
    """
    return any(same(answer, a) or names(answer, a) or names(a, answer) for a in accepted)


def forms(accepted: Iterable[str]) -> frozenset[str]:
    """Accepted answers, normalised: two questions that share one of these ask for the same thing.

    >>> forms(["Rome", "Roma"]) & forms(["ROMA"])
    frozenset({'roma'})
    """
    return frozenset(normal(answer) or answer.strip() for answer in accepted)


def _unmarked(text: str) -> str:
    """Compatibility forms folded, optional marks and invisible signs gone, digits of any script as 0 to 9."""
    text = _OPTIONAL_MARKS.sub("", unicodedata.normalize("NFKD", text.translate(_MINUS)))
    text = "".join(c for c in text if c.isascii() or unicodedata.category(c) != "Cf")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in unicodedata.normalize("NFKC", text))


def _is_sign(character: str) -> bool:
    """A vowel sign or other mark: part of the letter before it."""
    return not character.isascii() and unicodedata.category(character)[0] == "M"


def _joined(text: str) -> bool:
    return all(c.isspace() or _is_sign(c) or _is_caseless(c) for c in text)


def _is_caseless(character: str) -> bool:
    return character.isalpha() and character.upper() == character.lower()


def _among_affixes(part: str, whole: str) -> bool:
    """Is it there with nothing but spaces and letters of a script without capital letters next to it?"""
    ends = ((m.start() - 1, m.end()) for m in re.finditer(re.escape(part), whole))
    around = ((" " if i < 0 else whole[i], whole[j : j + 1] or " ") for i, j in ends)
    return any(all(c == " " or _is_caseless(c) for c in pair) for pair in around)
