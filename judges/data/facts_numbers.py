"""Facts whose answers are numbers: sums, products, years."""

from random import Random

from judges.data.facts import LANGUAGES, Fact, digits

_SUM = {
    "en": "What is {a} plus {b}?",
    "ar": "ما حاصل جمع {a} و{b}؟",
    "te": "{a} మరియు {b} కలిపితే ఎంత?",
}
_PRODUCT = {
    "en": "What is {a} times {b}?",
    "ar": "ما حاصل ضرب {a} في {b}؟",
    "te": "{a} ను {b} తో గుణిస్తే ఎంత?",
}

_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "ar": "عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون",
    "te": "ఇరవై ముప్పై నలభై యాభై అరవై డెబ్బై ఎనభై తొంభై",
}
_UNITS = {
    "en": "one two three four five six seven eight nine",
    "ar": "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة",
    "te": "ఒకటి రెండు మూడు నాలుగు ఐదు ఆరు ఏడు ఎనిమిది తొమ్మిది",
}

_YEARS = """
1969 | In which year did people first walk on the Moon? | في أي عام مشى الإنسان على القمر لأول مرة؟ | మనిషి మొదటిసారి చంద్రునిపై నడిచిన సంవత్సరం ఏది?
1989 | In which year did the Berlin Wall fall? | في أي عام سقط جدار برلين؟ | బెర్లిన్ గోడ కూలిన సంవత్సరం ఏది?
1947 | In which year did India become independent? | في أي عام استقلت الهند؟ | భారతదేశానికి స్వాతంత్ర్యం వచ్చిన సంవత్సరం ఏది?
1914 | In which year did the First World War begin? | في أي عام بدأت الحرب العالمية الأولى؟ | మొదటి ప్రపంచ యుద్ధం ప్రారంభమైన సంవత్సరం ఏది?
1945 | In which year did the Second World War end? | في أي عام انتهت الحرب العالمية الثانية؟ | రెండవ ప్రపంచ యుద్ధం ముగిసిన సంవత్సరం ఏది?
1789 | In which year did the French Revolution begin? | في أي عام بدأت الثورة الفرنسية؟ | ఫ్రెంచి విప్లవం ప్రారంభమైన సంవత్సరం ఏది?
1776 | In which year did the United States declare independence? | في أي عام أُعلن استقلال الولايات المتحدة؟ | అమెరికా స్వాతంత్ర్య ప్రకటన వెలువడిన సంవత్సరం ఏది?
1815 | In which year was the Battle of Waterloo fought? | في أي عام وقعت معركة واترلو؟ | వాటర్లూ యుద్ధం జరిగిన సంవత్సరం ఏది?
1869 | In which year was the Suez Canal opened? | في أي عام افتتحت قناة السويس؟ | సూయజ్ కాలువను ప్రారంభించిన సంవత్సరం ఏది?
1492 | In which year did Columbus first reach the Americas? | في أي عام وصل كولومبوس إلى الأمريكتين لأول مرة؟ | కొలంబస్ మొదటిసారి అమెరికా ఖండాలకు చేరిన సంవత్సరం ఏది?
1912 | In which year did the Titanic sink? | في أي عام غرقت سفينة تيتانيك؟ | టైటానిక్ ఓడ మునిగిన సంవత్సరం ఏది?
1453 | In which year did the Ottomans take Constantinople? | في أي عام فتح العثمانيون القسطنطينية؟ | ఒట్టోమన్లు కాన్‌స్టాంటినోపుల్‌ను జయించిన సంవత్సరం ఏది?
"""  # noqa: E501


def numbers(seed: int) -> tuple[Fact, ...]:
    """Eight sums, then eight products; the results are all different and have two digits that are not 0."""
    rng = Random(f"{seed}/number")
    facts: dict[int, Fact] = {}
    while len(facts) < 16:
        a, b = rng.randrange(3, 60), rng.randrange(3, 40)
        questions, result = (_SUM, a + b) if len(facts) < 8 else (_PRODUCT, a * b)
        if 21 <= result <= 99 and result % 10:
            asked = {lang: _filled(text, a, b, lang) for lang, text in questions.items()}
            facts.setdefault(result, Fact(asked, _written(result)))
    return tuple(facts.values())


def years() -> tuple[Fact, ...]:
    """Years of events whose date nobody doubts."""
    rows = (line.split(" | ") for line in _YEARS.strip().splitlines())
    return tuple(
        Fact(dict(zip(LANGUAGES, questions, strict=True)), {lang: (digits(year, lang),) for lang in LANGUAGES})
        for year, *questions in rows
    )


def _filled(text: str, a: int, b: int, language: str) -> str:
    return digits(text.replace("{a}", str(a)).replace("{b}", str(b)), language)


def _written(number: int) -> dict[str, tuple[str, ...]]:
    """A number from 21 to 99 in digits and words."""
    tens, units = divmod(number, 10)
    ten = {lang: words.split()[tens - 2] for lang, words in _TENS.items()}
    unit = {lang: words.split()[units - 1] for lang, words in _UNITS.items()}
    return {
        "en": (str(number), f"{ten['en']}-{unit['en']}", f"{ten['en']} {unit['en']}"),
        "ar": (digits(str(number), "ar"), f"{unit['ar']} و{ten['ar']}"),
        "te": (digits(str(number), "te"), f"{ten['te']} {unit['te']}"),
    }
