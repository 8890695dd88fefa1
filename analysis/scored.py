"""Verdicts with a signal of confidence and known to be right or wrong, as sums that a bootstrap can resample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Weights, resample
from analysis.cells import clusters
from analysis.confidence import SIGNALS
from analysis.selective import cumulated, levels
from analysis.verdicts import CELL

LEVELS = 64
"""Levels of confidence in a resample. Its metrics are moved by what the value loses to so coarse a view."""
AT_ONCE = 512
"""Resamples whose curves fit into a processor's cache together."""

_NUMBERS = [
    *SIGNALS,
    *(f"{unit}_{name}" for unit in ("calls", "tokens") for name in SIGNALS),
    *("correct", "label_mass", "repeats_asked", "readable"),
]


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdicts of one cell, and how its data set's groups are resampled."""

    key: dict[str, object]
    columns: Mapping[str, Array]
    """(verdicts,) each: signals, their costs, correct, label_mass, repeats_asked and readable."""
    group: NDArray[np.intp]
    """(verdicts,)"""
    weights: Weights
    """(R, groups of the data set), shared by all its cells."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Verdicts that have one signal and are known to be right or wrong."""

    score: Array
    right: Array
    costs: Array
    """(verdicts, 3): calls, tokens, label mass."""
    group: NDArray[np.intp]
    weights: Weights
    """(R, groups of the data set), some of which may have no verdict here."""

    def summed(self, terms: Array) -> Array:
        """Terms of the verdicts, (verdicts, K), summed by group, (groups, K)."""
        sums = np.zeros((self.weights.shape[1], terms.shape[1]))
        np.add.at(sums, self.group, terms)
        return sums

    def binned(self, bin: NDArray[np.intp], bins: int) -> Array:
        """Count, confidence and right verdicts of each bin by group, (groups, 3 x bins)."""
        return np.hstack([self._tally(bin, bins, w) for w in (np.ones_like(self.score), self.score, self.right)])

    def whole_curve(self) -> Array:
        """Verdicts at or above each level of confidence, then the right ones, (2 x levels, 1)."""
        return np.vstack(cumulated(self.score, self.right))

    def coarse_curve(self) -> Array:
        """The same over no more than `LEVELS` levels, by group, (groups, 2 x levels)."""
        at = levels(self.score, LEVELS)
        both = [self._tally(at, at.max() + 1, w) for w in (np.ones_like(self.score), self.right)]
        return np.hstack([np.cumsum(tally, axis=1) for tally in both])

    def _tally(self, at: NDArray[np.intp], wide: int, weights: Array) -> Array:
        groups = self.weights.shape[1]
        return np.bincount(self.group * wide + at, weights, groups * wide).reshape(groups, wide).astype(np.float64)


def cells(units: pd.DataFrame, rng: np.random.Generator, replicates: int) -> Iterator[Cell]:
    """Every cell of a table of places; a further data set in the table changes no resample of the others."""
    seed = int(rng.integers(2**63))
    for dataset, part in units.groupby("dataset", sort=True):
        group, groups = pd.factorize(clusters(part), sort=True)
        draws = np.random.default_rng([seed, crc32(str(dataset).encode())])
        weights = resample(np.zeros(len(groups), dtype=np.int64), replicates, draws)
        keys = part[list(CELL)]
        family = keys.groupby(list(CELL), dropna=False, sort=True).ngroup().to_numpy()
        order = np.argsort(family, kind="stable")
        numbers = part[_NUMBERS].to_numpy(dtype=float)
        for rows in np.split(order, np.flatnonzero(np.diff(family[order])) + 1):
            columns = dict(zip(_NUMBERS, numbers[rows].T, strict=True))
            yield Cell(keys.iloc[rows[0]].to_dict(), columns, group[rows], weights)


def scored(cell: Cell, names: Sequence[str]) -> list[Scored]:
    """The verdicts of a cell that have all of these signals, once for each signal."""
    known = ~np.isnan([cell.columns[name] for name in ("correct", *names)]).any(axis=0)
    group = cell.group[known]
    # Where one group alone is left, nothing can vary.
    weights = cell.weights if len(np.unique(group)) > 1 else cell.weights[:0]
    right = cell.columns["correct"][known]
    found = []
    for name in names:
        costs = np.column_stack([cell.columns[c][known] for c in (f"calls_{name}", f"tokens_{name}", "label_mass")])
        found.append(Scored(cell.columns[name][known], right, costs, group, weights))
    return found
