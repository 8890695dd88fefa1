"""The door to grounded question answering: a name, where its file lies and how many to take; records come out."""

import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from judges.data import garage, grounded_lines
from judges.data.intake import Source, mended
from judges.data.passages import Grounded, Passage
from judges.data.selection import select
from judges.records import UserError

__all__ = [
    "DEMO",
    "DEMO_TRUTH",
    "GROUNDED",
    "Grounded",
    "LoadedGrounded",
    "Passage",
    "digest",
    "load_grounded",
    "select",
]

DEMO = Path(__file__).with_name("grounded_demo.jsonl")
"""Fictional records in GaRAGe's schema: 42 fit for selection, for all ten kinds of perturbation, and 5 unfit."""
DEMO_TRUTH = Path(__file__).with_name("grounded_demo_truth.jsonl")
"""For scripted perturbers alone, never for a model: what each record of the demo was written to have changed.

Fields: `sample_id`, `kind`, `original`, `replacement`, `claim`, `false_claim`, and `edits`: from each way in which the
passages write the original to what takes its place.
"""

NO_PASSAGES = "no passages"
NO_QUESTION = "no question"

Found = tuple[Source, list[tuple[str, Grounded]]]


@dataclass(frozen=True)
class LoadedGrounded:
    """The records of a study, where they came from, and what a person should be told about them."""

    records: tuple[Grounded, ...]
    provenance: dict[str, Any]
    """Plain JSON, for the manifest: file with its hash, counts, what was left out, the draw."""
    warnings: tuple[str, ...]


def load_grounded(
    name: str, path: str | Path | None = None, limit: int | None = None, seed: int = 17
) -> LoadedGrounded:
    """Reads records, leaves out those without a question or passages, and draws `limit` of them if asked for.

    Args:
        name: one of `GROUNDED`.
        path: a folder or file, plain or .gz; None downloads `garage`, and must be None for `grounded_demo`.
        limit: how many to draw at random, before any selection; None takes all.
        seed: of the draw. A smaller limit's records are among a larger one's.

    Returns:
        The records in the order of the file.

    Raises:
        UserError: an unknown name, or data that cannot be read, is ill-formed, or leaves no record.
    """
    reader = _reader(name)
    if limit is not None and limit < 1:
        raise UserError(f"data.limit={limit} leaves no records; give at least 1, or null for all.")
    source, found = reader(None if path is None else Path(path).expanduser())
    _check_ids(found)
    fit, dropped = _sorted_out([_clean(record) for _, record in found])
    if not fit:
        raise UserError(f"{name}: no records left of {len(found)} read. Check data.path.")
    drawn = _draw(fit, limit, seed)
    counts = {"records": len(drawn), "available": len(fit), "dropped": dropped, "records_sha256": digest(drawn)}
    told = {"dataset": name, "files": [asdict(source)], **counts, "draw": {"limit": limit, "seed": seed}}
    said = [f"{name}: {len(ids)} record(s) left out, {why}: {', '.join(ids[:3])}." for why, ids in dropped.items()]
    return LoadedGrounded(drawn, told, tuple(said))


def _reader(name: str) -> Callable[[Path | None], Found]:
    if name not in GROUNDED:
        near = difflib.get_close_matches(name, GROUNDED, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UserError(f"There are no grounded records {name!r}.{hint} Known: {', '.join(GROUNDED)}.")
    return GROUNDED[name]


def _demo(path: Path | None) -> Found:
    if path is not None:
        raise UserError("grounded_demo ships with the package; leave data.path null, or read your file as garage.")
    source, found = garage.read_file(DEMO)
    return replace(source, name=DEMO.name), found


GROUNDED: Mapping[str, Callable[[Path | None], Found]] = {
    "grounded_demo": _demo,
    "garage": garage.read,
    "grounded_jsonl": grounded_lines.read,
}


def _check_ids(found: Sequence[tuple[str, Grounded]]) -> None:
    places: dict[str, str] = {}
    for place, record in found:
        if first := places.get(record.id):
            raise UserError(f"The id {record.id!r} occurs twice: {first} and {place}. Remove or rename one.")
        places[record.id] = place
        ids = [passage.id for passage in record.passages]
        if len(set(ids)) < len(ids):
            raise UserError(f"{place}: two passages have the same id; ids found: {', '.join(ids)}.")


def _sorted_out(records: Sequence[Grounded]) -> tuple[list[Grounded], dict[str, list[str]]]:
    fit: list[Grounded] = []
    dropped: dict[str, list[str]] = {}
    for record in records:
        why = ("" if record.question.strip() else NO_QUESTION) or ("" if record.passages else NO_PASSAGES)
        if why:
            dropped.setdefault(why, []).append(record.id)
        else:
            fit.append(record)
    return fit, dropped


def _clean(record: Grounded) -> Grounded:
    passages = tuple(replace(p, id=mended(p.id), text=mended(p.text)) for p in record.passages)
    question, answer = mended(record.question), mended(record.answer)
    return replace(record, id=mended(record.id), question=question, answer=answer, passages=passages)


def _draw(records: Sequence[Grounded], limit: int | None, seed: int) -> tuple[Grounded, ...]:
    chosen = sorted(np.random.default_rng(seed).permutation(len(records))[:limit].tolist())
    return tuple(records[i] for i in chosen)


def digest(records: Sequence[Grounded]) -> str:
    """sha256 of all that records hold."""
    content = orjson.dumps([asdict(record) for record in records], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()
