"""From the judges' flags to the verdict table: what each says, beside what the labeller knows."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.evalpair.tables import Case, unread
from experiments.roster import Player
from judges.ask import Answered
from judges.grounded.records import Flag
from judges.grounded.values import holds

_TOLD = ("behaviour", "adopts", "labeller", "labeller_family")

_TEXTS = ("behaviour", "labeller", "labeller_family", "perturber", "perturber_family")


@dataclass(frozen=True)
class Judged:
    """One answer as one judge sees it."""

    case: Case
    written: Mapping[Hashable, Any]
    """Its row in the table of `generate`."""
    judge: Player
    answer: Answered[Flag]


def verdict_table(dataset: str, judged: Sequence[Judged], pool: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and answer, columns as in `analysis.verdicts`; an answer that has no label has no gold."""
    rows = pd.DataFrame([_row(dataset, j) for j in judged])
    status = pool.set_index("item")[["status", "perturber", "perturber_family", "modified_passages"]]
    known = labels.set_index(["item", "generator"])[list(_TOLD)]
    rows = rows.join(status, on="item").join(known, on=["item", "generator"])
    adopts = rows["adopts"].map({True: "ERROR", False: "NO_ERROR", "True": "ERROR", "False": "NO_ERROR"})
    text = {name: rows[name].fillna("").astype(str) for name in _TEXTS}
    return rows.assign(gold=adopts.astype(object).where(adopts.notna(), None), **text).drop(columns="adopts")


def _row(dataset: str, judged: Judged) -> dict[str, Any]:
    flag, made, record = judged.answer.result, judged.case.perturbation, judged.case.record
    modified, written = set(made.modified(record.passages)), judged.written
    ids, cited = {p.id for p in record.passages}, flag.cited.strip("[](){}<>\"' ")
    grade = None if flag.error is None else "ERROR" if flag.error else "NO_ERROR"
    calls = judged.answer.completions
    return {
        "study": "evalpair",
        "judge": judged.judge.model.name,
        "judge_family": judged.judge.model.family,
        "dataset": dataset,
        "source": made.kind,
        "item": record.id,
        "group": record.id,
        "order": "AB",
        "method": "grounded",
        "format": "json",
        "generator": written["generator"],
        "generator_family": written["generator_family"],
        "winner": None,
        "grade": grade,
        "extracted": flag.wrong_claim or None,
        "outcome": flag.outcome,
        "confidence": flag.confidence,
        "repaired": flag.repaired,
        "reply": unread(judged.answer),
        "perturbation_type": made.kind,
        "cited_passage": flag.cited,
        "explanation": flag.explanation,
        "answer_refused": str(written["refused"]) == "True",
        "answer_cites_modified": bool(modified & set(str(written["cited"]).split())),
        "cites_modified": cited in modified if flag.error and cited in ids else None,
        "claim_has_replacement": holds(flag.wrong_claim, made.replacement) if flag.error and flag.wrong_claim else None,
        **{n: sum(getattr(c, n) for c in calls) for n in ("prompt_tokens", "cached_tokens", "completion_tokens")},
        "seconds": sum(c.seconds for c in calls),
        "engine": calls[-1].engine,
        "requests": " ".join(judged.answer.keys),
    }
