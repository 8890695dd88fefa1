"""The tables between the stages, and what they say: records, perturbations, answers, labels."""

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.roster import Player
from judges.ask import Answered
from judges.grounded.records import Asked, Gate, Generated, Label, Passage, Perturbation, Perturbed, Rewrite
from judges.records import UserError

SELECT = ("item", "question", "answer", "popularity", "complexity", "category")
PERTURB = (
    "item", "perturber", "perturber_family", "outcome", "kind", "original", "replacement", "claim", "false_claim",
    "note", "passage", "rewritten", "skipped", "provenance",
)  # fmt: skip
VALIDATE = ("item", "perturber", "validator", "gate", "by", "reading", "evidence")
"""`reading` and not `outcome`: a gate that a validator leaves open is a row that later stages must see."""
POOL = ("item", "perturber", "perturber_family", "kind", "status", "failed")
GENERATE = ("item", "generator", "generator_family", "outcome", "answer", "cited", "invented_citations", "notes")
LABEL = ("item", "generator", "labeller", "labeller_family", "outcome", "behaviour", "rationale")

QUOTED = 500
"""Characters of a reply that is quoted because it can't be read."""
_FIELDS = ["kind", "original", "replacement", "claim", "false_claim", "note"]


@dataclass(frozen=True)
class Case:
    """A record with the perturbation that was chosen for it."""

    record: Asked
    perturbation: Perturbation


def selected(records: Sequence[Any]) -> pd.DataFrame:
    """One row a record, as the data set has them."""
    return pd.DataFrame(
        {
            **{name: [str(getattr(r, name) or "") for r in records] for name in ("question", "answer")},
            **{name: [str(getattr(r, name) or "") for r in records] for name in SELECT[3:]},
            "passages": [len(r.passages) for r in records],
        }
    ).assign(item=[r.id for r in records])[[*SELECT, "passages"]]


def asked(table: pd.DataFrame, records: Sequence[Any]) -> list[Asked]:
    """The records of a table of `select`, with their passages.

    Raises:
        UserError: the table names a record that the data set lacks.
    """
    passages = {r.id: tuple(Passage(p.id, p.text) for p in r.passages) for r in records}
    if unknown := sorted(set(table["item"]) - passages.keys()):
        raise UserError(f"select: the data set has no record {', '.join(unknown[:3])}; it has {len(passages)} records")
    columns = (table[name] for name in ("item", "question", "answer"))
    return [Asked(item, question, answer, passages[item]) for item, question, answer in zip(*columns, strict=True)]


def perturbed_rows(dataset: str, record: Asked, by: Player, answer: Answered[Perturbed]) -> Iterable[dict[str, Any]]:
    """One row a passage that the perturber spoke of; one alone where there is no perturbation."""
    made = answer.result.perturbation
    common: dict[str, Any] = {"item": record.id, "perturber": by.model.name, "perturber_family": by.model.family}
    common |= {"outcome": answer.result.outcome, "repaired": answer.result.repaired, "reply": unread(answer)}
    common["requests"] = " ".join(answer.keys)
    if made is None:
        yield {**dict.fromkeys(PERTURB, ""), **common}
        return
    common |= {
        name: getattr(made, name) for name in ("kind", "original", "replacement", "claim", "false_claim", "note")
    }
    texts = {p.id: p.text for p in record.passages}
    for rewrite in made.rewrites or (Rewrite(""),):
        yield {
            **common,
            "passage": rewrite.id,
            "rewritten": rewrite.text,
            "skipped": rewrite.skipped,
            "provenance": _provenance(dataset, record.id, rewrite, texts.get(rewrite.id, ""), by.model.name),
        }


def _provenance(dataset: str, item: str, rewrite: Rewrite, text: str, by: str) -> str:
    if not rewrite.text:
        return ""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"synthetic counterfactual of {dataset} {item} passage {rewrite.id} (sha256 {digest}), written by {by}"


def perturbations(table: pd.DataFrame) -> dict[tuple[str, str], Perturbation]:
    """The perturbations of a table of `perturb`, by record and perturber.

    Raises:
        UserError: a rewritten passage has no provenance; the rows of one perturbation contradict each other.
    """
    lost = table[(table["rewritten"] != "") & (table["provenance"] == "")]
    if len(lost):
        first = lost.iloc[0]
        raise UserError(
            f"perturb: passage {first['passage']} of {first['item']} was rewritten and has no provenance; a synthetic "
            "passage is not passed on without one: fill the column, or drop the row"
        )
    found = {}
    for (item, by), rows in table.groupby(["item", "perturber"], sort=False):
        if len(rows[_FIELDS].drop_duplicates()) > 1:
            raise UserError(f"perturb: the rows of {item} by {by} differ in {', '.join(_FIELDS)}; make them agree")
        told = rows[rows["passage"] != ""]
        rewrites = tuple(map(Rewrite, told["passage"], told["rewritten"], told["skipped"]))
        found[str(item), str(by)] = Perturbation(
            **dict(zip(_FIELDS, rows.iloc[0][_FIELDS], strict=True)), rewrites=rewrites
        )
    return found


def gate_rows(item: str, perturber: str, validator: str, gates: Iterable[Gate], keys: str) -> Iterable[dict[str, Any]]:
    """One row a gate: its outcome and its evidence."""
    for gate in gates:
        yield {
            "item": item,
            "perturber": perturber,
            "validator": validator if gate.by == "model" else "",
            "gate": gate.name,
            "by": gate.by,
            "passed": gate.passed if gate.passed is not None else "",
            "reading": gate.outcome,
            "evidence": gate.evidence,
            "requests": keys if gate.by == "model" else "",
        }


def generated_row(case: Case, by: Player, invented: Sequence[str], answer: Answered[Generated]) -> dict[str, Any]:
    """One answer, with the ids it cites and those among them that no passage has."""
    found = answer.result
    return {
        "item": case.record.id,
        "generator": by.model.name,
        "generator_family": by.model.family,
        "outcome": found.outcome,
        "answer": found.answer,
        "cited": " ".join(found.cited),
        "invented_citations": " ".join(invented),
        "refused": found.refused,
        "notes": found.notes,
        "repaired": found.repaired,
        "reply": unread(answer),
        "requests": " ".join(answer.keys),
    }


def label_row(item: str, generator: str, by: Player, answer: Answered[Label]) -> dict[str, Any]:
    """How one answer deals with the perturbation."""
    found = answer.result
    return {
        "item": item,
        "generator": generator,
        "labeller": by.model.name,
        "labeller_family": by.model.family,
        "outcome": found.outcome,
        "behaviour": found.behaviour,
        "adopts": "" if found.adopts is None else found.adopts,
        "states_original": "" if found.states_original is None else found.states_original,
        "rationale": found.rationale,
        "label_confidence": found.confidence,
        "reply": unread(answer),
        "requests": " ".join(answer.keys),
    }


def unread(answer: Answered[Any]) -> str:
    """How a reply begins that can't be read, or why there is none; empty where it was read."""
    last = answer.completions[-1]
    return "" if answer.result.outcome == "ok" else (last.text.strip() or last.note)[:QUOTED]


def written(row: Mapping[Hashable, Any]) -> str:
    """What a generator has to say: its answer, or the note in which it declines to give one."""
    return str(row["answer"] or row["notes"])
