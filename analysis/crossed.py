"""Fully crossed designs: responses as an array over facets, and its sums of squares in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.columns import TableError

Source = tuple[str, ...]
"""The facets of one source of variance: a main effect has one, an interaction several."""
NAMED = 5
"""Missing cells that an error names."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """One response in every cell of a design."""

    levels: Mapping[str, tuple[object, ...]]
    """Levels of each facet, in the order of the axes."""
    values: Array
    """Responses; one axis a facet."""
    weights: Array
    """How many verdicts are behind each response; same shape."""
    left_out: tuple[tuple[str, object], ...] = ()
    """Levels without which the design is complete, each with its facet."""


@dataclass(frozen=True, slots=True)
class Squares:
    """Degrees of freedom and sum of squares of one source of variance."""

    df: int
    ss: float

    @property
    def ms(self) -> float:
        """Mean square."""
        return self.ss / self.df


def cross(table: pd.DataFrame, facets: Sequence[str], *, complete_only: bool = False) -> Crossed:
    """Lays out responses in a fully crossed array.

    Args:
        table: one row a cell: a column for each facet, `response` (NaN: none) and `weight`.
        facets: the facets, in the order of the axes.
        complete_only: leave out levels until no cell is missing, each time the one that misses the largest share
            of its cells; else a missing cell is an error.

    Raises:
        TableError: cells are missing (names them), a cell has two responses, or nothing complete is left.
    """
    coded = [pd.factorize(table[f], sort=True, use_na_sentinel=False) for f in facets]
    shape = tuple(len(levels) for _, levels in coded)
    at = np.ravel_multi_index([codes for codes, _ in coded], shape)
    _check_single(table, facets, at)
    values, weights = np.full(np.prod(shape, dtype=int), np.nan), np.zeros(np.prod(shape, dtype=int))
    values[at], weights[at] = table["response"].to_numpy(), table["weight"].to_numpy()
    levels = {f: tuple(of) for f, (_, of) in zip(facets, coded, strict=True)}
    design = Crossed(levels, values.reshape(shape), weights.reshape(shape))
    missing = np.isnan(design.values)
    if missing.any() and not complete_only:
        raise TableError(_names(design, missing))
    return _complete(design) if missing.any() else design


def squares(values: Array, facets: Sequence[str]) -> dict[Source, Squares]:
    """Sum of squares of every main effect and interaction; they add up to the total one.

    `[[1, 2], [3, 6]]` over (a, b), mean 3: a takes 4 x 1.5^2 = 9, b 4 x 1^2 = 4, their interaction 4 x 0.5^2 = 1,
    of 14 in all.

    Args:
        values: responses, one axis a facet.
        facets: names of the axes.
    """
    found = {}
    for axes in _subsets(values.ndim):
        effect = _effect(values, axes)
        df = int(np.prod([values.shape[a] - 1 for a in axes]))
        found[tuple(facets[a] for a in axes)] = Squares(df, float(np.sum(effect**2)) * values.size / effect.size)
    return found


def label(source: Source) -> str:
    """`pair x judge`."""
    return " x ".join(source)


def _subsets(axes: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, axes + 1):
        yield from combinations(range(axes), size)


def _effect(values: Array, axes: Sequence[int]) -> Array:
    """What the interaction of `axes` adds to all that is below it; the other axes are averaged away."""
    for axis in sorted(range(values.ndim), key=lambda a: a in axes):
        mean = values.mean(axis=axis, keepdims=True)
        values = values - mean if axis in axes else mean
    return values


def _check_single(table: pd.DataFrame, facets: Sequence[str], at: NDArray[np.intp]) -> None:
    again = pd.Series(at).duplicated()
    if again.any():
        row = table.iloc[int(again.to_numpy().argmax())]
        raise TableError(
            f"two responses in one cell, {', '.join(f'{f} {row[f]}' for f in facets)}; "
            "analyse one setting of the other factors at a time"
        )


def _names(design: Crossed, missing: NDArray[np.bool_]) -> str:
    cells = [
        ", ".join(f"{f} {of[i]}" for i, (f, of) in zip(at, design.levels.items(), strict=True))
        for at in np.argwhere(missing)[:NAMED]
    ]
    more = int(missing.sum()) - len(cells)
    return (
        f"{int(missing.sum()):,} of {missing.size:,} cells of {label(tuple(design.levels))} are missing: "
        f"{'; '.join(cells)}{f' and {more:,} more' if more else ''}. "
        "Judge them, or leave out what is not complete (--complete-only)"
    )


def _complete(design: Crossed) -> Crossed:
    kept = [np.arange(n) for n in design.values.shape]
    left_out = []
    missing = np.isnan(design.values)
    while (part := missing[np.ix_(*kept)]).any():
        shares = [part.mean(axis=tuple(a for a in range(part.ndim) if a != axis)) for axis in range(part.ndim)]
        axis = int(np.argmax([share.max() for share in shares]))
        worst = int(shares[axis].argmax())
        facet = list(design.levels)[axis]
        left_out.append((facet, design.levels[facet][kept[axis][worst]]))
        kept[axis] = np.delete(kept[axis], worst)
    if not part.size:
        raise TableError(f"no part of the design {label(tuple(design.levels))} is complete; judge what is missing")
    levels = {f: tuple(of[i] for i in k) for (f, of), k in zip(design.levels.items(), kept, strict=True)}
    at = np.ix_(*kept)
    return Crossed(levels, design.values[at], design.weights[at], tuple(left_out))
