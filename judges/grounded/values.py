"""The forms in which a value may stand in a text: is it there, whatever its case, script, number form or ending?

Meant to err towards finding a value: what it is used for is to say that none is left.
"""

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"), (100, "hundred"))
_PERCENT = r"\s*(?:%|per\s?cent(?:age points)?)"
_NUMBER = re.compile(r"[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?")
_ENDINGS = r"(?:['’]s|s['’]|s|es|ed|d|ing|er|ers|ly|ian|ians|an|ans)?"
_SHORT = 4
"""A word of fewer letters is looked for as it is: `cat` must not be found in `cats and dogs` by an ending alone."""


def holds(text: str, value: str) -> bool:
    """Does the text state the value in one of its forms?

    >>> holds("A jump of forty-eight per cent.", "48%"), holds("48 percent more", "48%"), holds("148%", "48%")
    (True, True, False)
    >>> holds("The Jury's verdicts", "verdict"), holds("٤٨ years", "48"), holds("1,200 people", "1200")
    (True, True, True)
    """
    if not value.strip():
        return False
    return any(form.search(_plain(text)) for form in _forms(_plain(value)))


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


def _plain(text: str) -> str:
    """Compatibility form, folded, with digits of every script as 0 to 9 and one space between words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    digits = "".join(str(unicodedata.digit(ch)) if ch.isdigit() and not ch.isascii() else ch for ch in folded)
    return re.sub(r"\s+", " ", digits).replace("’", "'").strip()


@lru_cache(maxsize=4096)
def _forms(value: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form) for form in _spellings(value))


def _spellings(value: str) -> Iterator[str]:
    number = re.fullmatch(rf"({_NUMBER.pattern})({_PERCENT})?", value)
    if number:
        plain = number[1].replace(",", "").replace("−", "-")
        percent = _PERCENT if number[2] else ""
        yield rf"(?<!\d)(?<!\d[.,]){_digits(plain)}{percent}(?![\d]|[.,]\d)"
        if re.fullmatch(r"\d+", plain) and int(plain) < 10**12:
            yield _bounded(re.sub(r"[\s-]+", r"[\\s-]+(?:and\\s+)?", _in_words(int(plain)))) + percent
        return
    yield _bounded(r"[\s-]+".join(_word(word) for word in re.split(r"[\s-]+", value) if word))
    if (counted := _from_words(value)) is not None:
        yield rf"(?<!\d)(?<!\d[.,]){_digits(str(counted))}(?![\d]|[.,]\d)"


def _word(word: str) -> str:
    own = re.escape(word)
    if len(word) < _SHORT or not word.isalpha():
        return own + r"(?:'s)?"
    if word.endswith("y"):
        return rf"(?:{own}(?:'s)?|{re.escape(word[:-1])}ies|{re.escape(word[:-1])}ied)"
    stem = word[:-1] if word.endswith("e") else word
    return rf"{re.escape(stem)}{'e?' if stem != word else ''}{_ENDINGS}"


def _bounded(form: str) -> str:
    return rf"(?<!\w){form}(?!\w)"


def _digits(plain: str) -> str:
    """A number with or without separators between its thousands."""
    whole, _, part = plain.partition(".")
    groups = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", whole)
    return groups + (rf"\.{part}0*" if part else r"(?:\.0+)?")


def _in_words(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    for size, name in _SCALES:
        if number >= size:
            many, rest = divmod(number, size)
            return f"{_in_words(many)} {name}" + (f" {_in_words(rest)}" if rest else "")
    raise AssertionError(number)


def _from_words(value: str) -> int | None:
    """The whole number below a hundred that a value spells out, if it does.

    >>> _from_words("forty-eight"), _from_words("two"), _from_words("two dogs")
    (48, 2, None)
    """
    spelt = re.sub(r"[\s-]+", "-", value)
    return next((n for n in range(100) if _in_words(n) == spelt), None)
