"""What the page needs of all verdicts at once: columns and their values, items, a number a verdict and column."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.browser.columns import Coded, Verdicts

ROWS = 50_000
"""Verdicts in a file of the index."""


def index(table: Verdicts, homes: Sequence[int], reasons: Mapping[int, str]) -> dict[str, Any]:
    """The head of the index.

    Args:
        table: the verdicts.
        homes: number of the file that holds each item.
        reasons: of runs (by number) whose prompts or words are not here: why.
    """
    datasets = sorted({dataset for dataset, _ in table.items})
    return {
        "study": table.runs[0].study if table.runs else "",
        "verdicts": len(table.row),
        "columns": [{"name": n, "values": c.values, "width": _width(c)} for n, c in _varying(table).items()],
        "constant": {n: c.values[0] for n, c in table.columns.items() if len(c.values) == 1 and c.values[0]},
        "datasets": datasets,
        "items": [item for _, item in table.items],
        "of": [datasets.index(dataset) for dataset, _ in table.items],
        "starts": table.starts,
        "homes": list(homes),
        "parts": -(-len(table.row) // ROWS),
        "runs": [{"data": r.data, "judge": r.judge, "reason": reasons.get(i, "")} for i, r in enumerate(table.runs)],
    }  # fmt: skip


def rows(table: Verdicts) -> Iterator[dict[str, str]]:
    """The columns, some verdicts a part: numbers of 1, 2 or 4 bytes, little-endian, in base64."""
    varying = _varying(table)
    for begin in range(0, len(table.row), ROWS):
        yield {name: _packed(c, begin) for name, c in varying.items()}


def _varying(table: Verdicts) -> dict[str, Coded]:
    return {name: column for name, column in table.columns.items() if len(column.values) > 1}


def _width(column: Coded) -> int:
    return 1 if len(column.values) <= 256 else 2 if len(column.values) <= 65_536 else 4


def _packed(column: Coded, begin: int) -> str:
    kind = np.dtype(f"<u{_width(column)}")
    return base64.b64encode(column.codes[begin : begin + ROWS].astype(kind).tobytes()).decode()
