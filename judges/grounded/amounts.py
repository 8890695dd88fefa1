"""The ways in which shares, sums of money and dates are written, as patterns for flattened text (`values.flat`)."""

import re
from collections.abc import Callable

from judges.grounded.numbers import DIGITS, RANKS, SCALED, number, quantity, rank

_PERCENT = r"\s*-?\s*(?:%|per\s?cent(?:age\spoints?)?\b|pct\b)"
_RANGE = r"(?:\s?(?:-|to|and)\s?\d[\d.,]*)?"
"""`48` is said in `48-50%`, too."""
_CURRENCIES = (
    (r"(?:us|u\.s\.|usd)?\s?\$|\busd\b", r"(?:us\s|u\.s\.\s)?dollars?|usd|\$"),
    (r"€|\beur\b", r"euros?|eur|€"),
    (r"£|\bgbp\b", r"pounds?(?:\ssterling)?|gbp|£"),
    (r"¥|\bjpy\b", r"yen|jpy|¥"),
    (r"₹|\brs\.?|\binr\b", r"rupees?|inr|₹"),
)
"""What stands before a sum, and what may stand behind it instead."""
_MONTHS = (
    "jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "may", "june?", "july?", "aug(?:ust)?",
    "sept?(?:ember)?", "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?",
)  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})\b\.?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES = (
    rf"(?:the\s)?{_DAY}[\s-](?:of\s)?{_MONTH}(?:,?[\s-]{_YEAR})?",
    rf"{_MONTH}\s(?:the\s)?{_DAY}(?!\d)(?:,?\s{_YEAR})?",
    rf"{_MONTH},?\s(?:of\s)?{_YEAR}",
    rf"{_YEAR}-(?P<number>\d\d)-{_DAY}",
)

Reading = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""How a part of a value is recognised, and the pattern of its forms; None where it is none of the kind after all."""


def _date(found: re.Match[str]) -> str | None:
    told = found.groupdict()
    named = next((i for i, form in enumerate(_MONTHS, 1) if re.fullmatch(form, told.get("month") or "")), 0)
    month, year = named or int(told["number"]), told.get("year")
    day = int(told["day"]) if told.get("day") else 0
    if not 1 <= month <= 12 or day > 31:
        return None
    name, any_day = rf"\b{_MONTHS[month - 1]}\b\.?", r"(?:\d{1,2}(?:st|nd|rd|th)?,?\s)?"
    if not day:
        return rf"{name},?\s(?:of\s)?{any_day}{year}(?!\d)|(?<!\d){year}-{month:02}(?!\d)"
    that_day, end = rf"(?:(?<!\d)0?{day}(?!\d)(?:st|nd|rd|th)?|{rank(day)})", rf",?[\s-]{year}(?!\d)" if year else ""
    forms = [rf"{that_day}[\s-](?:of\s)?{name}{end}", rf"{name}[\s-](?:the\s)?{that_day}{end}"]
    numeric = (f"{year}-{month:02}-{day:02}", f"0?{day}[./-]0?{month}[./-]{year}", f"0?{month}/0?{day}/{year}")
    return "|".join(forms + [rf"(?<!\d){form}(?!\d)" for form in numeric if year])


def _money(found: re.Match[str]) -> str | None:
    before, behind = next(pair for i, pair in enumerate(_CURRENCIES) if found[f"before{i}"] or found[f"behind{i}"])
    if (n := quantity(found["sum"] or found["amount"])) is None:
        return None
    sum_ = number(n, money=True)
    return rf"(?:{before})\s?(?:{sum_})|(?:{sum_})[\s-]?(?:{behind})(?!\w)"


def _share(found: re.Match[str]) -> str | None:
    n = quantity(found["n"])
    return None if n is None else rf"(?:{number(-n if found['sign'] else n)}){_RANGE}{_PERCENT}"


def _number(found: re.Match[str]) -> str | None:
    n = quantity(found["n"])
    return None if n is None else number(-n if found["sign"] else n)


def _rank(found: re.Match[str]) -> str | None:
    n = RANKS.get(re.sub(r"[\s-]+", "-", found[0])) or int(re.match(r"\d*", found[0])[0] or 0)  # type: ignore[index]
    return rank(n) if 0 < n < 100 else None


_SIGNED = rf"(?P<sign>-|minus\s)?(?P<n>{SCALED})"
_SUM = rf"(?:{DIGITS})[\s-]?[mb]\b|{SCALED}"
_BEFORE = "|".join(f"(?P<before{i}>{before})" for i, (before, _) in enumerate(_CURRENCIES))
_BEHIND = "|".join(f"(?P<behind{i}>{behind})" for i, (_, behind) in enumerate(_CURRENCIES))
_RANKED = "|".join(sorted((name.replace("-", r"[\s-]") for name in RANKS), key=len, reverse=True))

READINGS: tuple[Reading, ...] = (
    *((re.compile(rf"{form}(?!\w)"), _date) for form in _DATES),
    (re.compile(rf"(?:{_BEFORE})\s?(?P<sum>{_SUM})(?!\w)|(?P<amount>{_SUM})[\s-]?(?:{_BEHIND})(?!\w)"), _money),
    (re.compile(rf"{_SIGNED}{_PERCENT}"), _share),
    (re.compile(rf"(?:\d+(?:st|nd|rd|th)|{_RANKED})(?!\w)"), _rank),
    (re.compile(_SIGNED), _number),
)
"""In the order in which they are tried."""
