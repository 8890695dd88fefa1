"""How a judge's words are read as a grade of one answer: CORRECT, INCORRECT, or UNKNOWN where that may be said.

Strict first, then tolerant (`repaired`); a text that states two grades states none, and one that answers the question
itself, or grades in other words or another language, holds no grade.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import json_repair

GRADES = ("CORRECT", "INCORRECT")
UNKNOWN = "UNKNOWN"
"""The judge says that it doesn't know, where it is offered that way out."""


@dataclass(frozen=True, slots=True)
class Grading:
    """What a text says. No grade exactly when `problem` says why."""

    grade: str | None
    extracted: str | None = None
    """What the judge took to be the answer proper; None where the format doesn't ask, or the text doesn't say."""
    repaired: bool = False
    problem: str = ""


# Words that state a grade -------------------------------------------------------------------------------------------

_WORD = r"(?P<not>not\s+)?(?P<grade>incorrect|correct|unknown)\b"
_OPEN = r"[\s\"'`*_(\[{<#]*"
_CLOSE = r"[\s\"'`*_)\]}>.!]*"
# What may follow a grade that was meant: "CORRECT or INCORRECT" quotes the question, "correct answer" goes on to give
# one, and "correct: Paris" and "CORRECT?" do so, too.
_END = rf"{_CLOSE}(?:\Z|[,;.!)\n–—]|\s-\s|\s(?=because\b|since\b|as\b))"
_BARE = re.compile(rf"{_OPEN}{_WORD}{_CLOSE}", re.I)
_LEADING = re.compile(rf"\A{_OPEN}{_WORD}(?=[*_\"'`)\]]*(?:[.,;!]|\s*\n|\s[–—-]\s|[–—]))", re.I)
_STATED = re.compile(
    rf"\b(?:final\s+)?(?:verdict|grade|judge?ment)\b[*_\"'`]*\s*(?:\bis\b|:|=|-)\s*:?{_OPEN}{_WORD}{_END}", re.I
)
_PREDICATE = re.compile(
    r"\b(?:the|this|given|candidate|candidate's|student's)\s+(?:given\s+|candidate\s+|generated\s+)?(?:answer|response)\s+is"
    rf"\s+(?:clearly\s+|indeed\s+|therefore\s+)?{_WORD}{_END}",
    re.I,
)
_LAST_LINE = re.compile(r"(?:\A|\n)\s*Verdict: (CORRECT|INCORRECT|UNKNOWN)\s*\Z")
_NO_IDEA = re.compile(rf"{_OPEN}i\s+(?:don[’']?t|do\s+not)\s+know{_CLOSE}", re.I)


def read_word(text: str, idk: bool = False) -> Grading:
    """A grade and nothing else; or one at the head of a text, on a line of its own, or stated in a sentence: repaired.

    Args:
        text: what the judge wrote.
        idk: was UNKNOWN offered?

    >>> read_word("INCORRECT").grade, read_word("Correct. It says so.").grade, read_word("The correct answer is Rome")
    ('INCORRECT', 'CORRECT', Grading(grade=None, extracted=None, repaired=False, problem='no verdict'))
    """
    if (bare := text.strip()) in _offered(idk):
        return Grading(bare)
    if idk and _NO_IDEA.fullmatch(text):
        return Grading(UNKNOWN, repaired=True)
    if match := _BARE.fullmatch(text):
        return _agreed([match], idk)
    stated = [m for form in (_LEADING, _STATED, _PREDICATE) for m in form.finditer(text)]
    alone = (_BARE.fullmatch(line) for line in text.splitlines())
    return _agreed([*stated, *(m for m in alone if m)], idk)


def read_last_line(text: str, idk: bool = False) -> Grading:
    """Reasoning, closed by a line `Verdict: CORRECT`; the same said otherwise: repaired.

    Only what is stated as the verdict counts: "the answer is correct" may be a step of the reasoning.

    >>> read_last_line("It names Rome.\\nVerdict: INCORRECT").grade
    'INCORRECT'
    """
    stated = list(_STATED.finditer(text))
    lines = text.strip().splitlines()
    if lines and (bare := _BARE.fullmatch(lines[-1])):
        stated.append(bare)
    found = _agreed(stated, idk)
    strict = _LAST_LINE.search(text)
    return replace(found, repaired=False) if found.grade and strict else found


# JSON ---------------------------------------------------------------------------------------------------------------

# A verdict as it stands in the raw text: a repair may mend the object around it, but must not invent or complete it.
_RAW_VERDICT = re.compile(
    r"""["']?\bverdict["']?\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"',}]+))\s*(?=[,}\n]|\Z|["'])""", re.I
)


def read_json(text: str, idk: bool = False) -> Grading:
    """The `verdict` and the `extracted_answer` of a JSON object; fenced, or with faults that can be mended: repaired.

    >>> read_json('{"extracted_answer": "Rome", "explanation": "It is Paris.", "verdict": "INCORRECT"}')
    Grading(grade='INCORRECT', extracted='Rome', repaired=False, problem='')
    """
    try:
        pairs: Any = json.loads(text, object_pairs_hook=list)
    except (json.JSONDecodeError, RecursionError):
        return _read_json_tolerantly(text, idk)
    if not (isinstance(pairs, list) and pairs and all(isinstance(p, tuple) for p in pairs)):
        return Grading(None, problem="not a JSON object")
    return _of_values([value for key, value in pairs if key == "verdict"], _extracted(dict(pairs)), idk)


def _read_json_tolerantly(text: str, idk: bool) -> Grading:
    begin = text.find("{")
    if begin < 0:
        return Grading(None, problem="no JSON object")
    raw = [next(g for g in m.groups() if g is not None) for m in _RAW_VERDICT.finditer(text, begin)]
    mended = json_repair.loads(text[begin:])
    objects = [o for o in (mended if isinstance(mended, list) else [mended]) if isinstance(o, dict)]
    extracted = next((_extracted(o) for o in objects if "extracted_answer" in o), None)
    if not any("verdict" in o for o in objects):
        raw = []
    return replace(_of_values(raw, extracted, idk), repaired=bool(raw))


def _of_values(verdicts: Iterable[Any], extracted: str | None, idk: bool) -> Grading:
    """The grade that all the values of `verdict` give."""
    verdicts = list(verdicts)
    matches = [_BARE.fullmatch(v) if isinstance(v, str) else None for v in verdicts]
    if any(m is None for m in matches):
        return Grading(None, extracted, problem="the verdict is none of the grades")
    found = replace(_agreed([m for m in matches if m], idk), extracted=extracted)
    return replace(found, repaired=found.grade is not None and any(v not in _offered(idk) for v in verdicts))


def _extracted(found: dict[str, Any]) -> str | None:
    value = found.get("extracted_answer")
    if value is None or isinstance(value, bool):
        return None
    return str(value) if isinstance(value, str | int | float) else None


def _agreed(matches: Iterable[re.Match[str]], idk: bool) -> Grading:
    """The one grade that all statements make; a grade that wasn't offered is none."""
    found = {_grade(match) for match in matches}
    if len(found) != 1:
        return Grading(None, problem="contradicting verdicts" if found else "no verdict")
    (grade,) = found
    if grade not in _offered(idk):
        return Grading(None, problem="the verdict is none of the grades")
    return Grading(grade, repaired=True)


def _grade(match: re.Match[str]) -> str | None:
    word = match["grade"].upper()
    if not match["not"]:
        return word
    return "INCORRECT" if word == "CORRECT" else None  # "not incorrect" is a hedge, not a grade


def _offered(idk: bool) -> tuple[str, ...]:
    return (*GRADES, UNKNOWN) if idk else GRADES
