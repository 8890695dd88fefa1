"""What a reviewer is shown of one case: the answer, the passages before and after with their difference, the flag."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import files
from experiments.evalpair import tables
from judges.data.grounded import Grounded
from judges.grounded.records import Perturbation
from judges.records import UserError

Piece = tuple[str, str]
"""A stretch of text, and whether it is `same`, `old` or `new`."""


@dataclass(frozen=True)
class Sources:
    """The tables of a run that cases are put together from."""

    verdicts: pd.DataFrame
    answers: Mapping[tuple[str, str], str]
    """By record and generator."""
    made: Mapping[str, Perturbation]
    """By record."""
    records: Mapping[str, Grounded]


def sources(run: Path, verdicts: pd.DataFrame, records: Sequence[Grounded]) -> Sources:
    """Reads the tables of a run's stages.

    Raises:
        UserError: one is missing or faulty.
    """
    generate, pool, perturb = (_stage(run, name) for name in ("generate", "pool", "perturb"))
    made = tables.perturbations(perturb[perturb["outcome"] == "ok"])
    chosen = zip(pool["item"], pool["perturber"], strict=True)
    written = generate[generate["outcome"] == "ok"].to_dict("records")
    return Sources(
        verdicts,
        {(row["item"], row["generator"]): tables.written(row) for row in written},
        {item: made[item, by] for item, by in chosen if (item, by) in made},
        {record.id: record for record in records},
    )


def case(found: Sources, number: str, item: str, generator: str, judge: str) -> dict[str, Any]:
    """One case as plain JSON; the automatic label is no part of it.

    Raises:
        UserError: the run's tables no longer hold it.
    """
    rows = found.verdicts.query("item == @item and generator == @generator and judge == @judge")
    made, record = found.made.get(item), found.records.get(item)
    if made is None or record is None or rows.empty or (item, generator) not in found.answers:
        raise UserError(f"case {number}: the run holds no verdict of {judge} on the answer of {generator} to {item}")
    row = rows.iloc[0]
    new = {r.id: r.text for r in made.rewrites if r.text}
    return {
        "case": number,
        "question": record.question,
        "answer": found.answers[item, generator],
        "original_value": made.original,
        "replacement": made.replacement,
        "claim": made.claim,
        "false_claim": made.false_claim,
        "passages": [
            {
                "id": p.id,
                "changed": new.get(p.id, p.text) != p.text,
                "pieces": difference(p.text, new.get(p.id, p.text)),
            }
            for p in record.passages
        ],
        "flagged": row["grade"] == "ERROR",
        "wrong_claim": _text(row["extracted"]),
        "cited_passage": _text(row["cited_passage"]),
        "explanation": _text(row["explanation"]),
    }


def difference(before: str, after: str) -> list[Piece]:
    """A text as it was and as it is, word by word.

    >>> difference("a 48% jump", "a 35% jump")
    [('a ', 'same'), ('48', 'old'), ('35', 'new'), ('% jump', 'same')]
    """
    old, new = (re.findall(r"\w+|\W", text) for text in (before, after))
    pieces: list[Piece] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            pieces.append(("".join(old[a:b]), "same"))
            continue
        pieces += [(text, kind) for text, kind in (("".join(old[a:b]), "old"), ("".join(new[c:d]), "new")) if text]
    return pieces


def _stage(run: Path, name: str) -> pd.DataFrame:
    columns = {"generate": tables.GENERATE, "pool": tables.POOL, "perturb": tables.PERTURB}[name]
    return files.load(run / "stages" / f"{name}.csv", columns)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
