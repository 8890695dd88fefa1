"""Judges as steps: a trial becomes requests, their completions become a verdict in the item's own order."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from judges.formats import FORMATS, Reading, Stated, Thinking, split_thinking
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
_NARROW = 0.02
_ROUNDING = 1e-4  # Of probabilities in single precision that add up to one.


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
    label_after: str = "",
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
        label_after=label_after,
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
    """Records the log-probabilities of the labels at the verdict, in formats that have a place for it."""

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
        return [
            replace(
                first, messages=(*first.messages, said, Message("user", prompt.follow_up)), labels=(), label_after=""
            )
        ]

    def read(self, trial: Trial, completions: Sequence[Completion], /) -> Verdict:
        """The verdict, mapped back to the item's own order: the one place where that is done.

        A reply that the length limit cut off counts where its verdict had been given before the cut.
        """
        last = completions[-1]
        if last.outcome not in ("ok", "truncated"):
            return Verdict(last.outcome)
        reading = self._reading(trial.factors, completions)
        signals = self._labels(trial, last)
        if reading.winner is None:
            return Verdict("truncated" if last.outcome == "truncated" else "unreadable", **signals)
        winner = _SWAPPED[reading.winner] if trial.factors.order == "BA" else reading.winner
        read_stated = FORMATS[trial.factors.format].confidence
        stated = read_stated(self._reply(last)) if read_stated else Stated(None)
        return Verdict(
            "tie" if winner == "tie" else "ok",
            winner=winner,
            confidence=stated.confidence,
            repaired=reading.repaired or stated.repaired,
            **signals,
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
            labels=form.labels if self.logprobs else (),
            label_after=verdict_place(form, self.thinking) if self.logprobs else "",
            constraint=form.constraint if factors.constrained else None,
        )

    def _reply(self, completion: Completion) -> str:
        return split_thinking(completion.text, self.thinking)[1]

    def _reading(self, factors: Factors, completions: Sequence[Completion]) -> Reading:
        return FORMATS[factors.format].read("\n".join(self._reply(c) for c in completions))

    def _labels(self, trial: Trial, completion: Completion) -> dict[str, Any]:
        """`p_first` and `label_mass`, where the call recorded its labels' log-probabilities."""
        labels = FORMATS[trial.factors.format].labels
        if completion.label_logprobs is None or not labels:
            return {}
        return shares(completion, labels if trial.factors.order == "AB" else labels[::-1])


class Placed(Protocol):
    """A format whose verdict may stand at a place that can be found."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The texts that a verdict begins with; empty where log-probabilities can't tell."""

    @property
    def label_after(self) -> str:
        """What stands before it, as `Request.label_after`."""


def verdict_place(form: Placed, thinking: Thinking | None) -> str:
    """What stands before the verdict: `label_after` of its format, in the reply that follows a model's thinking."""
    if not form.labels or thinking is None:
        return form.label_after
    reply = rf"\A(?s:.*?){re.escape(thinking.close)}"
    return reply + (rf"(?s:.*){form.label_after}" if form.label_after else r"\s*")


def shares(completion: Completion, labels: Sequence[str]) -> dict[str, Any]:
    """What labels' log-probabilities say of a verdict, as fields of `Verdict`.

    Where an engine shows the likeliest tokens only, `p_first` is null if a label is not among them and its bounds are
    further than 0.02 apart; if they are closer, it is their middle.

    Args:
        completion: with `label_logprobs`.
        labels: two; the first one names the answer that `p_first` is of.

    >>> found = shares(Completion("A", label_logprobs={"A": math.log(0.3), "B": math.log(0.1)}), ("A", "B"))
    >>> round(found["p_first"], 6), round(found["label_mass"], 6)
    (0.75, 0.4)
    """
    logs, rest = completion.label_logprobs or {}, completion.label_rest
    p = {label: math.exp(logs[label]) for label in labels if label in logs}
    mass = sum(p.values())
    if math.isnan(mass):
        return {}
    exact = p[labels[0]] / mass if len(p) == len(labels) and mass > 0 else None
    mass = min(mass, 1.0) if mass < 1 + _ROUNDING else mass
    if rest is None:
        return {"p_first": exact, "label_mass": mass}
    if mass + rest <= 0:
        return {"label_mass": mass}
    low, high = p.get(labels[0], 0.0) / (mass + rest), (p.get(labels[0], 0.0) + rest) / (mass + rest)
    middle = (low + high) / 2 if high - low <= _NARROW else None
    return {"p_first": middle if exact is None else exact, "label_mass": mass, "p_first_low": low, "p_first_high": high}
