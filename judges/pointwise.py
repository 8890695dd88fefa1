"""Judges of single answers, as a step: with or without a reference, in one call or by the vote of several."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from judges import languages
from judges.formats import Thinking, split_thinking
from judges.grades import GRADES, UNKNOWN, Grading, read_json, read_last_line, read_word
from judges.judge import shares, verdict_place
from judges.prompts import Prompt, fill, find
from judges.records import (
    Completion,
    Constraint,
    Message,
    ModelSpec,
    Request,
    Sampling,
    Trial,
    UserError,
    Verdict,
)  # fmt: skip

Layout = Literal["none", "before", "after"]
"""Where the reference stands: nowhere, before the answer, or after it."""
SAMPLES = 5
TEMPERATURE = 0.6
"""Of self-consistency (000_65c668a7267fc0e4.txt, B.3)."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a judge is to write, beside how that is read."""

    read: Callable[[str], Grading]
    max_tokens: int
    constraint: Constraint
    labels: tuple[str, ...] = ()
    """The grades, whose log-probabilities can be read where the verdict stands."""
    label_after: str = ""
    """What stands before the verdict, as `Request.label_after`."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking for a grade."""

    prompt: Prompt
    form: Form
    layout: Layout
    samples: int = 1
    """Calls whose majority is the verdict."""


@dataclass(frozen=True, slots=True)
class Single:
    """An answer to be graded, in a way that goes by this name."""

    trial: Trial
    answer: str
    reference: str = ""
    way: str = ""


def _json_form(words: tuple[str, ...], idk: bool) -> Form:
    text = {"type": "string", "maxLength": 2000}
    fields = {"extracted_answer": text, "explanation": text, "verdict": {"enum": list(words)}}
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return Form(partial(read_json, idk=idk), 1024, Constraint("json", json.dumps(schema)), words, r'"verdict"\s*:\s*"')


def forms(idk: bool) -> dict[str, Form]:
    """The output formats by the names of their templates; with `idk`, UNKNOWN is a third grade."""
    words = (*GRADES, UNKNOWN) if idk else GRADES
    line = rf"[^<]{{1,2000}}\nVerdict: ({'|'.join(words)})"
    return {
        "json": _json_form(words, idk),
        "word": Form(partial(read_word, idk=idk), 32, Constraint("choice", json.dumps(words)), words),
        "cot": Form(partial(read_last_line, idk=idk), 1024, Constraint("regex", line), words, r"Verdict: "),
    }


FORMATS: Mapping[str, tuple[str, int]] = {
    "json": ("json", 1),
    "word": ("word", 1),
    "cot": ("cot", 1),
    "self_consistency": ("word", SAMPLES),
    "cot_self_consistency": ("cot", SAMPLES),
}
"""From a format's name in tables to what is written, and how often it is asked."""


def way(
    study: str, name: str, layout: Layout, basis: str, form: str, *, idk: bool = False, samples: int = 1,
    folder: Path | None = None,
) -> Way:  # fmt: skip
    """Puts a way of asking together from templates; the instruction comes last, so that ways share what precedes it.

    Args:
        study: folder of templates looked in before `pointwise`.
        name: of the way; `<name>.user.txt`, where there is one, stands in for `<layout>.user.txt`.
        layout: where the reference stands.
        basis: template that says what the verdict is to rest on.
        form: key of `forms`; template that says what to write.
        idk: offer UNKNOWN.
        samples: how often to ask.
        folder: a user's own templates.

    Raises:
        UserError: a template is missing.
    """
    methods = (study, "pointwise")
    system = find(methods, (f"{name}.system", "system"), folder)
    user = _found(methods, (f"{name}.user", f"{layout}.user"), folder)
    closing = _found(methods, (basis,), folder), _found(methods, (f"{form}_idk" if idk else form,), folder)
    return Way(Prompt(system or "", user, " ".join(closing)), forms(idk)[form], layout, samples)


@dataclass(frozen=True)
class PointwiseJudge:
    """Grades an answer in one call, or in several whose majority counts."""

    model: ModelSpec
    ways: Mapping[str, Way]
    thinking: Thinking | None = None
    seed: int = 0
    max_tokens: int | None = None
    """Caps the format's own limit, where given."""
    logprobs: bool = False
    """Records the log-probabilities of the grades where the verdict stands, of ways that ask once."""

    def ask(self, x: Single, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """All calls at once."""
        if so_far:
            return []
        way, factors = self.ways[x.way], x.trial.factors
        recorded = self.logprobs and way.samples == 1
        limit = min(way.form.max_tokens, self.max_tokens or way.form.max_tokens)
        sampling = Sampling(
            limit + (self.thinking.max_tokens if self.thinking else 0),
            factors.temperature,
            seed=self.seed if factors.temperature else 0,  # greedy decoding draws nothing
        )
        return [
            Request(
                self.model,
                _messages(way, x.trial.item.question, x.answer, x.reference, x.trial.item.language),
                sampling,
                repeat=factors.repeat * way.samples + i,
                labels=way.form.labels if recorded else (),
                label_after=verdict_place(way.form, self.thinking) if recorded else "",
                constraint=way.form.constraint if factors.constrained else None,
            )
            for i in range(way.samples)
        ]

    def read(self, x: Single, completions: Sequence[Completion], /) -> Verdict:
        """The grade; of several calls that which the calls without one could not outvote.

        `p_first` is the probability of CORRECT among the grades offered; `score_a`, of several calls, the share of the
        readable ones that say CORRECT. An empty answer of which a judge extracts something has not been graded: that
        is unreadable, and the invention stands in `extracted`.
        """
        gradings = [self._grading(x, c) for c in completions]
        found = gradings[0] if len(gradings) == 1 else majority(gradings)
        invented = not x.answer.strip() and bool((found.extracted or "").strip())
        extras: dict[str, Any] = {"extracted": found.extracted}
        if completions[0].label_logprobs is not None:
            extras |= shares(completions[0], self.ways[x.way].form.labels)
        if found.grade is None or invented:
            return Verdict("unreadable" if invented else _why_unread(completions, gradings), **extras)
        votes = [g.grade for g in gradings if g.grade]
        share = votes.count("CORRECT") / len(votes) if len(gradings) > 1 else None
        return Verdict("ok", grade=found.grade, repaired=found.repaired, score_a=share, **extras)

    def _grading(self, x: Single, completion: Completion) -> Grading:
        """A reply that the length limit cut off counts where its verdict had been given before the cut."""
        if completion.outcome not in ("ok", "truncated"):
            return Grading(None, problem=completion.outcome)
        return self.ways[x.way].form.read(split_thinking(completion.text, self.thinking)[1])


def majority(gradings: Sequence[Grading]) -> Grading:
    """The grade that leads by more than the gradings without one; none on a tie, or where those could change it.

    >>> majority([Grading("CORRECT"), Grading("INCORRECT"), Grading("CORRECT"), Grading(None)]).problem
    'no majority'
    """
    votes = Counter(g.grade for g in gradings if g.grade)
    (first, most), (_, next_most) = [*votes.most_common(2), ("", 0), ("", 0)][:2]
    if most - next_most <= len(gradings) - votes.total():
        return Grading(None, problem="no majority")
    return next(Grading(first, g.extracted, any(h.repaired for h in gradings)) for g in gradings if g.grade == first)


@lru_cache(maxsize=256)
def _messages(way: Way, question: str, answer: str, reference: str, tag: str) -> tuple[Message, ...]:
    fields = {"question": question, "answer": answer}
    if way.layout != "none":
        if not reference.strip():
            raise UserError(f"there is no reference to show beside the answer to {question[:80]!r}")
        fields["reference"] = reference
    optional = {"language": languages.named(tag), "instruction": way.prompt.instruction}
    fields |= {name: text for name, text in optional.items() if f"{{{name}}}" in way.prompt.user}
    user = Message("user", fill(way.prompt.user, fields))
    return (Message("system", way.prompt.system), user) if way.prompt.system else (user,)


def _why_unread(completions: Sequence[Completion], gradings: Sequence[Grading]) -> Any:
    """The outcome of the first call that brought no grade; a vote without a majority is unreadable."""
    unread = (c.outcome for c, g in zip(completions, gradings, strict=True) if g.grade is None)
    return next((outcome for outcome in unread if outcome != "ok"), "unreadable")


def _found(methods: Sequence[str], names: Sequence[str], folder: Path | None) -> str:
    text = find(methods, names, folder)
    if text is None:
        raise UserError(f"no template for {names[0]!r}; looked for {', '.join(f'{n}.txt' for n in names)} in {methods}")
    return text
