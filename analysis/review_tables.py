"""What a review comes to, as tables for people and beside what the source prints.

Source: 003_79504d017c0b1582.txt, tables 5, 16 and 21.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.published import beside
from analysis.review import agreement, coverage, settled, summary


def tables(found: pd.DataFrame, labels: pd.DataFrame, dataset: str) -> dict[str, pd.DataFrame]:
    """All tables of a review, by name, ready for `analysis.tables.save_tables`; the summary first.

    Args:
        found: from `analysis.review.outcomes`.
        labels: of the queue.
        dataset: its name; the printed numbers stand beside those of the source's own data set alone.
    """
    made = {"review_summary": summary(found), "review_coverage": coverage(labels, found)}
    if found["reviewer"].nunique() > 1:
        made["review_agreement"] = agreement(found)
    ours = numbers(found, labels, dataset)
    printed = {f"published_{table}": beside(ours, "evalpair", table) for table in ("5", "16", "21")}
    return made | {name: table for name, table in printed.items() if table["ours"].notna().any()}


def numbers(found: pd.DataFrame, labels: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The summary and the coverage as one number a row, to stand beside printed ones (`analysis.published.beside`).

    Returns:
        judge and generator `*`, dataset, slice (a cell; a behaviour and cell), metric (an outcome, `reviewed`, `OUTCOME
        bound`; `completed`, `sampled`), value, ci_low and ci_high (NaN).
    """
    table = summary(found)
    counts = [*table[["cell", "outcome", "count"]].to_numpy().tolist()]
    counts += [[cell, "reviewed", int(n)] for cell, n in table.groupby("cell")["reviewed"].first().items()]
    counts += [[cell, f"{said} bound", high] for cell, said, high in table[["cell", "outcome", "high"]].to_numpy()]
    done = labels.assign(done=labels["case"].isin(settled(found)["case"]))
    for (behaviour, cell), part in done.groupby(["behaviour", "cell"]):
        slice_ = f"{behaviour}/{cell}"
        counts += [[slice_, "completed", int(part["done"].sum())], [slice_, "sampled", len(part)]]
    rows = pd.DataFrame(counts, columns=["slice", "metric", "value"]).astype({"value": float})
    return rows.assign(judge="*", generator="*", dataset=dataset, ci_low=np.nan, ci_high=np.nan)
