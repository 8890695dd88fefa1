"""What the study `serving` prints: conditions side by side, and what 1 - C of an audit is made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pandas as pd

from analysis import files
from analysis.cells import told
from analysis.columns import TableError
from analysis.noise import COLUMNS as PARTS
from analysis.noise import decomposed
from analysis.serving import COLUMNS, check_serving, requests, serving
from analysis.study import Findings, Options
from analysis.tables import attempt, wide

SHARES = ("verdict_difference", "text_difference", "token_difference")
EXTREMES = ("max_logprob_difference", "first_difference")


def findings(paths: Iterable[str | Path], sampled: pd.DataFrame | None, options: Options) -> Findings:
    """Metrics, requests and tables of served requests, beside an audit if there is one.

    Args:
        paths: tables of served requests (`analysis.serving.COLUMNS`): .parquet, .csv or .jsonl.
        sampled: a verdict table of the same judge on the same pairs, with repeats; None: 1 - C is not split.
        options: replicates, seed and interval.

    Raises:
        TableError: a table cannot be read or is faulty, or there is no condition but the reference.
    """
    served = read_serving(paths)
    metrics = serving(served, rng=options.rng, replicates=options.replicates, interval=options.interval)
    made = {
        "serving": partial(wide, metrics, [*SHARES, *EXTREMES], n_of="verdict_difference", part="*"),
        "decomposition": partial(_decomposition, served, sampled, options),
    }
    tables, absent = attempt(made)
    return Findings(metrics, requests(served), tables, absent)


def read_serving(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Reads tables of served requests, checks each, and gives them as one.

    Raises:
        TableError: a file cannot be read or is faulty; names the file and the rows, counted from 1.
    """
    tables = []
    for path in paths:
        table = files.load(Path(path), [c.name for c in COLUMNS])
        rows = pd.MultiIndex.from_product([[str(path)], range(1, len(table) + 1)])
        tables.append(check_serving(table.set_axis(rows)))
    return pd.concat(tables)


def _decomposition(served: pd.DataFrame, sampled: pd.DataFrame | None, options: Options) -> pd.DataFrame:
    if sampled is None:
        raise TableError("name the verdicts of an audit with repeats (--sampled) to split its 1 - C")
    found = decomposed(sampled, served, rng=options.rng, replicates=options.replicates, interval=options.interval)
    return told(found, PARTS)
