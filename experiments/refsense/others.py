"""Another item's answer for every item: a seeded derangement, in the item's own category where that has one.

Source: 001_1ea9d04442e7600e.txt, 3.1 and 4; studies.md, refsense.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from judges.answers import forms, overlap
from judges.records import Item

_TRIES = 50


def others(items: Sequence[Item], lenders: Sequence[Item], rng: np.random.Generator) -> pd.DataFrame:
    """Deals the answers out anew, so that nobody gets an answer that can pass for the right one.

    Within a language and category (`Item.source`) each answer is dealt to one item. Items that this leaves without
    one, alone in their category or among items with the same answer, get one of the whole data set, of their category
    where there is one, else of their language.

    Args:
        items: of the sample, each with an answer.
        lenders: of the whole data set.
        rng: draws.

    Returns:
        item, other, taken_from, same_category, reason: one row an item; a reason says why there is no other answer.
    """
    categories: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        categories.setdefault((item.language, item.source), []).append(item)
    dealt: dict[str, Item] = {}
    for _, members in sorted(categories.items()):
        dealt |= deranged(members, rng)
    whole = [*items, *(i for i in lenders if i.answers)]
    for item in items:
        if item.id not in dealt and (found := _another(item, whole, rng)):
            dealt[item.id] = found
    given = [dealt.get(i.id) for i in items]
    return pd.DataFrame(
        {
            "item": [i.id for i in items],
            "other": [g.answers[0] if g else "" for g in given],
            "taken_from": [g.id if g else "" for g in given],
            "same_category": [g is not None and g.source == i.source for i, g in zip(items, given, strict=True)],
            "reason": ["" if g else "no other answer in its language" for g in given],
        }
    )


def deranged(items: Sequence[Item], rng: np.random.Generator) -> Mapping[str, Item]:
    """From an item's id to the one whose answer it gets, each used once; without the items that there is none for.

    Items are drawn in a random order, and an answer that won't do is exchanged with that of an item for which it does.
    """
    order = [items[int(i)] for i in rng.permutation(len(items))]
    given = order[1:] + order[:1]
    for _ in range(_TRIES):
        wrong = [i for i, item in enumerate(order) if not _fits(item, given[i])]
        if not wrong:
            break
        for i in wrong:
            for j in map(int, rng.permutation(len(order))):
                if _fits(order[i], given[j]) and _fits(order[j], given[i]):
                    given[i], given[j] = given[j], given[i]
                    break
    return {item.id: got for item, got in zip(order, given, strict=True) if _fits(item, got)}


def _another(item: Item, whole: Sequence[Item], rng: np.random.Generator) -> Item | None:
    spoken = [whole[int(i)] for i in rng.permutation(len(whole)) if whole[int(i)].language == item.language]
    fitting = (o for o in sorted(spoken, key=lambda o: o.source != item.source) if _fits(item, o))
    return next(fitting, None)


def _fits(item: Item, other: Item) -> bool:
    return forms(item.answers).isdisjoint(forms(other.answers)) and not overlap(other.answers[0], item.answers)
