"""Output grammars of other people's judges, beside ours in `judges.formats`. Winners are in the order shown."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from judges.formats import Reading, agreed

_LLMBAR = re.compile(r"Output \(([ab])\) is (?:the )?better")
_LLMBAR_BARE = re.compile(r"Output \(([ab])\)\.?")
_MT_BENCH = re.compile(r"\[\[([ABC])\]\]")
_MT_BENCH_NAMES = {"A": "A", "B": "B", "C": "tie"}
_RATING = re.compile(r"\[\[(-?\d+(?:\.\d+)?)\]\]")
_SCORE = re.compile(r'"score"\s*:\s*"?(-?\d+(?:\.\d+)?)([^,}\n]*)')


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a text gives. None exactly when `problem` says why."""

    value: float | None
    repaired: bool = False
    problem: str = ""


def read_output(text: str) -> Reading:
    """LLMBar's verdict, `Output (a)` or a sentence that calls one output better.

    A text that calls both outputs better (a synthesis that quotes the debate, for one) is no verdict.

    >>> read_output("Output (a) rambles. Therefore, Output (b) is better.").winner
    'B'
    """
    bare = _LLMBAR_BARE.fullmatch(text.strip())
    stated = [bare[1]] if bare else _LLMBAR.findall(text)
    return agreed((s.upper() for s in stated), repaired=False)


def read_output_as_published(text: str) -> Reading:
    """LLMBar's verdict by LLMBar's own rule: `(a)` if the text anywhere calls output (a) better, else `(b)`.

    It decides 90 published verdicts whose texts call both outputs better, all for the output shown first; the last
    sentence of 46 of them names the other one.
    """
    reading = read_output(text)
    return Reading("A", repaired=True) if reading.problem == "contradicting verdicts" else reading


def read_pair(text: str) -> Reading:
    """MT-Bench's verdict on a pair, `[[A]]`, `[[B]]` or `[[C]]` for a tie; two different ones are none.

    >>> read_pair("Both are helpful. Final verdict: [[C]]").winner
    'tie'
    """
    return agreed((_MT_BENCH_NAMES[s] for s in _MT_BENCH.findall(text)), repaired=False)


def read_rating(text: str) -> Score:
    """MT-Bench's grade of a single answer, `[[7]]`."""
    return _one([float(s) for s in _RATING.findall(text)], repaired=False)


def read_number(text: str) -> Score:
    """A text that is a number and nothing else, as LLMBar's ratings are."""
    try:
        value = float(text)
    except ValueError:
        return Score(None, problem="no score" if not text.strip() else "not a number")
    return Score(value) if math.isfinite(value) else Score(None, problem="not a number")


def read_score(text: str) -> Score:
    """The `score` of a JSON object; where the JSON is broken, the number that stands there: repaired.

    >>> read_score('{"reasoning": "Right.", "score": 0.9}').value
    0.9
    >>> read_score('{"reasoning": "$\\\\sqrt{4}$ is right.", "score": 0.9}')
    Score(value=0.9, repaired=True, problem='')
    >>> read_score('{"score": 0.3 + 0.3 = 0.6}').problem
    'the score is an expression'
    """
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return _read_broken_score(text)
    value = found.get("score") if isinstance(found, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _read_broken_score(text)
    return Score(float(value)) if math.isfinite(value) else Score(None, problem="the score is not a number")


def read_score_as_published(text: str) -> Score:
    """As `read_score`, but of an expression such as `0.3 + 0.3 = 0.6` the first number, as upstream reads it."""
    score = read_score(text)
    first = _SCORE.search(text)
    return Score(float(first[1]), repaired=True) if score.value is None and first else score


def _read_broken_score(text: str) -> Score:
    matches = list(_SCORE.finditer(text))
    if any(m[2].strip(' \t\r"') for m in matches):
        return Score(None, problem="the score is an expression")
    return _one([float(m[1]) for m in matches], repaired=True)


def _one(values: list[float], repaired: bool) -> Score:
    if len(set(values)) == 1:
        return Score(values[0], repaired)
    return Score(None, problem="contradicting scores" if values else "no score")
