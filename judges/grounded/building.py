"""The steps that build a controlled contradiction: perturb what passages say, and ask whether that was done well."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judges.grounded.asking import FLAG, SHORT, TEXT, Asker, schema, text
from judges.grounded.records import KINDS, MODEL_GATES, Asked, Gate, Perturbation, Perturbed, Rewrite
from judges.grounded.replies import read_reply, text_of
from judges.records import Completion, Request

_REWRITE = {
    "type": "object",
    "properties": {"passage_id": SHORT, "rewritten_text": {"type": "string"}, "skip_reason": SHORT},
    "required": ["passage_id", "rewritten_text", "skip_reason"],
    "additionalProperties": False,
}
PERTURBATION = schema(
    {
        "perturbation_type": {"enum": list(KINDS)},
        "original_value": SHORT,
        "perturbed_value": SHORT,
        "atomic_claim_original": TEXT,
        "atomic_claim_perturbed": TEXT,
        "note": TEXT,
        "passages": {"type": "array", "items": _REWRITE},
    }
)
VALIDATION = schema({gate: FLAG for gate in MODEL_GATES} | {f"{gate}_evidence": text(300) for gate in MODEL_GATES})

_SPARE = 1024
"""Tokens for the fields of a perturbation beside the rewritten passages."""
_PER_CHARACTER = 0.5
"""Tokens that a rewritten passage may take for each character of the old one: ample for any script."""


@dataclass(frozen=True)
class Perturb:
    """Asks for one answer-causal value to be replaced in every passage that states it."""

    asker: Asker

    def ask(self, record: Asked, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call; again where the limit cut it off and the asker is patient."""
        if not self.asker.again([c.outcome for c in so_far]):
            return []
        limit = _SPARE + int(_PER_CHARACTER * sum(len(p.text) for p in record.passages))
        fields = {"question": record.question, "answer": record.answer}
        return [self.asker.request(record.passages, fields, limit, PERTURBATION, len(so_far))]

    def read(self, record: Asked, completions: Sequence[Completion], /) -> Perturbed:
        """The perturbation as it was written; whether it is a good one is for the gates to say."""
        needed = {"original_value": str, "perturbed_value": str, "passages": list}
        reply = read_reply(completions[-1], self.asker.thinking, needed)
        if reply.fields is None:
            return Perturbed(reply.outcome)
        found = reply.fields
        rewrites = [_rewrite(entry) for entry in found["passages"]]
        if None in rewrites:
            return Perturbed("unreadable")
        made = Perturbation(
            kind=text_of(found.get("perturbation_type")),
            original=text_of(found["original_value"]),
            replacement=text_of(found["perturbed_value"]),
            claim=text_of(found.get("atomic_claim_original")),
            false_claim=text_of(found.get("atomic_claim_perturbed")),
            note=text_of(found.get("note")),
            rewrites=tuple(r for r in rewrites if r),
        )
        return Perturbed("ok", made, reply.repaired)


def _rewrite(entry: Any) -> Rewrite | None:
    if not isinstance(entry, dict) or not (name := text_of(entry.get("passage_id"))):
        return None
    return Rewrite(name, text_of(entry.get("rewritten_text")), text_of(entry.get("skip_reason")))


@dataclass(frozen=True)
class Validate:
    """Asks a model the five questions that a perturbation must pass."""

    asker: Asker

    def ask(self, put: tuple[Asked, Perturbation], so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call; again where the limit cut it off and the asker is patient."""
        if not self.asker.again([c.outcome for c in so_far]):
            return []
        record, made = put
        changed = set(made.modified(record.passages))
        after = [p for p in made.applied(record.passages) if p.id in changed]
        fields = {
            "question": record.question,
            "answer": record.answer,
            "rewritten": "\n".join(f'<rewritten id="{p.id}">\n{p.text}\n</rewritten>' for p in after),
            "kind": made.kind,
            "original": made.original,
            "replacement": made.replacement,
            "claim": made.claim,
            "false_claim": made.false_claim,
        }
        return [self.asker.request(record.passages, fields, 1024, VALIDATION, len(so_far))]

    def read(self, put: tuple[Asked, Perturbation], completions: Sequence[Completion], /) -> list[Gate]:
        """The five gates; one without a finding where the reply can't be read."""
        reply = read_reply(completions[-1], self.asker.thinking, dict.fromkeys(MODEL_GATES, bool))
        if reply.fields is None:
            return [Gate(name, None, f"the reply is {reply.outcome}", "model", reply.outcome) for name in MODEL_GATES]
        found = reply.fields
        return [Gate(name, found[name], text_of(found.get(f"{name}_evidence")), "model") for name in MODEL_GATES]
