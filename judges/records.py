"""The records that flow through a study; frozen, and at the bottom of everything.

An item's answers, gold and verdicts are always in the item's own order, never in the order
in which a judge was shown them.
"""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import orjson

Outcome = Literal["ok", "tie", "unreadable", "truncated", "overflow", "refused", "error"]
"""What became of a judgement. Only `ok` and `tie` carry a verdict; the rest say why there is none."""

Order = Literal["AB", "BA"]
"""Which answer is shown first: `AB` is the item's own order."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LABELS = ("A", "B")


_SURROGATES = re.compile(r"[\ud800-\udfff]")


class UserError(Exception):
    """Something a person can mend: says what was wrong, where, and what to do.

    Printed without a traceback by every command.
    """


@dataclass(frozen=True, slots=True)
class Item:
    """One question with the answers to be judged, or with those that are right."""

    id: str
    dataset: str
    question: str
    answers: tuple[str, ...]
    """A pair to be judged; or, where `gold` is None and a study brings its own answers, all that are accepted."""
    gold: str | None
    """`A` or `B` for a pair: the better answer, named by its place in `answers`."""
    source: str = ""
    """Part of the data set (subject, subset) that the item comes from."""
    group: str = ""
    """What a bootstrap resamples together; items that share a question share a group."""
    references: Mapping[str, str] = field(default_factory=dict, hash=False)
    context: str = ""
    language: str = ""
    """BCP 47 tag such as `te`; empty where the data set has but one and does not name it."""
    entity_type: str = ""
    """What kind of thing the answer is (person, date, number), where the data set says so."""
    popularity: int | None = None
    """Page views of what is asked about, where the data set counts them."""


@dataclass(frozen=True, slots=True)
class Factors:
    """The cell of the design in which an item is judged; every field is a column of the table."""

    method: str = "pairwise"
    format: str = "direct"
    order: Order = "AB"
    reference: str = ""
    temperature: float = 0.0
    repeat: int = 0
    constrained: bool = False
    generator: str = ""
    candidate: str = ""
    swap: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One item under one setting of the factors."""

    item: Item
    factors: Factors


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
    """Any text but lone surrogates, which no encoding can carry: they become U+FFFD."""

    def __post_init__(self) -> None:
        if not self.content.isascii():
            object.__setattr__(self, "content", _SURROGATES.sub("\ufffd", self.content))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. Temperature 0 is greedy decoding.

    `seed` is the study's; the seed of a single call is hashed from the whole request
    (`Request.call_seed`), so that no two calls share or neighbour each other's noise.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Constraint:
    """Structured output: the only texts that the model may produce."""

    kind: Literal["choice", "json", "regex"]
    value: str
    """A JSON list of choices, a JSON schema, or a regular expression."""


@dataclass(frozen=True)
class ModelSpec:
    """A model's identity: everything about it that can change what it writes."""

    name: str
    revision: str
    dtype: str = "bfloat16"
    context: int = 8192
    """Longest prompt plus completion, in tokens."""
    quantization: str = ""
    adapter: str = ""
    system: Literal["template", "merge"] = "template"
    """Where a system message goes: to the chat template, or into the first user turn."""
    template_args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reasoning_effort: str = ""
    """How hard a model behind an API is to think, in its provider's words; empty: as the provider has it."""

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as plain JSON."""
        return _non_default(self)


@dataclass(frozen=True)
class Request:
    """One call of a model. `key` addresses its completion in the store."""

    model: ModelSpec
    messages: tuple[Message, ...]
    sampling: Sampling
    repeat: int = 0
    labels: tuple[str, ...] = ()
    """Labels whose log-probabilities are to be recorded, in the order shown."""
    constraint: Constraint | None = None
    label_after: str = ""
    """Regular expression: the labels are looked up at the token that follows its last match in the reply. Empty: at
    the first generated token."""

    @cached_property
    def key(self) -> str:
        """sha256 (64 hex digits) of canonical JSON of all that can change the output.

        Fields at their default are left out, so that a field added later leaves old keys as they were.
        """
        body: dict[str, Any] = {
            "model": self.model.canonical,
            "messages": [[m.role, m.content] for m in self.messages],
            "sampling": _non_default(self.sampling),
            "repeat": self.repeat,
        }
        if self.labels:
            body["labels"] = list(self.labels)
        if self.label_after:
            body["label_after"] = self.label_after
        if self.constraint:
            body["constraint"] = [self.constraint.kind, self.constraint.value]
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def call_seed(self) -> int:
        """A 63-bit seed for this call alone; seeds of neighbouring calls are unrelated."""
        return int(self.key[:16], 16) >> 1


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back from one call, as the model wrote it."""

    text: str
    outcome: Outcome = "ok"
    """`ok`, `truncated`, `overflow`, `refused` or `error`; never a reading of the text."""
    finish: str = "stop"
    reasoning: str = ""
    """Thinking that the engine itself returned apart from the text (API judges)."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """From submission to the last token."""
    label_logprobs: Mapping[str, float] | None = None
    """Log of the summed probability of each label's tokens at the place that the request names.

    Before temperature; under a constraint, after its mask. None where the reply has no such place. A label that the
    engine did not see (`label_rest`) is missing here, not zero.
    """
    label_rest: float | None = None
    """Where the engine shows the likeliest tokens only: the probability of all others at that place, 0 to 1. Any of it
    may be a label's. None: every token of every label was seen."""
    score: float | None = None
    """What a reward model gives a conversation: unbounded, and comparable only within one model."""
    engine: str = ""
    """Fingerprint of the engine: name, version, flags that matter."""
    note: str = ""
    """Why there is no text, in the engine's own words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement in the item's own order. No verdict exactly when `outcome` says why."""

    outcome: Outcome
    winner: str | None = None
    grade: str | None = None
    extracted: str | None = None
    score_a: float | None = None
    score_b: float | None = None
    p_first: float | None = None
    """Probability of the item's own first answer, or that a single one is CORRECT, renormalised over the labels."""
    p_first_low: float | None = None
    """Its bounds, where the engine did not show all of the labels' tokens; None where `p_first` is exact."""
    p_first_high: float | None = None
    p_tie: float | None = None
    label_mass: float | None = None
    """Probability captured by all labels together, before renormalising."""
    confidence: float | None = None
    """What the judge itself says its confidence is, 0 to 1."""
    repaired: bool = False
    """Read tolerantly: the text did not follow the format to the letter."""


def _non_default(record: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for f in dataclasses.fields(record):
        value = getattr(record, f.name)
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if value != default:
            values[f.name] = dict(value) if isinstance(value, Mapping) else value
    return values
