"""The forms in which a value may stand in a text: is it there, whatever its case, script, number form or ending?

Meant to err towards finding a value: what it is used for is to say that none is left.
"""

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from judges.grounded.amounts import READINGS

_ENDINGS = r"(?:'s|s'|s|es|ed|d|ing|er|ers|ly|ian|ians|an|ans)?"
_ENDED = re.compile(r"(?P<stem>.{5,}?)(?:ed|ing)|(?P<plural>.{4,}?)(?:'s|s')|(?P<many>.{4,}[^su])s")
"""A word that has an ending itself, and is long enough to be known without it."""
_SHORT = 4
"""A word of fewer letters is looked for as it is: `cat` must not be found in `cats and dogs` by an ending alone."""
_OTHER = "\u0590"
"""From here on, scripts that join endings, and some of them whole words, to a word."""
_ARABIC = "\u0600", "\u06ff"
_ARTICLE = "\u0627\u0644"
_JOINED = rf"[\u0648\u0641\u0628\u0643\u0644\u0633]{{0,2}}(?:{_ARTICLE})?"
"""What may be joined to an Arabic word in front: and, so, with, like, to, will; the article."""
_UNSPACED = "\u2e80"
_BETWEEN = r"[\s,-]"
_SIGNS = str.maketrans(
    {dash: "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212"}  # Hyphens, dashes and the minus sign.
    | {"\u2019": "'", "\u066a": "%", "\u066b": ".", "\u066c": ","}  # Arabic signs of percent, decimals, thousands.
    | {
        "\u0623": "\u0627",
        "\u0625": "\u0627",
        "\u0622": "\u0627",
        "\u0649": "\u064a",
        "\u0629": "\u0647",
    }  # Alef and its like.
)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u0640\u064b-\u0652]")
"""Marks of direction and joining, and Arabic vowels, which a writer may set or leave out."""


def holds(text: str, value: str) -> bool:
    """Does the text state the value in one of its forms?

    >>> holds("A jump of forty-eight per cent.", "48%"), holds("48 percent more", "48%"), holds("148%", "48%")
    (True, True, False)
    >>> holds("The Jury's verdicts", "verdict"), holds("٤٨ years", "48"), holds("1,200 people", "1200")
    (True, True, True)
    >>> holds("on May 5th, 2020", "5 May 2020"), holds("a $5m prize", "5 million dollars"), holds("came second", "2nd")
    (True, True, True)
    """
    form = _form(flat(value))
    return form is not None and form.search(flat(text)) is not None


def share_changed(before: str, after: str) -> float:
    """The share of characters in words that differ, 0 to 1: those taken away or put in, of all in both texts.

    >>> share_changed("a 48% jump", "a 35% jump")
    0.2
    """
    old, new = (re.findall(r"\w+|\W", text) for text in (before, after))
    if not old and not new:
        return 0.0
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = sum(len(word) for block in blocks for word in old[block.a : block.a + block.size])
    return round(1 - 2 * same / (len(before) + len(after)), 4)


def flat(text: str) -> str:
    """Compatibility form, folded, without accents on Latin letters, digits of every script as 0 to 9, plain spaces."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    bare = unicodedata.normalize("NFC", re.sub("(?<=[a-z])[\u0300-\u036f]+", "", folded))
    digits = "".join(str(unicodedata.digit(ch)) if ch.isdigit() and not ch.isascii() else ch for ch in bare)
    return re.sub(r"\s+", " ", _UNSEEN.sub("", digits.translate(_SIGNS))).strip()


@lru_cache(maxsize=4096)
def _form(value: str) -> re.Pattern[str] | None:
    """A pattern of the value's parts one after the other; None where it has none."""
    parts = list(_parts(value))
    if not parts:
        return None
    form = parts[0][1]
    for (kind, _), (next_kind, part) in pairwise(parts):
        form += _BETWEEN + ("+" if kind == next_kind == "word" else "*") + part
    before = r"(?<!\w)" if parts[0][0] == "word" else ""
    return re.compile(before + form + (r"(?!\w)" if parts[-1][0] == "word" else ""))


def _parts(value: str) -> Iterator[tuple[str, str]]:
    """The amounts and words of a value, each as its kind and a pattern."""
    at = 0
    while at < len(value):
        for reading, write in READINGS:
            found = reading.match(value, at)
            if found and (pattern := write(found)):
                yield "amount", f"(?:{pattern})"
                at = found.end()
                break
        else:
            word = re.compile(r"[^\s-]+").match(value, at)
            if word and (told := word[0].strip(",;")):
                yield _word(told)
            at = word.end() if word else at + 1
        at += len(value[at:]) - len(value[at:].lstrip(" ,-"))


def _word(word: str) -> tuple[str, str]:
    if max(word) >= _OTHER:
        return _foreign(word)
    own = re.escape(word)
    if len(word) < _SHORT or not re.sub("'s?$", "", word).isalpha():
        return "word", own + r"(?:'s)?"
    if y := re.fullmatch(r"(.{2,}[^aeiou])(?:y|ies|ied)", word):
        return "word", rf"{re.escape(y[1])}(?:y(?:'s|ing)?|ies|ied)"
    ended = _ENDED.fullmatch(word)
    stem = next(filter(None, ended.groups())) if ended else word
    stem = stem[:-1] if stem.endswith("e") else stem
    return "word", rf"(?:{own}|{re.escape(stem)}e?){_ENDINGS}"


def _foreign(word: str) -> tuple[str, str]:
    """A word of a script that joins things to it: Arabic before and behind, Telugu and its like behind."""
    stem = word
    while len(stem) > 1 and unicodedata.category(stem[-1]) in ("Mn", "Mc"):
        stem = stem[:-1]  # The vowel sign that an ending takes the place of.
    if len(word) < (2 if max(word) >= _UNSPACED else 3):
        return "word", re.escape(word)
    if _ARABIC[0] <= max(word) <= _ARABIC[1]:
        return "joined", rf"(?<!\w){_JOINED}{re.escape(stem.removeprefix(_ARTICLE))}"
    return "joined", ("" if max(word) >= _UNSPACED else r"(?<!\w)") + re.escape(stem)
