"""What became of the trials of every cell: how many have a verdict, and why the others have none."""

from __future__ import annotations

import pandas as pd

from analysis.cells import told
from analysis.verdicts import CELL, OUTCOMES, READABLE


def outcomes(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a cell: its trials, and the share of each outcome that occurs.

    Args:
        rows: a verdict table, or any with an `outcome` and some of the columns of a cell.

    Returns:
        The columns of the cell that differ, n, unreadable (share without a verdict), then one column an outcome.
    """
    cell = [c for c in CELL if c in rows]
    counts = rows.groupby([*cell, "outcome"], dropna=False, sort=False).size().unstack("outcome", fill_value=0)
    seen = [o for o in OUTCOMES if o in counts]
    n = counts[seen].sum(axis=1)
    shares = counts[seen].div(n, axis=0)
    without = shares[[o for o in seen if o not in READABLE]].sum(axis=1)
    table = shares.assign(n=n, unreadable=without).reset_index().rename_axis(columns=None)
    return told(table, ["n", "unreadable", *seen])
