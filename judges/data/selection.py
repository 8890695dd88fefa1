"""Which grounded records an evalpair study takes: fit ones, spread over popularity, complexity and category."""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from judges.data.passages import Grounded

FILTERS: Mapping[str, Callable[[Grounded], bool]] = {
    "valid": lambda record: record.question_valid is not False,
    "seeking": lambda record: record.seeking is not False,
    "no_false_premise": lambda record: record.false_premise is not True,
    "validated": lambda record: record.answer_validate is not False,
    "eligible": lambda record: len(record.answering) >= 2,
}
"""By the name of the stage that follows it, in the order in which they apply; `eligible` has passed them all.

What a file says nothing about keeps no record out (in GaRAGe's schema everything is said).
"""


def select(records: Sequence[Grounded], n: int = 300, seed: int = 17) -> tuple[tuple[Grounded, ...], dict[str, int]]:
    """Keeps records with a valid, information-seeking question without false premise, a validated answer and at least
    two answering passages, and takes `n` of them in rounds over the cells of popularity, complexity and category.

    In every round each cell that still has records gives one, in an order of cells and of records in a cell that the
    seed draws. Source: 003_79504d017c0b1582.txt, section 3.1 and appendix A (2,366 GaRAGe records, 1,723 eligible, 300
    taken); how its round-robin orders the cells is not said.

    Args:
        records: as loaded.
        n: how many to take; all that are eligible, if there are fewer.
        seed: of the order.

    Returns:
        The chosen records in the order of `records`, and how many were left after each stage: `read`, the names of
        `FILTERS`, `selected`.
    """
    left = list(records)
    funnel = {"read": len(left)}
    for stage, keeps in FILTERS.items():
        left = [record for record in left if keeps(record)]
        funnel[stage] = len(left)
    chosen = set(_rounds(left, np.random.default_rng(seed))[:n])
    return tuple(record for i, record in enumerate(left) if i in chosen), funnel | {"selected": len(chosen)}


def _rounds(records: Sequence[Grounded], rng: np.random.Generator) -> list[int]:
    """Places of the records, round by round."""
    cells: dict[tuple[str, str, str], list[int]] = {}
    for i, record in enumerate(records):
        cells.setdefault((record.popularity, record.complexity, record.category), []).append(i)
    stock = [rng.permutation(cells[key]).tolist() for key in sorted(cells)]
    order = rng.permutation(len(stock)).tolist()
    return [i for taken in zip_longest(*(stock[cell] for cell in order)) for i in taken if i is not None]
