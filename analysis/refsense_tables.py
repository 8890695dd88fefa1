"""The tables of the study `refsense` from its tidy metrics, laid out as in the source (001_1ea9d04442e7600e.txt).

Rows are by slice, too: the whole, the languages and the categories.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.columns import TableError
from analysis.reference import SETTING
from analysis.refsense import MATCHES
from analysis.refsense_units import ARROW, CHANGES
from analysis.tables import pivot
from analysis.verdicts import CELL

BY_SETTING = [*SETTING, "slice"]
BY_CELL = [*CELL, "slice"]


def calibration(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 3: C1, C2 and their gap."""
    return _wide(metrics, ["C1", "C2", "CGP"], "CGP", "no item has both its right and another answer judged")


def sensitivity(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 1: the share judged CORRECT in each setting, and the flip rates between them."""
    return _across(metrics, ["NR", "RV", "RC"], [f"{a}{ARROW}{b}" for a, b in CHANGES[:3]], at_least=1)


def position(metrics: pd.DataFrame) -> pd.DataFrame:
    """Tables 6 and 7: the same where the reference comes before and after the answer."""
    return _across(metrics, ["RV", "RVP", "RC", "RCP"], [f"{a}{ARROW}{b}" for a, b in CHANGES[3:]], at_least=2)


def directions(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 4: flip rates and what the flips are; n counts the answers read in both settings."""
    names = ["flip_rate", "over_credit", "under_credit", "unknown_credit"]
    return _wide(metrics, names, "flip_rate", "no answer was judged in two settings")


def extracted(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 5: extracted answer same or changed, verdict same or changed; exact matches, then normalised ones."""
    names = [f"{name}{end}" for end in ("", "_norm") for name in MATCHES]
    return _wide(_bare(metrics), names, "EAS_VS", "no answer was extracted in two settings")


def human(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 9: agreement of the judge with people in each setting."""
    names = ["agreement", "kappa", "agreement_2", "kappa_2"]
    chosen = metrics[metrics["metric"].isin(names)]
    shown = [name for name in names if name in set(chosen["metric"])]
    return _wide(chosen, shown, shown[0] if shown else "", "no answer has a label in 'human' or 'human_2'")


def human_by_judge(metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 2: agreement with people, the plain mean over the generators, which have an interval each in table 9."""
    names = ["agreement", "agreement_2"]
    chosen = metrics[metrics["metric"].isin(names)]
    if chosen.empty:
        raise TableError("no answer has a label in 'human' or 'human_2'")
    rows = [c for c in BY_CELL if c != "generator"]
    groups = chosen.groupby([*rows, "metric"], dropna=False, sort=False)
    read = chosen["share_unreadable"] * chosen["n"]
    means = groups.agg(value=("value", "mean"), n=("n", "sum")).assign(
        share_unreadable=read.groupby([chosen[c] for c in (*rows, "metric")], dropna=False, sort=False).sum()
    )
    means = means.assign(share_unreadable=means["share_unreadable"] / means["n"]).reset_index()
    shown = [name for name in names if name in set(means["metric"])]
    return pivot(_bare(means), rows, "metric", shown, shown[0])


def own_answers(metrics: pd.DataFrame) -> pd.DataFrame:
    """Same-model and same-family contrast on the same answer; generator `*` is the mean over all answers."""
    names = ["same_model_delta", "same_family_delta"]
    chosen = metrics[metrics["metric"].isin(names)]
    if chosen.empty:
        raise TableError("no answer was judged both by its own model, or one of its family, and by another judge")
    told = chosen.assign(contrast=chosen["metric"].str.removesuffix("_delta"), metric="delta")
    table = pivot(told, [*BY_CELL, "contrast"], "metric", ["delta"], "delta")
    if "contrast" not in table:
        table.insert(list(table).index("delta"), "contrast", told["contrast"].iloc[0])
    return table


def _across(metrics: pd.DataFrame, shares: Sequence[str], flips: Sequence[str], at_least: int) -> pd.DataFrame:
    """One row a judge, generator and slice; settings and changes side by side, without intervals."""
    share = (metrics["metric"] == "share_correct") & metrics["reference"].isin(shares)
    flip = (metrics["metric"] == "flip_rate") & metrics["reference"].isin(flips)
    chosen = _bare(metrics[share | flip])
    if metrics.loc[share, "reference"].nunique() < at_least:
        raise TableError(f"no answer was judged in {at_least} of the settings {', '.join(shares)}")
    first = metrics.loc[share, "reference"].iloc[0]
    return pivot(chosen, BY_SETTING, "reference", [*shares, *flips], first)


def _wide(metrics: pd.DataFrame, names: Sequence[str], n_of: str, lacking: str) -> pd.DataFrame:
    chosen = metrics[metrics["metric"].isin(names)]
    if chosen.empty:
        raise TableError(lacking)
    return pivot(chosen, BY_CELL, "metric", list(names), n_of)


def _bare(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics.assign(ci_low=np.nan, ci_high=np.nan)
