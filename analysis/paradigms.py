"""Ways of asking side by side: a direct verdict, a vote over criteria (FLASK), and scores on criteria (G-Eval).

Source: 004_e1840bb43771aeee.txt, the part on scoring paradigms (table 2 of the paper).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.cells import ALL_FORMATS, OVERALL
from analysis.columns import TableError
from analysis.tables import cell, wide
from analysis.verdicts import CELL

DIRECT = {"method": "pairwise", "format": "direct"}
"""What the other methods are held against: one call, one letter."""
GAIN = "T - direct"


def paradigms(metrics: pd.DataFrame) -> pd.DataFrame:
    """C, phi, A and T of every method, and by how much T differs from that of a direct verdict.

    Args:
        metrics: tidy metrics of the study `trust`; of pairwise verdicts only the format `direct` is shown.

    Returns:
        One row a cell, as `analysis.tables.wide`; `T - direct` is a dash where the judge gave no direct verdicts on
        the data set.

    Raises:
        TableError: there is one method alone.
    """
    shown = (metrics["method"] != DIRECT["method"]) | (metrics["format"] == DIRECT["format"])
    chosen = metrics[shown & (metrics["format"] != ALL_FORMATS) & (metrics["slice"] == OVERALL)]
    if chosen["method"].nunique() < 2:
        only = ", ".join(chosen["method"].unique()) or "none recorded"
        raise TableError(f"paradigms are compared where there are two methods or more; the table's are: {only}")
    chosen = chosen.sort_values(["judge", "dataset", "method"], kind="stable", key=_direct_first)
    table = wide(chosen, ["C", "phi", "A", "T"], n_of="T")
    table.insert(list(table).index("T") + 1, GAIN, _gains(chosen[chosen["metric"] == "T"]))
    return table


def _direct_first(column: pd.Series[str]) -> pd.Series[str]:
    return column.where(column != DIRECT["method"], "")


def _gains(rates: pd.DataFrame) -> list[str]:
    keys = [c for c in CELL if c not in DIRECT]
    direct = rates.loc[rates["method"] == DIRECT["method"], [*keys, "value"]]
    against = rates[keys].merge(direct, on=keys, how="left")["value"].to_numpy()
    own = rates["method"].to_numpy() == DIRECT["method"]
    return [cell(gain) for gain in np.where(own, np.nan, rates["value"].to_numpy() - against)]
