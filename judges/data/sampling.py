"""Samples, drawn up front: stratified or not, seeded, and nested (a smaller one lies within a larger)."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from judges.records import Item, UserError

Allocation = Callable[[list[int], list[int]], int]
"""From the sizes of the strata and how many each has given so far to the stratum that gives next."""


def proportional(sizes: list[int], taken: list[int]) -> int:
    """Next stratum so that after every draw n each has given less than 1 more or less than n * size / total.

    Earliest deadline among those that are due (Tijdeman 1980, the chairman assignment problem): at every n the counts
    are a rounding of the exact shares, as with largest remainders, and a count never falls when n grows, as it may
    with largest remainders. Sizes 3, 1: the strata give 0, 0, 1, 0 or a like order, never 1 twice.
    """
    total, n, k = sum(sizes), sum(taken) + 1, len(sizes)
    slack = total / (2 * k - 2) if k > 1 else 0.0
    owed = [n * size - given * total for size, given in zip(sizes, taken, strict=True)]
    due = [s for s in range(k) if owed[s] >= slack]
    return min(due, key=lambda s: ((total - slack - owed[s]) / sizes[s], s))


def uniform(sizes: list[int], taken: list[int]) -> int:
    """Next stratum so that all have given equally often, as long as they last."""
    return min((s for s, size in enumerate(sizes) if taken[s] < size), key=lambda s: (taken[s], s))


ALLOCATIONS: dict[str, Allocation] = {"proportional": proportional, "uniform": uniform, "random": proportional}
"""By the name of the sample. A `random` one has a single stratum, so that nothing is left to allocate."""


def draw(
    items: Sequence[Item],
    limit: int | None,
    rng: np.random.Generator,
    sample: str = "proportional",
    balance: bool = True,
) -> tuple[Item, ...]:
    """Draws `limit` items; all of them if `limit` is None or beyond their number.

    Args:
        items: to draw from.
        limit: how many, at least 1.
        rng: decides which items of a stratum come, and who is favoured by rounding.
        sample: `proportional` or `uniform`: stratified over `Item.source`, the strata's shares proportional to their
            sizes or equal; `random`: not stratified.
        balance: within a stratum take each gold in turn, starting with the one that is rarer so far.

    Returns:
        The drawn items in the order of `items`.

    Raises:
        UserError: a limit below 1 or an unknown kind of sample.
    """
    if sample not in ALLOCATIONS:
        raise UserError(f"data.sample={sample} is unknown; it is one of {', '.join(ALLOCATIONS)}.")
    if limit is None:
        return tuple(items)
    if limit < 1:
        raise UserError(f"data.limit={limit} leaves no items; give at least 1, or null for all.")
    strata = [item.source if sample != "random" else "" for item in items]
    order = _order(items, strata, rng.permutation(len(items)).tolist(), ALLOCATIONS[sample], balance)
    chosen = {i for i, _ in zip(order, range(limit), strict=False)}
    return tuple(item for i, item in enumerate(items) if i in chosen)


def _order(
    items: Sequence[Item], strata: Sequence[str], shuffled: list[int], allocate: Allocation, balance: bool
) -> Iterator[int]:
    cells_of: dict[str, dict[str, deque[int]]] = {}
    for i in shuffled:
        cell = str(items[i].gold) if balance else ""
        cells_of.setdefault(strata[i], {}).setdefault(cell, deque()).append(i)
    stock = list(cells_of.values())
    sizes, taken = [sum(map(len, cells.values())) for cells in stock], [0] * len(stock)
    overall: Counter[str] = Counter()
    within: list[Counter[str]] = [Counter() for _ in stock]
    for _ in items:
        s = allocate(sizes, taken)
        _, _, cell = min((within[s][cell], overall[cell], cell) for cell, left in stock[s].items() if left)
        taken[s] += 1
        overall[cell] += 1
        within[s][cell] += 1
        yield stock[s][cell].popleft()
