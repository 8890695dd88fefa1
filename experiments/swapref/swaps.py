"""Which answer takes the place of the right one: drawn with a seed, and never one that the right one can pass for.

Source: 000_65c668a7267fc0e4.txt, 3.1, "Reference swapping"; studies.md, swapref.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judges.answers import forms, normal, overlap
from judges.records import Item

PERSON = "person"
UNTYPED = ("", "other")
"""Types that say nothing, so that nothing can preserve or change them."""
EXTREMES = 50
"""Persons at either end of popularity."""
_ROUNDS = 8
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pool:
    """Answers that may stand in, each once, and which item each was taken from."""

    answers: tuple[str, ...]
    origin: tuple[str, ...]
    types: NDArray[np.str_]
    languages: NDArray[np.str_]
    forms: tuple[frozenset[str], ...]
    """Of each answer and its aliases, normalised."""


def pool(items: Sequence[Item], lenders: Sequence[Item], types: Mapping[str, str]) -> Pool:
    """The distinct primary answers by language, each with the type of the first item that has it.

    Args:
        items: of the sample.
        lenders: further items, which lend their answers where they have a type of their own.
        types: of the sample's answers, by item id.
    """
    sampled = {item.id for item in items}
    distinct: dict[tuple[str, str], tuple[Item, str]] = {}
    for item in (*items, *(i for i in lenders if i.id not in sampled)):
        kind = types.get(item.id, "") if item.id in sampled else item.entity_type
        if item.answers and kind not in UNTYPED:
            distinct.setdefault((item.language, normal(item.answers[0]) or item.answers[0]), (item, kind))
    found = list(distinct.values())
    return Pool(
        tuple(item.answers[0] for item, _ in found),
        tuple(item.id for item, _ in found),
        np.array([kind for _, kind in found], dtype=np.str_),
        np.array([item.language for item, _ in found], dtype=np.str_),
        tuple(forms(item.answers) for item, _ in found),
    )


def by_type(
    items: Sequence[Item], types: Mapping[str, str], lent: Pool, rng: np.random.Generator, *, preserve: bool
) -> pd.DataFrame:
    """Another answer in the same language, of the same type or of another one, for every typed item.

    Args:
        items: of the sample, each with an answer.
        types: by item id.
        lent: what may be swapped in.
        rng: draws.
        preserve: the same type?

    Returns:
        item, swapped, taken_from, reason: one row an item; a reason says why nothing could be swapped in.
    """
    members: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        members.setdefault((item.language, types.get(item.id, "")), []).append(item)
    parts = []
    for (language, kind), own in sorted(members.items()):
        if kind in UNTYPED:
            parts.append(_none(own, "the type of its answer is not known"))
            continue
        chosen = np.flatnonzero(((lent.types == kind) == preserve) & (lent.languages == language))
        of = f"of type {kind}" if preserve else f"of another type than {kind}"
        parts.append(_drawn(own, lent, chosen, rng, f"no other answer {of}"))
    return ordered(parts, items)


def by_name(items: Sequence[Item], names: Sequence[str], rng: np.random.Generator) -> pd.DataFrame:
    """One of the names given, for every item; columns as in `by_type`."""
    nothing = np.zeros(len(names), dtype=np.str_)
    lent = Pool(tuple(names), ("",) * len(names), nothing, nothing, tuple(forms([name]) for name in names))
    return _drawn(items, lent, np.arange(len(names)), rng, "no other person")


def by_belief(items: Sequence[Item], beliefs: Mapping[str, str]) -> pd.DataFrame:
    """The judge's own answer, for the items where it can't pass for the right one; columns as in `by_type`."""
    believed = [i for i in items if beliefs.get(i.id, "").strip()]
    differing = [i for i in believed if not overlap(beliefs[i.id], i.answers)]
    return _rows(differing, [beliefs[i.id] for i in differing], [""] * len(differing), [""] * len(differing))


def extremes(visited: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The most and the least visited persons, `EXTREMES` of each at most, and none in both.

    >>> extremes({"Ann": 900, "Bo": 5, "Cy": 40})
    (('Ann',), ('Bo',))
    """
    ranked = sorted(visited, key=lambda name: (-visited[name], name))
    ends = min(EXTREMES, len(ranked) // 2)
    return tuple(ranked[:ends]), tuple(reversed(ranked[len(ranked) - ends :]))


def _drawn(
    items: Sequence[Item], lent: Pool, chosen: Indices, rng: np.random.Generator, otherwise: str
) -> pd.DataFrame:
    """For each item one of the chosen answers of a pool, all that fit equally likely."""
    own = {item.id: forms(item.answers) for item in items}

    def fits(item: Item, index: int) -> bool:
        return lent.forms[index].isdisjoint(own[item.id]) and not overlap(lent.answers[index], item.answers)

    drawn = [_draw(item, chosen, fits, rng) for item in items] if len(chosen) else [None] * len(items)
    return _rows(
        items,
        ["" if i is None else lent.answers[i] for i in drawn],
        ["" if i is None else lent.origin[i] for i in drawn],
        [otherwise if i is None else "" for i in drawn],
    )


def _draw(item: Item, chosen: Indices, fits: Callable[[Item, int], bool], rng: np.random.Generator) -> int | None:
    """A few throws, which nearly always do; else all that there are, in a random order."""
    for index in chosen[rng.integers(len(chosen), size=_ROUNDS)]:
        if fits(item, int(index)):
            return int(index)
    return next((int(index) for index in rng.permutation(chosen) if fits(item, int(index))), None)


def _rows(items: Sequence[Item], swapped: Sequence[str], origin: Sequence[str], reasons: Sequence[str]) -> pd.DataFrame:
    found = {"item": [i.id for i in items], "swapped": swapped, "taken_from": origin, "reason": reasons}
    return pd.DataFrame(found, dtype=object)


def _none(items: Sequence[Item], reason: str) -> pd.DataFrame:
    return _rows(items, [""] * len(items), [""] * len(items), [reason] * len(items))


def ordered(parts: Sequence[pd.DataFrame], items: Sequence[Item]) -> pd.DataFrame:
    """Several tables of swaps as one, in the order of the items."""
    if not parts:
        return _none((), "")
    return pd.concat(parts).set_index("item").loc[[i.id for i in items]].reset_index()
