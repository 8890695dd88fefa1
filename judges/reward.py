"""Reward models as judges: each answer is scored on its own, and the higher score wins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from judges.records import Completion, Message, ModelSpec, Request, Sampling, Trial, Verdict

_NOTHING = Sampling(max_tokens=0)


@dataclass(frozen=True)
class RewardJudge:
    """Scores the question with either answer, in two calls.

    The calls know neither the order nor the repeat: all trials of an item read the same two completions, so that a
    reward model is reproducible and order-invariant by construction. Asking more than once would measure nothing
    but the rounding of batches.

    Source: studies.md, judgebench, reward models.
    """

    model: ModelSpec

    def ask(self, trial: Trial, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """A call an answer, in the item's own order."""
        if so_far:
            return []
        question = Message("user", trial.item.question)
        return [Request(self.model, (question, Message("assistant", a)), _NOTHING) for a in trial.item.answers]

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """The answer with the higher score; equal scores are a tie, and an answer without one leaves no verdict."""
        for completion in completions:
            if completion.outcome != "ok":
                return Verdict(completion.outcome)
        a, b = (c.score for c in completions)
        if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
            return Verdict("error")
        winner = "tie" if a == b else "A" if a > b else "B"
        return Verdict("tie" if winner == "tie" else "ok", winner=winner, score_a=a, score_b=b)
