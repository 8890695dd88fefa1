"""The ways in which a number or a rank is written, as patterns for text that `values.flat` has flattened."""

import re
from decimal import Decimal

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SIZES = {"trillion": 10**12, "billion": 10**9, "million": 10**6, "thousand": 10**3, "hundred": 10**2}
_SHORT = {"trillion": "tn|trn", "billion": "bn", "million": "mn|mln", "thousand": "k", "hundred": ""}
_MONEY = {"billion": "b", "million": "m"}
"""Letters that mean so many only in sums of money: 5m may be a length."""
_RANKS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_WORD = rf"(?:{'|'.join((*_ONES[::-1], *_TENS))})"
_SIZE = rf"(?:{'|'.join(_SIZES)})"
_MORE = r"(?<!ty[\s-])" + "".join(rf"(?<!{size}\s)(?<!{size}\sand\s)" for size in _SIZES)
"""What comes after a word for tens or hundreds is the rest of a larger number."""

DIGITS = r"\d{1,3}(?:[,']\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
SPELT = rf"(?:an?\s(?={_SIZE}\b)|{_WORD}\b[\s-]?)(?:(?:and\s)?(?:{_WORD}|{_SIZE})\b[\s-]?)*(?<![\s-])"
SCALED = rf"(?:{DIGITS})(?:\s?-?(?:{_SIZE}|tn|trn|bn|mn|mln|k)\b)?|{SPELT}"
"""A number in a value: 48, 1,200.5, 5 million, forty-eight, a hundred and two."""


def quantity(written: str) -> Decimal | None:
    """The number that matches `SCALED` or the like; None where words make none, or digits are too many to be one.

    >>> [str(quantity(x)) for x in ("1,200", "3,5", "5 million", "a hundred and two", "two million five", "one two")]
    ['1200', '3.5', '5000000', '102', '2000005', 'None']
    """
    if not written[0].isdigit():
        return _counted(written)
    digits, size = re.fullmatch(r"([\d.,']+)[\s-]*([a-z]*)", written).groups()  # type: ignore[union-attr]
    if len(digits) > 18:
        return None
    grouped = re.fullmatch(r"\d{1,3}(?:[,']\d{3})+(?:\.\d+)?", digits)
    plain = Decimal(re.sub("[,']", "", digits) if grouped else digits.replace(",", "."))
    names = [n for n in _SIZES if size and size in (n, *_SHORT[n].split("|"), _MONEY.get(n))]
    return plain * (_SIZES[names[0]] if names else 1)


def number(n: Decimal, *, money: bool = False) -> str:
    """A pattern of a number: in digits with or without separators, in words, or as so many thousands or millions."""
    if n < 0:
        return rf"(?:-|minus\s)(?:{number(-n, money=money)})"
    short = {name: "|".join(filter(None, (_SHORT[name], _MONEY.get(name, "") if money else ""))) for name in _SIZES}
    sizes = {name: f"(?:{name}|{short[name]})" if short[name] else name for name in _SIZES}
    forms = [rf"{_digits(n)}(?!\s?-?(?:{'|'.join(sizes.values())})\b)"]
    for name, size in _SIZES.items():
        if 1 <= (many := n / size) < 1000 and many == round(many, 3):
            forms.append(rf"{_digits(many)}\s?-?{sizes[name]}\b")
    return "|".join([*forms, *_spellings(n)])


def rank(n: int) -> str:
    """A pattern of a place in an order: 2nd, second."""
    return rf"(?<![\w.,]){n}(?:st|nd|rd|th)\b|{_MORE}\b{_pattern(_in_order(n))}\b"


def _digits(n: Decimal) -> str:
    whole, _, part = f"{n.normalize():f}".partition(".")
    groups = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", "[,.' ]?", whole)
    decimals = rf"[.,]{part}0*" if part else r"(?:\.0+|,00?)?"
    return rf"(?<!\d)(?<!\d[.,']){groups}{decimals}(?!\d|[.,]\d)"


def _spellings(n: Decimal) -> list[str]:
    if n != int(n) or n >= 10**15:
        return []
    whole = int(n)
    joined = r"(?:,?\sand)?" if whole >= 100 else ""
    rest = rf"(?!{joined}[\s-](?:{_WORD}|{_SIZE})\b)"
    return [rf"{_MORE}\b{_pattern(words)}\b{rest}" for words in _spelt(whole)]


def _spelt(n: int) -> list[str]:
    """`twelve hundred`, as 1200 is said, too, and years: `nineteen sixty-nine`."""
    hundreds, rest = divmod(n, 100)
    found = [_in_words(n)]
    found += [f"{_in_words(hundreds)} hundred"] if 11 <= hundreds < 100 and not rest else []
    return found + ([f"{_in_words(hundreds)} {_in_words(rest)}"] if 11 <= hundreds < 21 and rest > 9 else [])


def _pattern(words: str) -> str:
    first, *others = re.split(r"[\s-]", words)
    first = "(?:one|an?)" if first == "one" and others else first
    return r"[\s-]+(?:and\s)?".join([first, *others])


def _in_words(n: int) -> str:
    if n < 20:
        return _ONES[n]
    if n < 100:
        return _TENS[n // 10 - 2] + (f"-{_ONES[n % 10]}" if n % 10 else "")
    name, size = next((name, size) for name, size in _SIZES.items() if n >= size)
    return f"{_in_words(n // size)} {name}" + (f" {_in_words(n % size)}" if n % size else "")


def _in_order(n: int) -> str:
    """`twenty-one` as `twenty-first`."""
    head, last = re.fullmatch(r"(.*?)(\w+)", _in_words(n)).groups()  # type: ignore[union-attr]
    return head + _RANKS.get(last, (last[:-1] + "ie" if last.endswith("y") else last) + "th")


RANKS = {_in_order(n): n for n in range(1, 100)}
"""Ranks in words, to a hundred."""


def _counted(words: str) -> Decimal | None:
    """The number that words spell out; None where they are several, such as `one two`."""
    total = part = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SIZES and word != "hundred":
            total, part = total + (part or 1) * _SIZES[word], 0
        elif word == "hundred":
            part = (part or 1) * 100
        elif word not in ("and", "a", "an"):
            part += _ONES.index(word) if word in _ONES else 10 * (_TENS.index(word) + 2)
    spelt = re.findall("[a-z]+", re.sub(r"\ban?\b", "one", re.sub(r"\band\b", " ", words)))
    readings = [total + part, *_YEARS.get(" ".join(spelt), ())]
    return next((Decimal(n) for n in readings if spelt in [re.findall("[a-z]+", s) for s in _spelt(n)]), None)


_YEARS = {words.replace("-", " "): [n] for n in range(1110, 2100) for words in _spelt(n)[1:]}
