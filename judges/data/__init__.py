"""The door to the data sets: a name, where its files lie and how many to take; items and their provenance come out."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from judges.data import (
    alpacafarm,
    freshqa,
    judgebench,
    llmbar,
    mata,
    mt_bench,
    nq_open,
    pandalm,
    popqa,
    sciq,
    tydiqa,
    verifiable,
    verifiable_qa,
)
from judges.data.grounded import GROUNDED
from judges.data.intake import Accepted, Raw, accept, digest
from judges.data.sampling import draw
from judges.records import Item, UserError

Loader = Callable[[Path | None, str | None], Raw]
"""From `(path, split)`, either of them None for the data set's own choice, to what its files hold."""

LOADERS: Mapping[str, Loader] = {
    "verifiable": verifiable.read,
    "judgebench": judgebench.read,
    "llmbar": llmbar.read,
    "mt_bench": mt_bench.read,
    "alpacafarm": alpacafarm.read,
    "pandalm": pandalm.read,
    "verifiable_qa": verifiable_qa.read,
    "nq_open": nq_open.read,
    "popqa": popqa.read,
    "sciq": sciq.read,
    "freshqa": freshqa.read,
    "tydiqa": tydiqa.read,
    "mata": mata.read,
}
"""Pairs to be judged; then questions with all their accepted answers: no `Item.gold`, the primary in `references`."""


@dataclass(frozen=True)
class Loaded:
    """The items of a study, where they came from, and what a person should be told about them."""

    items: tuple[Item, ...]
    provenance: dict[str, Any]
    """Plain JSON, for the manifest: files with their hashes, hub commit, counts, the sample drawn."""
    warnings: tuple[str, ...]


def load(
    name: str,
    path: str | Path | None = None,
    limit: int | None = None,
    seed: int = 42,
    sample: str = "proportional",
    balance: bool = True,
    split: str | None = None,
    languages: Sequence[str] | None = None,
) -> Loaded:
    """Reads a data set, checks and cleans every item, and draws a sample if `limit` asks for one.

    Args:
        name: one of `LOADERS`.
        path: a folder or file in the upstream format, plain or .gz; None downloads (or, for `verifiable`, generates).
        limit: how many items to draw; None takes all. A smaller limit's items are among a larger one's.
        seed: of the sample, and of nothing else.
        sample: `proportional` or `uniform`: stratified over `Item.source`, with shares proportional to the
            sources' sizes or equal; `random`: not stratified.
        balance: draw so that both golds come up equally often (in every source, if stratified), as far as they can.
        split: a part of the data set, where it has parts (`judgebench`, `mt_bench`, `nq_open`, `tydiqa`, ...).
        languages: BCP 47 tags of the languages to take; None takes all that there are.

    Returns:
        The items in the order of the files.

    Raises:
        UserError: an unknown name or language, or data that cannot be read, is ill-formed, or leaves no item.
    """
    raw = _loader(name)(None if path is None else Path(path).expanduser(), split)
    accepted = accept(name, raw if languages is None else _spoken(name, raw, languages))
    items = draw(accepted.items, limit, np.random.default_rng(seed), sample, balance)
    design: dict[str, Any] = {"limit": limit, "seed": seed, "sample": sample, "balance": balance, "split": split}
    design |= {"languages": None if languages is None else list(languages)}
    return Loaded(items, _provenance(name, accepted, items, design), (*accepted.warnings, *_short(limit, len(items))))


def _loader(name: str) -> Loader:
    if name in GROUNDED:
        raise UserError(f"{name} holds questions with passages (for experiment=evalpair), not answers to be judged.")
    if name not in LOADERS:
        near = difflib.get_close_matches(name, LOADERS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UserError(f"There is no data set {name!r}.{hint} Known: {', '.join(LOADERS)}.")
    return LOADERS[name]


def _spoken(name: str, raw: Raw, languages: Sequence[str]) -> Raw:
    known = sorted({row.item.language for row in raw.rows} - {""})
    if unknown := [language for language in languages if language not in known]:
        has = f"it has {', '.join(known)}" if known else "it names no languages: leave data.languages null"
        raise UserError(f"data.languages: {', '.join(unknown)} is not a language of {name}; {has}.")
    return replace(raw, rows=tuple(row for row in raw.rows if row.item.language in languages))


def _short(limit: int | None, items: int) -> tuple[str, ...]:
    return (
        (f"data.limit={limit} asks for more than there is; all {items} items are taken.",)
        if (limit or 0) > items
        else ()
    )


def _provenance(name: str, accepted: Accepted, items: tuple[Item, ...], design: dict[str, Any]) -> dict[str, Any]:
    return {
        "dataset": name,
        "files": [asdict(source) for source in accepted.sources],
        "items": len(items),
        "items_sha256": digest(items),
        "available": len(accepted.items),
        "cleaned_characters": accepted.cleaned,
        "dropped": {reason: list(ids) for reason, ids in accepted.dropped.items()},
        "draw": design,
    }
