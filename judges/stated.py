"""The confidence that a judge puts into words, read as a share; what lies off its scale is not moved onto it."""

import json
import re

from judges.reading import Stated

HIGHEST = 100
"""What a judge is to write where it is sure."""

_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%?\s*")
_RAW_CONFIDENCE = re.compile(r"""(?<!\\)"confidence"\s*:\s*("[^"\n]*"|[^\s,}]+)""")


def read_confidence(text: str) -> Stated:
    """The `confidence` of a JSON object, a number from 0 to 100, as a share.

    One in quotes or with a percent sign, or beside text around the object, is repaired. One off the scale, given twice
    or in words is none, and so is one between 0 and 1, for it may be meant as a share.

    >>> read_confidence('{"verdict": "A", "confidence": 85}'), read_confidence('{"confidence": 850}').confidence
    (Stated(confidence=0.85, repaired=False), None)
    """
    repaired = False
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):  # ValueError: malformed, or a number of thousands of digits.
        repaired = True
        pairs = [("confidence", match[1]) for match in _RAW_CONFIDENCE.finditer(text)]
    tuples = isinstance(pairs, list) and all(isinstance(p, tuple) for p in pairs)
    values = [value for key, value in pairs if key == "confidence"] if tuples else []
    number = _number(values[0]) if len(values) == 1 else None
    if number is None or not (0 <= number <= HIGHEST) or 0 < number < 1:
        return Stated(None, repaired=True)
    return Stated(number / HIGHEST, repaired or not isinstance(values[0], int | float))


def _number(value: object) -> float | None:
    if isinstance(value, str):
        match = _WRITTEN.fullmatch(value.strip("\"'"))
        return float(match[1]) if match else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
