"""The steps after the perturbation: answer from the passages, label the answer with its knowledge, judge it without."""

from collections.abc import Sequence
from dataclasses import dataclass

from judges.grounded.asking import FLAG, SHARE, SHORT, TEXT, Asker, schema, text
from judges.grounded.records import BEHAVIOURS, Asked, Blind, Flag, Generated, Label, Passage, Perturbation
from judges.grounded.replies import confidence_of, read_reply, text_of
from judges.records import Completion, Request

ANSWER = schema(
    {
        "answer": text(1500),
        "cited_passage_ids": {"type": "array", "items": text(40), "maxItems": 20},
        "is_refusal": FLAG,
        "notes": SHORT,
    }
)
LABEL = schema(
    {
        "rationale": TEXT,
        "behavior_label": {"enum": list(BEHAVIOURS)},
        "entails_original_claim": FLAG,
        "entails_perturbed_claim": FLAG,
        "confidence": SHARE,
    }
)
JUDGEMENT = schema(
    {
        "explanation": TEXT,
        "contains_factual_error": FLAG,
        "wrong_claim": text(400),
        "supporting_passage_id": text(40),
        "confidence": SHARE,
    }
)


@dataclass(frozen=True)
class Generate:
    """Answers a question from passages alone; what they were before is not among its inputs."""

    asker: Asker

    def ask(self, put: tuple[str, tuple[Passage, ...]], so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call; again where the limit cut it off and the asker is patient."""
        question, passages = put
        again = self.asker.again([c.outcome for c in so_far])
        return [self.asker.request(passages, {"question": question}, 1024, ANSWER, len(so_far))] if again else []

    def read(self, put: tuple[str, tuple[Passage, ...]], completions: Sequence[Completion], /) -> Generated:
        """The answer with what it cites; a refusal, as a field or by the provider, is a result and not a failure."""
        if completions[-1].outcome == "refused":
            return Generated("ok", refused=True, notes=completions[-1].note)
        reply = read_reply(completions[-1], self.asker.thinking, {"is_refusal": bool})
        found = reply.fields
        if found is None:
            return Generated(reply.outcome)
        answer = text_of(found.get("answer"))
        if not answer and not found["is_refusal"]:
            return Generated("unreadable")
        cited = found.get("cited_passage_ids")
        ids = tuple(filter(None, map(text_of, cited))) if isinstance(cited, list) else ()
        return Generated("ok", answer, ids, found["is_refusal"], text_of(found.get("notes")), reply.repaired)


@dataclass(frozen=True)
class Labelling:
    """What the labeller is shown of one answer: all of the perturbation."""

    record: Asked
    perturbation: Perturbation
    answer: str


@dataclass(frozen=True)
class AssignLabel:
    """Says how an answer deals with the perturbation, and whether it takes up the false claim."""

    asker: Asker

    def ask(self, put: Labelling, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call; again where the limit cut it off and the asker is patient."""
        if not self.asker.again([c.outcome for c in so_far]):
            return []
        made = put.perturbation
        changed = set(made.modified(put.record.passages))
        shown = [p for p in made.applied(put.record.passages) if p.id in changed]
        fields = {
            "question": put.record.question,
            "original": made.original,
            "replacement": made.replacement,
            "claim": made.claim,
            "false_claim": made.false_claim,
            "answer": put.answer,
        }
        return [self.asker.request(shown, fields, 512, LABEL, len(so_far))]

    def read(self, put: Labelling, completions: Sequence[Completion], /) -> Label:
        """The label; one that is none of the six is unreadable."""
        needed = {"behavior_label": str, "entails_perturbed_claim": bool}
        reply = read_reply(completions[-1], self.asker.thinking, needed)
        found = reply.fields
        if found is None:
            return Label(reply.outcome)
        behaviour = text_of(found["behavior_label"]).casefold().replace("-", "_").replace(" ", "_")
        if behaviour not in BEHAVIOURS:
            return Label("unreadable")
        original = found.get("entails_original_claim")
        return Label(
            "ok",
            behaviour,
            original if isinstance(original, bool) else None,
            found["entails_perturbed_claim"],
            text_of(found.get("rationale")),
            confidence_of(found.get("confidence")),
            reply.repaired,
        )


@dataclass(frozen=True)
class JudgeGrounded:
    """Says whether an answer contradicts the passages as they were; takes nothing but what a judge may see."""

    asker: Asker

    def ask(self, shown: Blind, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One call; again where the limit cut it off and the asker is patient.

        Raises:
            TypeError: it is given anything but `Blind`.
        """
        if type(shown) is not Blind:
            raise TypeError(f"a judge is shown Blind and nothing else, not {type(shown).__name__}")
        if not self.asker.again([c.outcome for c in so_far]):
            return []
        fields = {"question": shown.question, "answer": shown.answer}
        return [self.asker.request(shown.passages, fields, 768, JUDGEMENT, len(so_far))]

    def read(self, shown: Blind, completions: Sequence[Completion], /) -> Flag:
        """The flag, and what it rests on."""
        reply = read_reply(completions[-1], self.asker.thinking, {"contains_factual_error": bool})
        found = reply.fields
        if found is None:
            return Flag(reply.outcome)
        return Flag(
            "ok",
            found["contains_factual_error"],
            text_of(found.get("wrong_claim")),
            text_of(found.get("supporting_passage_id")),
            text_of(found.get("explanation")),
            confidence_of(found.get("confidence")),
            reply.repaired,
        )
