"""Where in a judge's words its verdict stands, so that a reader can be shown it; decides no verdict.

The readers decide. A place is told only where one of them has read the text, and it holds what that one read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from judges import finetuned, formats, grades
from judges.formats import FORMATS, Thinking, split_thinking
from judges.grades import Grading
from judges.pointwise import forms

Span = tuple[int, int]
"""From the first character to the one after the last."""

_SWAPREF = {"standard": "word", "direct": "word"}
_FLAG = re.compile(r"""["']?\bcontains_factual_error["']?\s*:\s*["']?(true|false)\b""", re.I)
_XML = re.compile(r"<verdict>(.*?)</verdict>", re.I | re.S)
_LEVEL = re.compile(r"\[\[([AB<>=]+)\]\]")
_WHOLE = re.compile(r"\S(?:.*\S)?", re.S)
_INNER = re.compile(r"[\w\[](?:.*[\w\]])?", re.S)
_OBJECT = re.compile(r"\{.*\}", re.S)

_PATTERNS: Mapping[Callable[[str], object], tuple[re.Pattern[str], ...]] = {
    formats.read_letter: formats._STATEMENTS,
    formats.read_json: (formats._RAW_VERDICT,),
    formats.read_xml: (_XML,),
    formats.read_brackets: (_LEVEL,),
    finetuned.read_result: (finetuned._RESULT,),
    finetuned.read_critic: (finetuned._BRACKETS,),
    finetuned.read_compass: (finetuned._BRACKETS,),
    finetuned.read_decision: (finetuned._DECISION,),
}
"""What each reader looks for; a group of it holds the label. A text that has none of it is a bare label."""


@lru_cache(maxsize=4096)  # Greedy repeats are one text many times over.
def locate(method: str, form: str, text: str, thinking: Thinking | None = None) -> Span | None:
    """Where the verdict stands; where it is stated more than once, the last place. None: no reader finds one.

    Args:
        method: how the judge was asked, as in the verdict table.
        form: the format, as there.
        text: what the model wrote, its thinking included.
        thinking: how the model marks that.

    >>> locate("pairwise", "vf_json", '{"verdict": "B", "reason": "A slips."}')
    (13, 14)
    >>> locate("pairwise", "direct", "I can't tell.") is None
    True
    """
    reply = split_thinking(text, thinking)[1]
    found = _reader_of(method, form)(reply)
    begin = len(text) - len(reply)
    return (begin + found[0], begin + found[1]) if found else None


def _reader_of(method: str, form: str) -> Callable[[str], Span | None]:
    if method == "pointwise":
        return lambda text: _grade(form, text)
    if method == "grounded":
        return lambda text: _last(m.span(1) for m in _FLAG.finditer(text))
    if method == "geval":
        return lambda text: _last(m.span() for m in _OBJECT.finditer(text))
    if method == "flask":
        return lambda text: _letter(formats.read_letter, text)
    if method != "pairwise" or form not in FORMATS:
        return lambda text: None
    return lambda text: _letter(FORMATS[form].read, text)


def _letter(read: Callable[[str], formats.Reading], text: str) -> Span | None:
    if (winner := read(text).winner) is None:
        return None
    spans = [span for pattern in _PATTERNS.get(read, ()) for m in pattern.finditer(text) for span in _label(m)]
    if read is formats.read_json:  # A reason may quote another verdict in quotes that are none of JSON's.
        spans = [(start, end) for start, end in spans if formats._label(text[start:end]) == winner]
    return max(spans, default=None) or _last(m.span() for m in _WHOLE.finditer(text))


def _label(match: re.Match[str]) -> Iterator[Span]:
    """The group that holds the label, without what is wrapped around it; nothing where the group is empty."""
    for number, held in enumerate(match.groups(), 1):
        if held and (inner := _INNER.search(held)):
            start = match.start(number)
            yield start + inner.start(), start + inner.end()


def _grade(form: str, text: str) -> Span | None:
    idk = form.endswith("_idk")
    name = form.removesuffix("_idk")
    name = _SWAPREF.get(name, "cot" if name.startswith("cot") else "word" if name == "self_consistency" else name)
    if name not in (known := forms(idk)):
        return None
    found = known[name].read(text)
    if found.grade is None:
        return None
    if name == "json":
        return _last(span for m in grades._RAW_VERDICT.finditer(text) for span in _label(m))
    return max(_stated(text, found), default=None)


def _stated(text: str, found: Grading) -> Iterator[Span]:
    patterns = (grades._LEADING, grades._STATED, grades._PREDICATE)
    matches = [m for pattern in patterns for m in pattern.finditer(text)]
    lines = [m for m in re.finditer(r"[^\n]+", text)]
    bare = ((line.start(), grades._BARE.fullmatch(line[0])) for line in lines)
    yield from ((m.start("not") if m["not"] else m.start("grade"), m.end("grade")) for m in matches if _says(m, found))
    for start, m in bare:
        if m and _says(m, found):
            yield start + m.start("grade"), start + m.end("grade")
    if found.grade == grades.UNKNOWN and (m := grades._NO_IDEA.fullmatch(text)):
        yield m.span()


def _says(match: re.Match[str], found: Grading) -> bool:
    return grades._grade(match) == found.grade


def _last(spans: Iterable[Span]) -> Span | None:
    return max(spans, default=None)
