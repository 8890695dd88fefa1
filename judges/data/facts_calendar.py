"""Facts whose answers are dates, months or days of the week."""

from datetime import date, timedelta
from random import Random

from judges.data.facts import LANGUAGES, Fact, digits, table, templated

_DATE = {
    "en": "Which date comes {n} days after {d}?",
    "ar": "ما التاريخ الذي يأتي بعد {d} بـ {n} يومًا؟",
    "te": "{d} తర్వాత {n} రోజులకు వచ్చే తేదీ ఏది?",
}

_MONTH = {
    "en": "Which month comes right after {x}?",
    "ar": "ما الشهر الذي يلي شهر {x} مباشرة؟",
    "te": "{x} తర్వాత వెంటనే వచ్చే నెల ఏది?",
}
_MONTHS = """
January | يناير/كانون الثاني | జనవరి
February | فبراير/شباط | ఫిబ్రవరి
March | مارس/آذار | మార్చి
April | أبريل/نيسان/إبريل | ఏప్రిల్/ఏప్రిలు
May | مايو/أيار | మే
June | يونيو/حزيران | జూన్/జూను
July | يوليو/تموز | జూలై/జులై
August | أغسطس/آب | ఆగస్టు/ఆగష్టు
September | سبتمبر/أيلول | సెప్టెంబర్/సెప్టెంబరు
October | أكتوبر/تشرين الأول | అక్టోబర్/అక్టోబరు
November | نوفمبر/تشرين الثاني | నవంబర్/నవంబరు
December | ديسمبر/كانون الأول | డిసెంబర్/డిసెంబరు
"""

_WEEKDAY = {
    "en": "Which day of the week comes right after {x}?",
    "ar": "ما اليوم الذي يلي يوم {x} مباشرة؟",
    "te": "{x} తర్వాత వెంటనే వచ్చే రోజు ఏది?",
}
_WEEKDAYS = """
Monday | الاثنين/يوم الاثنين/الإثنين | సోమవారం
Tuesday | الثلاثاء/يوم الثلاثاء | మంగళవారం
Wednesday | الأربعاء/يوم الأربعاء | బుధవారం
Thursday | الخميس/يوم الخميس | గురువారం
Friday | الجمعة/يوم الجمعة | శుక్రవారం
Saturday | السبت/يوم السبت | శనివారం
Sunday | الأحد/يوم الأحد | ఆదివారం
"""


def dates(seed: int) -> tuple[Fact, ...]:
    """Ten dates, all different, some days after another and in another month than that."""
    rng = Random(f"{seed}/date")
    facts: dict[date, Fact] = {}
    while len(facts) < 10:
        start, days = date(rng.randrange(1950, 2030), rng.randrange(1, 13), rng.randrange(5, 29)), rng.randrange(11, 41)
        end = start + timedelta(days=days)
        if end.month != start.month:
            asked = {lang: _filled(text, start, days, lang) for lang, text in _DATE.items()}
            facts.setdefault(end, Fact(asked, {lang: _written(end, lang) for lang in LANGUAGES}))
    return tuple(facts.values())


def months() -> tuple[Fact, ...]:
    """The month after each of the twelve."""
    return templated(_MONTH, _MONTHS, _after(_MONTHS))


def weekdays() -> tuple[Fact, ...]:
    """The day after each of the seven; too few for an answer of the same type to be drawn from eight."""
    return templated(_WEEKDAY, _WEEKDAYS, _after(_WEEKDAYS))


def _after(names: str) -> str:
    first, *rest = names.strip().splitlines()
    return "\n".join((*rest, first))


def _filled(text: str, start: date, days: int, language: str) -> str:
    return digits(text.replace("{n}", str(days)), language).replace("{d}", _written(start, language)[0])


def _written(day: date, language: str) -> tuple[str, ...]:
    month = table(_MONTHS)[day.month - 1][language][0]
    if language == "en":
        return f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{day:%Y-%m-%d}"
    plain = [f"{day.day} {month} {day.year}"]
    if language == "te":
        plain.append(f"{day.year} {month} {day.day}")
    return (*(digits(text, language) for text in plain), *plain)
