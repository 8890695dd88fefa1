"""The studies that a table of verdicts alone can answer: their metrics, their items and their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis import accuracy, reliability, repeats
from analysis.tables import by_slice, wide

Table = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Study:
    """What is computed from a verdict table, and what is printed of it."""

    metrics: Callable[..., pd.DataFrame]
    """(verdicts, *, rng, replicates, unreadable, interval) -> tidy metrics."""
    items: Callable[..., pd.DataFrame]
    """(verdicts, *, unreadable) -> one row a pair in a cell."""
    tables: Mapping[str, Table]
    """Tidy metrics -> table for people, by name; the first is the main one."""


STUDIES: Mapping[str, Study] = {
    "trust": Study(
        reliability.trust,
        repeats.items,
        {
            "trust": lambda m: wide(m, ["C", "phi", "A", "T", "T_joint", "bound"], n_of="T"),
            "format_range": lambda m: wide(m, ["delta_T_fmt"], n_of="delta_T_fmt"),
            "trust_by_source": lambda m: by_slice(m, "T"),
        },
    ),
    "judgebench": Study(
        accuracy.judgebench,
        accuracy.items,
        {
            "accuracy": lambda m: by_slice(m, "accuracy"),
            "orders": lambda m: wide(
                m, ["accuracy", "accuracy_AB", "accuracy_BA", "inconsistent", "ties", "first_position"], n_of="accuracy"
            ),
        },
    ),
}
