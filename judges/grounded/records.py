"""What flows through the steps on grounded questions; what a judge is shown has no place for what was changed."""

from dataclasses import dataclass
from typing import Literal

from judges.records import Outcome

KINDS = (
    "entity", "temporal", "numerical", "relation_inversion", "location", "affiliation", "ranking", "causal",
    "negation_modality", "multihop_bridge",
)  # fmt: skip
"""The kinds of perturbation that a perturber may choose from."""

BEHAVIOURS = ("context_follow", "memory_override", "both_claims", "conflict_aware", "refusal", "unrelated")
"""How an answer may deal with the perturbed passages."""

MODEL_GATES = ("type", "causality", "consistency", "leakage", "contradiction")
"""What a validating model is asked about a perturbation."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence, as any model sees it."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the answer that people gave to it, and its passages as they were."""

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a perturber did to one passage: a new text, or none and the reason."""

    id: str
    text: str = ""
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """One answer-causal value, replaced in every passage that states it."""

    kind: str
    original: str
    replacement: str
    claim: str
    """What the passages said."""
    false_claim: str
    """What they say now."""
    note: str
    rewrites: tuple[Rewrite, ...]

    def applied(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """The passages as the perturbation leaves them."""
        new = {r.id: r.text for r in self.rewrites if r.text}
        return tuple(Passage(p.id, new.get(p.id, p.text)) for p in passages)

    def modified(self, passages: tuple[Passage, ...]) -> tuple[str, ...]:
        """Ids of the passages that it changes."""
        return tuple(p.id for p, q in zip(passages, self.applied(passages), strict=True) if p.text != q.text)


@dataclass(frozen=True, slots=True)
class Perturbed:
    """What came of asking for a perturbation; none exactly when `outcome` says why."""

    outcome: Outcome
    perturbation: Perturbation | None = None
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    """One check of a perturbation. `passed` is None where there is no finding, and `evidence` says why."""

    name: str
    passed: bool | None
    evidence: str
    by: Literal["model", "code"] = "code"
    outcome: Outcome = "ok"


@dataclass(frozen=True, slots=True)
class Generated:
    """An answer written from passages."""

    outcome: Outcome
    answer: str = ""
    cited: tuple[str, ...] = ()
    """Ids of passages, as the model gave them."""
    refused: bool = False
    """The model itself says that it does not answer."""
    notes: str = ""
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """How an answer deals with a perturbation, from a model that knows it."""

    outcome: Outcome
    behaviour: str = ""
    states_original: bool | None = None
    adopts: bool | None = None
    """Does the answer take up the false claim?"""
    rationale: str = ""
    confidence: float | None = None
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Blind:
    """All that a judge is shown: nothing here, and no type here, can hold what was changed or how it was labelled."""

    question: str
    answer: str
    passages: tuple[Passage, ...]
    """As they were before any perturbation."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Does an answer contradict the passages?"""

    outcome: Outcome
    error: bool | None = None
    wrong_claim: str = ""
    cited: str = ""
    """Id of the passage that the judge rests on, as it gave it."""
    explanation: str = ""
    confidence: float | None = None
    """As the judge states it, 0 to 1."""
    repaired: bool = False
