"""The tables of the study `swapref` from its tidy metrics, laid out as in the source (000_65c668a7267fc0e4.txt)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.cells import OVERALL
from analysis.columns import TableError
from analysis.swapref import COUNT, in_order
from analysis.swapref_items import PAIRINGS
from analysis.tables import DASH, pivot
from analysis.verdicts import CELL

ACCURACIES = ("ACC_o", "ACC_s", "RPAG")


def swaps_of(metrics: pd.DataFrame) -> list[str]:
    """The swaps of tidy metrics, those of the source first."""
    gaps = metrics.loc[metrics["metric"] == "RPAG", "slice"]
    return in_order(gaps[(gaps != OVERALL) & ~gaps.str.contains("/")].unique())


def main_table(metrics: pd.DataFrame) -> pd.DataFrame:
    """ACC_o, ACC_s and RPAG with their intervals, one row a cell and swap."""
    return _by_slice(metrics, swaps_of(metrics))


def strata(metrics: pd.DataFrame) -> pd.DataFrame:
    """The same in every stratum of freshness and popularity (figure 5), one row a cell, swap and stratum.

    Raises:
        TableError: no data set has two strata.
    """
    found = [name for name in metrics["slice"].unique() if "/" in name]
    if not found:
        raise TableError("no data set has items of two kinds of freshness or of different popularity")
    return _by_slice(metrics, found)


def accuracies(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tables 1 and 6: one row a cell, for each swap ACC_o, ACC_s and RPAG; n counts items over all swaps."""
    swaps = swaps_of(metrics)
    chosen = metrics[metrics["metric"].isin(ACCURACIES) & metrics["slice"].isin([*swaps, OVERALL])]
    chosen = chosen.assign(across=chosen["slice"] + " " + chosen["metric"], ci_low=np.nan, ci_high=np.nan)
    columns = [f"{swap} {metric}" for swap in swaps for metric in ACCURACIES]
    return pivot(chosen, list(CELL), "across", columns, f"{OVERALL} RPAG")


def pairings(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 7: one row a cell and pairing of reference and candidate, one column a swap; n is over all swaps."""
    names = {f"accuracy_{p}": f"{p[0]}, {p[1]}" for p in PAIRINGS}
    swaps = swaps_of(metrics)
    chosen = metrics[metrics["metric"].isin(names) & metrics["slice"].isin([*swaps, OVERALL])]
    chosen = chosen.assign(pairing=chosen["metric"].map(names))
    return pivot(chosen, [*CELL, "pairing"], "slice", swaps, OVERALL)


def prompting(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 2: RPAG by way of asking, one row a judge and way, one column a data set and swap.

    Raises:
        TableError: all were asked in one way.
    """
    swaps = swaps_of(metrics)
    chosen = metrics[(metrics["metric"] == "RPAG") & metrics["slice"].isin(swaps)]
    if chosen["format"].nunique() < 2:
        asked = ", ".join(chosen["format"].unique()) or "none is named"
        raise TableError(f"a comparison of prompts needs two formats or more; the table's are: {asked}")
    chosen = chosen.assign(across=chosen["dataset"] + " " + chosen["slice"])
    columns = [f"{dataset} {swap}" for dataset in sorted(chosen["dataset"].unique()) for swap in swaps]
    columns = [column for column in columns if column in set(chosen["across"])]
    rows = [c for c in CELL if c != "dataset"]
    chosen = chosen.sort_values(rows, kind="stable")
    table = pivot(chosen, rows, "across", columns, "").drop(columns=["n", "unreadable"])
    most = chosen.groupby(rows, dropna=False, sort=False)["share_unreadable"].max()
    return table.assign(**{"unreadable at most": most.map("{:.3f}".format).to_numpy()})


def counts(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 3: items by swap, one column a data set; those of a swap to the judge's own answers by judge.

    Where judges have different items, the largest number.
    """
    chosen = metrics[metrics["metric"] == COUNT]
    own = chosen["slice"] == "evaluator_knowledge"
    chosen = chosen.assign(swap=chosen["slice"], judge=chosen["judge"].where(own, "any"))
    table = chosen.pivot_table(index=["swap", "judge"], columns="dataset", values="value", aggfunc="max")
    swaps = pd.Categorical(table.index.get_level_values("swap"), in_order(chosen["swap"].unique()))
    table = table.iloc[np.lexsort((table.index.get_level_values("judge"), swaps.codes))]
    shown: pd.DataFrame = table.map(lambda n: DASH if np.isnan(n) else f"{n:.0f}").reset_index()
    return shown.rename_axis(columns=None)


def _by_slice(metrics: pd.DataFrame, slices: Sequence[str]) -> pd.DataFrame:
    chosen = metrics[metrics["metric"].isin(ACCURACIES) & metrics["slice"].isin(slices)]
    return pivot(chosen, [*CELL, "slice"], "metric", list(ACCURACIES), "RPAG")
