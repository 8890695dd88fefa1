"""Output formats of pairwise judging: what a format allows a judge to write, beside how to read it.

A reading is strict first, then tolerant (`repaired`); two contradicting verdicts are no verdict.
Winners here are in the order shown: `A` is the first answer on the page.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import json_repair

from judges.finetuned import FINETUNED
from judges.reading import Format, Reading, Stated, agreed
from judges.records import Constraint
from judges.stated import HIGHEST, read_confidence

__all__ = [
    "FORMATS",
    "Format",
    "Reading",
    "Stated",
    "Thinking",
    "agreed",
    "read_brackets",
    "read_confidence",
    "read_json",
    "read_letter",
    "read_xml",
    "split_thinking",
]


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a model marks the reasoning that it writes before its reply, and how much of it is allowed."""

    open: str = "<think>"
    close: str = "</think>"
    max_tokens: int = 16384


def split_thinking(text: str, thinking: Thinking | None) -> tuple[str, str]:
    """Splits a model's raw text into its reasoning and its reply.

    A block may be closed, unclosed (then there is no reply) or lack its opening tag, which some templates
    write themselves. For a model not known to think, a block counts only where the text begins with one,
    so that a reply may quote the tags.

    >>> split_thinking("<think>B errs</think>A", Thinking())
    ('B errs', 'A')
    """
    marks = thinking or Thinking()
    opened = text.lstrip().startswith(marks.open)
    if not opened and thinking is None:
        return "", text
    before, closed, after = text.partition(marks.close)
    if not closed:
        return (before.lstrip().removeprefix(marks.open), "") if opened else ("", text)
    return before.lstrip().removeprefix(marks.open).strip(), after.lstrip()


# One letter, or "Answer A" ------------------------------------------------------------------------------------------

_NOUN = r"(?i:answer|response|option|assistant|output)"
_WRAP = r"[\s\"'`*_(\[{<#:.]*"
_LETTER = rf"(?:{_NOUN}[\s_]*)?{_WRAP}([AB])\b"
_END = r"[\s\"'`*_)\]}>.!]*"
# "A" is also an article: a letter counts only where no other word follows, save one that continues a verdict.
_NOT_ARTICLE = r"(?![-'’]\w|[ \t]+(?!(?:is|because|since|as|over|for)\b)[\w(])"
_BETTER = r"(?i:better|best|correct|superior|stronger|preferred)"
_STATEMENTS = (
    re.compile(rf"^{_LETTER}{_END}$".replace("^", "^" + _WRAP), re.M),
    re.compile(rf"^{_WRAP}{_LETTER}\s*[:.)\]*–—]", re.M),
    re.compile(
        rf"\b(?:(?i:verdict|choice|winner|final\s+answer|^\W*answer)|{_BETTER}(?:\s+(?:(?i:one|choice)|{_NOUN}))?)"
        rf"\W*(?:\s(?i:is)\b|:|=)\s*{_WRAP}{_LETTER}{_NOT_ARTICLE}",
        re.M,
    ),
    re.compile(
        rf"(?:\b{_NOUN}\s+|(?:^|[.!?,]\s)\W*)([AB])\s+(?i:is\s+(?:clearly\s+|much\s+|slightly\s+)?(?:the\s+)?){_BETTER}\b",
        re.M,
    ),
)


def read_letter(text: str) -> Reading:
    """A bare label, or prose that states one.

    Prose counts only where it says so in so many words: a label alone on a line or leading the text, or a
    sentence such as "the better answer is B". A capital letter somewhere in a sentence is no verdict.

    >>> read_letter("B").winner, read_letter("A good try, but the better answer is B.").winner
    ('B', 'B')
    """
    bare = text.strip()
    if bare in ("A", "B", "Answer A", "Answer B"):
        return Reading(bare[-1])
    if bare in ("a", "b"):
        return Reading(bare.upper(), repaired=True)
    return agreed((m[1] for statement in _STATEMENTS for m in statement.finditer(text)), repaired=True)


# JSON ---------------------------------------------------------------------------------------------------------------


def _label(value: object) -> str | None:
    """`A` or `B` where a field's value is a label and nothing more."""
    match = re.fullmatch(_LETTER + r"[\s\"'`*_)\]}>.]*", str(value).strip(), re.I)
    return match[1].upper() if match else None


def read_json(text: str) -> Reading:
    """The `verdict` of a JSON object; fenced, followed by text, in single quotes or cut short: repaired.

    >>> read_json('{"verdict": "A", "reason": "It adds up."}')
    Reading(winner='A', repaired=False, problem='')
    """
    try:
        pairs: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    except (json.JSONDecodeError, RecursionError):
        return _read_json_tolerantly(text)
    if not (isinstance(pairs, list) and all(isinstance(p, tuple) for p in pairs)):
        return Reading(None, problem="not a JSON object")
    verdicts = [value for key, value in pairs if key == "verdict"]
    if any(_label(v) is None for v in verdicts):
        return Reading(None, problem="the verdict names neither A nor B")
    return agreed(
        (label for v in verdicts if (label := _label(v))), repaired=any(v not in ("A", "B") for v in verdicts)
    )


# A verdict as it stands in the raw text, closed by what may follow a value: a repair may mend the object around it,
# but must not invent or complete it.
_RAW_VERDICT = re.compile(
    r"""["']?\bverdict["']?\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"',}]+))\s*(?=[,}\n]|\Z|["'])""", re.I
)


def _read_json_tolerantly(text: str) -> Reading:
    begin = text.find("{")
    if begin < 0:
        return Reading(None, problem="no JSON object")
    stated = [_label(next(g for g in m.groups() if g is not None)) for m in _RAW_VERDICT.finditer(text, begin)]
    reading = agreed((label for label in stated if label), repaired=True)
    if None in stated or reading.winner is None:
        return Reading(None, problem=reading.problem or "the verdict names neither A nor B")
    repaired = json_repair.loads(text[begin:])
    objects = repaired if isinstance(repaired, list) else [repaired]
    if any(isinstance(o, dict) and _label(o.get("verdict")) == reading.winner for o in objects):
        return reading
    return Reading(None, problem="no JSON object with a verdict")


# XML and brackets ---------------------------------------------------------------------------------------------------


def read_xml(text: str) -> Reading:
    """The content of the `<verdict>` elements; text around the prescribed elements: repaired.

    >>> read_xml("<verdict>B</verdict><reason>A slips in step 2.</reason>").winner
    'B'
    """
    stated = re.findall(r"<verdict>(.*?)</verdict>", text, re.I | re.S)
    labels = [_label(content) for content in stated]
    if None in labels:
        return Reading(None, problem="the verdict names neither A nor B")
    prescribed = re.fullmatch(
        r"\s*(?:<reasoning>.*</reasoning>\s*)?<verdict>[AB]</verdict>\s*(?:<reason>.*</reason>\s*)?", text, re.S
    )
    return agreed((label for label in labels if label), repaired=prescribed is None)


_FIVE_LEVELS = {"A>>B": "A", "A>B": "A", "A=B": "tie", "B=A": "tie", "B>A": "B", "B>>A": "B"}


def read_brackets(text: str) -> Reading:
    """The five-level `[[A>B]]`; `>>` folds to `>`, but two different strings are no verdict.

    Source: 002_dbdf0f3d5247b095.txt and studies.md, judgebench.

    >>> read_brackets("My answer is 7. [[B>>A]]").winner, read_brackets("[[A=B]]").winner
    ('B', 'tie')
    """
    stated = set(re.findall(r"\[\[([AB<>=]+)\]\]", text))
    if len(stated) != 1:
        return agreed(stated, repaired=False)
    verdict = stated.pop()
    if verdict not in _FIVE_LEVELS:
        return Reading(None, problem=f"[[{verdict}]] is none of the five verdicts")
    return Reading(_FIVE_LEVELS[verdict])


# The formats --------------------------------------------------------------------------------------------------------

_TEXT = {"type": "string", "maxLength": 2000}
_VERDICT = {"enum": ["A", "B"]}


def _json_object(**properties: object) -> Constraint:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Constraint("json", json.dumps(schema))


_AFTER_KEY = r"""(?<!\\)"verdict"\s*:\s*"?(?:(?i:answer)\s+)?"""  # Escaped quotes are a key quoted in the reasoning.
_AFTER_TAG = r"(?i:<verdict>)\s*(?:(?i:answer)\s+)?"
_LABELS = ("A", "B")

FORMATS: dict[str, Format] = {
    "direct": Format(read_letter, 32, Constraint("choice", '["A", "B"]'), _LABELS),
    "vf_json": Format(read_json, 4096, _json_object(verdict=_VERDICT, reason=_TEXT), _LABELS, _AFTER_KEY),
    "vf_xml": Format(
        read_xml,
        4096,
        Constraint("regex", r"<verdict>(A|B)</verdict>\n<reason>[^<]{1,2000}</reason>"),
        _LABELS,
        _AFTER_TAG,
    ),
    "cot_json": Format(read_json, 4096, _json_object(reasoning=_TEXT, verdict=_VERDICT), _LABELS, _AFTER_KEY),
    "cot_xml": Format(
        read_xml,
        4096,
        Constraint("regex", r"<reasoning>[^<]{1,2000}</reasoning>\n<verdict>(A|B)</verdict>"),
        _LABELS,
        _AFTER_TAG,
    ),
    "confidence_json": Format(
        read_json,
        64,
        _json_object(verdict=_VERDICT, confidence={"type": "integer", "minimum": 0, "maximum": HIGHEST}),
        _LABELS,
        _AFTER_KEY,
        read_confidence,
    ),
    "vanilla": Format(read_letter, 32, Constraint("choice", '["Answer A", "Answer B"]'), ("Answer A", "Answer B")),
    "arena_hard": Format(read_brackets, 4096),
    **FINETUNED,
}
