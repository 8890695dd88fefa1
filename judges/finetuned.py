"""Output formats of judges that were fine-tuned for judging, each in the grammar that its model was trained on.

Readings are strict first, then tolerant (`repaired`), as in `judges.formats`; winners are in the order shown.
"""

import re
from collections.abc import Mapping

from judges.reading import Format, Reading, agreed
from judges.records import Constraint

# A label, with what may be wrapped around it and nothing more.
_OPEN, _CLOSE = r"[\s\"'`*_(\[]*", r"[\s\"'`*_)\].,;:]*"
_BARE = re.compile(rf"{_OPEN}(?:(?:assistant|response|answer|model)\s+)?([AB]){_CLOSE}", re.I)


def _bare(text: str) -> Reading | None:
    """A label with no grammar around it, such as `B` or `Response A.`: repaired."""
    match = _BARE.fullmatch(text)
    return Reading(match[1].upper(), repaired=True) if match else None


# Prometheus 2 -------------------------------------------------------------------------------------------------------

_RESULT = re.compile(
    r"(?:\[\s*result\s*(?:\]|:)|^[\s*_#]*result\s*:)[\s*:]*(?:response\s+)?((?:(?!\[\s*result)[^\n])*)", re.I | re.M
)
_RESULT_ECHO = re.compile(r"\W*[AB]\W*(?:or|/)\W*[AB]\b", re.I)
# After the label nothing, or a mark that ends the verdict: in `[RESULT] A better answer is B` it is an article.
_RESULT_LABEL = re.compile(r"[\"'`*_(\[]*([AB])[\"'`*_)\]]*\s*(?:$|[.,;:\n–—-])", re.I)


def read_result(text: str) -> Reading:
    """Prometheus's `[RESULT] A` after its feedback; the instruction quoted, `[RESULT] (A or B)`, is no verdict.

    Source: the relative grading of prometheus-eval.

    >>> read_result("Response A slips in its second step. [RESULT] B")
    Reading(winner='B', repaired=False, problem='')
    """
    after = [rest.strip() for rest in _RESULT.findall(text)]
    stated = [rest for rest in after if rest and not _RESULT_ECHO.match(rest)]
    labels = [match[1].upper() if (match := _RESULT_LABEL.match(rest)) else None for rest in stated]
    if None in labels:
        return Reading(None, problem="the result names neither A nor B")
    prescribed = re.search(r"(?<!\S)\[RESULT\] ?[AB]\s*\Z", text)
    reading = agreed((label for label in labels if label), repaired=prescribed is None or len(after) > 1)
    return reading if stated else _bare(text) or reading


# Skywork-Critic and CompassJudger -----------------------------------------------------------------------------------

_BRACKETS = re.compile(r"\[\[\s*([A-Za-z]|[AB][<>=]+[AB])\s*\]\]")
_LETTERS = {"A": "A", "B": "B"}
_LEVELS = {"A>>B": "A", "A>B": "A", "A=B": "tie", "B=A": "tie", "B>A": "B", "B>>A": "B"}
_LETTERS_AND_TIE = _LETTERS | {"C": "tie"}


def _read_brackets(text: str, verdicts: Mapping[str, str], tolerated: Mapping[str, str], alone: bool) -> Reading:
    """The verdict in double brackets.

    Args:
        text: what the judge wrote.
        verdicts: the grammar, from what the brackets hold to the winner.
        tolerated: what else they may hold, repaired.
        alone: the grammar has room for nothing but the verdict; text around it is then repaired.
    """
    found = set(_BRACKETS.findall(text))
    if not found:
        return _bare(text) or agreed((), repaired=False)
    if len(found) > 1:
        return Reading(None, problem="contradicting verdicts")
    stated = found.pop()
    winner = verdicts.get(stated) or tolerated.get(stated.upper())
    if winner is None:
        return Reading(None, problem=f"[[{stated}]] is no verdict of this format")
    return Reading(winner, repaired=stated not in verdicts or (alone and text.strip() != f"[[{stated}]]"))


def read_critic(text: str) -> Reading:
    """Skywork-Critic's `[[A]]` or `[[B]]`, which is all that it is to write; it knows no tie.

    Source: the model card of Skywork-Critic-Llama-3.1.

    >>> read_critic("[[B]]").winner, read_critic("[[C]]").problem
    ('B', '[[C]] is no verdict of this format')
    """
    return _read_brackets(text, _LETTERS, _LETTERS, alone=True)


def read_compass(text: str) -> Reading:
    """CompassJudger's five levels, `[[A>B]]`, after an explanation; `>>` folds to `>`.

    Repaired: the letters that its other prompts ask for, bare or as `[[A]]`, `[[B]]`, `[[C]]` (a tie).
    Two different verdicts are none, as in `judges.formats.read_brackets`.

    Source: "Pair-wise Judge" and "Judge as Reward Model" in the README of open-compass/CompassJudger.

    >>> read_compass("B is a bit clearer. My final verdict is [[B>A]]."), read_compass("[[C]]").winner
    (Reading(winner='B', repaired=False, problem=''), 'tie')
    """
    return _read_brackets(text, _LEVELS, _LETTERS_AND_TIE, alone=False)


# Auto-J -------------------------------------------------------------------------------------------------------------

_DECISION = re.compile(
    r"\bfinal\s+decision\s*(?:is|:)(?:\s+that)?[\s:*\"'`]*(?:(Response)\s*([12])|(?:a\s+|they\s+are\s+)?(tied?)\b)\b"
    r"(?!\W*(?:/|\bor\b)\W*(?:response|tied?)\b)",
    re.I,
)
_DECISION_NAMES = {"1": "A", "2": "B"}


def read_decision(text: str) -> Reading:
    """Auto-J's sentence `So, the final decision is Response 1`, or `Response 2`, or `Tie`, within its comparison.

    Upstream takes the last such sentence; here contradicting ones are no verdict. The instruction quoted, with its
    three choices, is none.

    Source: the pairwise protocol of GAIR-NLP/auto-j.

    >>> read_decision("Both are sound, but the first is clearer. So, the final decision is Response 1.").winner
    'A'
    """
    stated = list(_DECISION.finditer(text))
    winners = [_DECISION_NAMES[m[2]] if m[2] else "tie" for m in stated]
    prescribed = all(re.match(r"final decision is (?:Response [12]|Tie)\b", m[0]) for m in stated)
    return agreed(winners, repaired=not prescribed)


FINETUNED: dict[str, Format] = {
    "prometheus": Format(read_result, 1024),
    "skywork_critic": Format(read_critic, 2048, Constraint("choice", '["[[A]]", "[[B]]"]')),
    "compass_judger": Format(read_compass, 2048),
    "auto_j": Format(read_decision, 1024),
}
"""Lengths are those that the authors generate with."""
