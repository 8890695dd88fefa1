"""Judges as steps: a trial becomes requests, their completions become a verdict in the item's own order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judges.formats import FORMATS, Reading, Thinking, split_thinking
from judges.prompts import Prompt, pair_messages
from judges.records import (
    Completion,
    Constraint,
    Factors,
    Message,
    ModelSpec,
    Request,
    Sampling,
    Trial,
    UserError,
    Verdict,
)  # fmt: skip

_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}


def pair_request(
    model: ModelSpec,
    prompt: Prompt,
    trial: Trial,
    *,
    max_tokens: int,
    thinking: Thinking | None,
    seed: int,
    more: tuple[tuple[str, str], ...] = (),
    labels: tuple[str, ...] = (),
    constraint: Constraint | None = None,
) -> Request:
    """The call that shows a trial's pair in its order; a model that thinks gets its budget on top of `max_tokens`."""
    factors, item = trial.factors, trial.item
    first, second = item.answers if factors.order == "AB" else item.answers[::-1]
    budget = max_tokens + (thinking.max_tokens if thinking else 0)
    return Request(
        model,
        pair_messages(prompt, item.question, first, second, more),
        Sampling(budget, factors.temperature, seed=seed if factors.temperature else 0),  # greedy decoding draws nothing
        repeat=factors.repeat,
        labels=labels,
        constraint=constraint,
    )


@dataclass(frozen=True)
class PairwiseJudge:
    """Names the better of two answers, in one call; in two where a format has a follow-up turn."""

    model: ModelSpec
    prompts: Mapping[str, Prompt]
    """The prompt of each format."""
    thinking: Thinking | None = None
    seed: int = 0
    max_tokens: int | None = None
    """Caps the format's own limit, where given."""
    logprobs: bool = False
    """Records the log-probabilities of the labels, in formats whose first token is the verdict."""

    def ask(self, trial: Trial, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One request; after a reply without any verdict, the format's follow-up turn, once."""
        if not so_far:
            return [self._request(trial)]
        prompt = self.prompts[trial.factors.format]
        if len(so_far) > 1 or not prompt.follow_up or so_far[0].outcome not in ("ok", "truncated"):
            return []
        if self._reading(trial.factors, so_far).problem != "no verdict":
            return []
        first = self._request(trial)
        said = Message("assistant", self._reply(so_far[0]))
        return [replace(first, messages=(*first.messages, said, Message("user", prompt.follow_up)), labels=())]

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """The verdict, mapped back to the item's own order: the one place where that is done.

        A reply that the length limit cut off counts where its verdict had been given before the cut.
        """
        last = completions[-1]
        if last.outcome not in ("ok", "truncated"):
            return Verdict(last.outcome)
        reading = self._reading(trial.factors, completions)
        if reading.winner is None:
            return Verdict("truncated" if last.outcome == "truncated" else "unreadable", **self._labels(trial, last))
        swap = trial.factors.order == "BA"
        winner = _SWAPPED[reading.winner] if swap else reading.winner
        return Verdict(
            "tie" if winner == "tie" else "ok", winner=winner, repaired=reading.repaired, **self._labels(trial, last)
        )

    def _request(self, trial: Trial) -> Request:
        factors = trial.factors
        form = FORMATS[factors.format]
        if factors.constrained and form.constraint is None:
            raise UserError(
                f"format {factors.format!r} has room for free text: it can't be asked with constrained=true"
            )
        return pair_request(
            self.model,
            self.prompts[factors.format],
            trial,
            max_tokens=min(form.max_tokens, self.max_tokens or form.max_tokens),
            thinking=self.thinking,
            seed=self.seed,
            labels=form.labels if self.logprobs and not self.thinking else (),
            constraint=form.constraint if factors.constrained else None,
        )

    def _reply(self, completion: Completion) -> str:
        return split_thinking(completion.text, self.thinking)[1]

    def _reading(self, factors: Factors, completions: Sequence[Completion]) -> Reading:
        return FORMATS[factors.format].read("\n".join(self._reply(c) for c in completions))

    def _labels(self, trial: Trial, completion: Completion) -> dict[str, Any]:
        """`p_first` and `label_mass`, where the call recorded its labels' log-probabilities."""
        if completion.label_logprobs is None:
            return {}
        p = {label: math.exp(logprob) for label, logprob in completion.label_logprobs.items()}
        mass = sum(p.values())
        first = p["A" if trial.factors.order == "AB" else "B"]
        return {"p_first": first / mass if mass > 0 else None, "label_mass": mass}
