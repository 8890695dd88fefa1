"""Judging by criteria: FLASK's vote over one call a criterion, and G-Eval's single call of scores.

Source: 004_e1840bb43771aeee.txt, "FLASK and G-Eval"; studies.md, trust, paradigms.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

from judges.formats import Reading, Thinking, read_letter, split_thinking
from judges.judge import pair_request
from judges.prompts import Prompt
from judges.records import Completion, ModelSpec, Request, Trial, UserError, Verdict

Criteria = Mapping[str, str]
"""From a criterion's name to what it means."""

CRITERIA: Mapping[str, Criteria] = {
    "objective": {
        "factuality": "whether what the answer states is true",
        "soundness": "whether its final answer and the steps that lead to it hold",
        "completeness": "whether it covers all that the task asks for",
        "instruction": "whether it does what the task says, in the way the task says it",
    },
    "instruction": {
        "instruction": "whether it does what the task says, in the way the task says it",
        "completeness": "whether it covers all that the task asks for",
        "relevance": "whether everything in it serves the task",
        "clarity": "whether it is easy to follow",
    },
}
"""The paper's criteria for JudgeBench (objective) and for LLMBar (instruction)."""

_LETTER_TOKENS, _SCORE_TOKENS = 32, 512
_LOWEST, _HIGHEST = 1, 5


@dataclass(frozen=True)
class Flask:
    """One pairwise call for each criterion; the majority wins, and an even split is a tie."""

    model: ModelSpec
    prompt: Prompt
    criteria: Criteria
    thinking: Thinking | None = None
    seed: int = 0
    max_tokens: int | None = None
    """Caps a reply below the method's own limit, where given."""

    def ask(self, trial: Trial, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """A call a criterion."""
        if so_far:
            return []
        each = [("criterion", f"{name}: {meaning}") for name, meaning in self.criteria.items()]
        return [_ask(self, trial, _LETTER_TOKENS, criterion) for criterion in each]

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """The majority of the criteria, where calls without a verdict could not change it; its votes as scores."""
        readings = [_letter(c, self.thinking) for c in completions]
        votes = [reading.winner for reading in readings]
        a, b = votes.count("A"), votes.count("B")
        missing = len(votes) - a - b
        if missing and abs(a - b) <= missing:
            return Verdict(_why_unread(completions, [v is None for v in votes]))
        return _scored(trial, a, b, repaired=any(reading.repaired for reading in readings))


@dataclass(frozen=True)
class GEval:
    """One call that scores both answers on every criterion; the larger sum wins, equal sums are a tie."""

    model: ModelSpec
    prompt: Prompt
    criteria: Criteria
    thinking: Thinking | None = None
    seed: int = 0
    max_tokens: int | None = None
    """Caps a reply below the method's own limit, where given."""

    def ask(self, trial: Trial, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call."""
        criteria = "\n".join(f"- {name}: {meaning}" for name, meaning in self.criteria.items())
        return [] if so_far else [_ask(self, trial, _SCORE_TOKENS, ("criteria", criteria))]

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """The sums of the scores; a score that is missing or off its scale makes the whole unreadable."""
        (completion,) = completions
        found = None
        if completion.outcome in ("ok", "truncated"):
            found = read_scores(split_thinking(completion.text, self.thinking)[1], self.criteria)
        return _scored(trial, *found) if found else Verdict(_why_unread(completions, [True]))


def read_scores(text: str, criteria: Criteria) -> tuple[int, int, bool] | None:
    """The sums of both answers' scores, in the order shown, and whether the JSON had to be repaired.

    None unless every score is a whole number on the scale.

    >>> read_scores('{"A": {"clarity": 4}, "B": {"clarity": 2}}', {"clarity": ""})
    (4, 2, False)
    """
    repaired = False
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        repaired = True
        begin = text.find("{")
        found = json_repair.loads(text[begin:]) if begin >= 0 else None
    if not isinstance(found, dict):
        return None
    scores = [[_score(found.get(answer), name) for name in criteria] for answer in ("A", "B")]
    if any(score is None for row in scores for score in row):
        return None
    a, b = (sum(score for score in row if score is not None) for row in scores)
    return a, b, repaired


def _ask(judge: Flask | GEval, trial: Trial, tokens: int, field: tuple[str, str]) -> Request:
    if trial.factors.constrained:
        raise UserError(
            f"method {trial.factors.method!r} has no grammar to hold a reply to: leave out constrained=true"
        )
    return pair_request(
        judge.model,
        judge.prompt,
        trial,
        max_tokens=min(tokens, judge.max_tokens or tokens),
        thinking=judge.thinking,
        seed=judge.seed,
        more=(field,),
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, empty where a key comes twice: a later score must not quietly win over an earlier one."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}


def _score(answer: Any, name: str) -> int | None:
    value = answer.get(name) if isinstance(answer, dict) else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if _LOWEST <= value <= _HIGHEST else None


def _letter(completion: Completion, thinking: Thinking | None) -> Reading:
    if completion.outcome not in ("ok", "truncated"):
        return Reading(None, problem=completion.outcome)
    return read_letter(split_thinking(completion.text, thinking)[1])


def _why_unread(completions: Sequence[Completion], unread: Sequence[bool]) -> Any:
    """The outcome of the first call that brought no verdict."""
    outcome = next(c.outcome for c, missing in zip(completions, unread, strict=True) if missing)
    return "unreadable" if outcome == "ok" else outcome


def _scored(trial: Trial, first: int, second: int, repaired: bool = False) -> Verdict:
    """From the scores of the answers in the order shown to a verdict in the item's own order."""
    a, b = (first, second) if trial.factors.order == "AB" else (second, first)
    winner = "tie" if a == b else "A" if a > b else "B"
    return Verdict("tie" if winner == "tie" else "ok", winner=winner, score_a=a, score_b=b, repaired=repaired)
