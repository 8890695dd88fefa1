"""Tidy metrics as tables for people: one row a cell, in CSV, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import files
from analysis.cells import OVERALL
from analysis.verdicts import CELL

DASH = "–"
LATEX = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def wide(metrics: pd.DataFrame, names: Sequence[str], *, n_of: str) -> pd.DataFrame:
    """One row a cell, one column a metric, the whole of the data; cells such as `0.507 [0.401, 0.613]`.

    Args:
        metrics: tidy metrics, see `analysis.cells.TIDY`.
        names: metrics to show, in this order.
        n_of: the one among them whose n and share of unreadable rows are shown.

    Returns:
        judge and dataset, those of study and factors that differ between rows, the metrics as text, n and
        unreadable. A value that is undefined is a dash.
    """
    chosen = metrics[metrics["metric"].isin(names) & (metrics["slice"] == OVERALL)]
    return _pivot(chosen, "metric", names, n_of)


def by_slice(metrics: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row a cell, one column a slice, for one metric; as `wide`, with n and unreadable of the whole."""
    chosen = metrics[metrics["metric"] == name]
    parts = [s for s in chosen["slice"].unique() if s != OVERALL]
    return _pivot(chosen, "slice", [OVERALL, *parts], OVERALL)


def markdown(table: pd.DataFrame) -> str:
    """A pipe table."""
    rows = [[_one_line(str(c)).replace("|", "\\|") for c in row] for row in [table.columns, *table.to_numpy()]]
    rows.insert(1, ["---"] * len(table.columns))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def latex(table: pd.DataFrame) -> str:
    """A tabular with the rules of the booktabs package."""
    head, *body = (
        " & ".join("".join(LATEX.get(ch, ch) for ch in _one_line(str(c))) for c in row) + r" \\"
        for row in [table.columns, *table.to_numpy()]
    )
    layout = "l" * len(table.columns)
    lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def publish(metrics: pd.DataFrame, items: pd.DataFrame, tables: Mapping[str, pd.DataFrame], out: Path) -> None:
    """Writes metrics.csv, items.csv and tables/NAME.{csv,md,tex} under `out`."""
    files.save(metrics, out / "metrics.csv")
    files.save(items, out / "items.csv")
    for name, table in tables.items():
        files.save(table, out / "tables" / f"{name}.csv")
        (out / "tables" / f"{name}.md").write_text(markdown(table), encoding="utf-8")
        (out / "tables" / f"{name}.tex").write_text(latex(table), encoding="utf-8")


def _pivot(chosen: pd.DataFrame, across: str, columns: Sequence[str], n_of: str) -> pd.DataFrame:
    """One row a cell, in the order in which `chosen` has them; n and unreadable from the column `n_of`."""
    rows = list(CELL)
    row = chosen.groupby(rows, dropna=False, sort=False).ngroup()
    cells = [_cell(*numbers) for numbers in chosen[["value", "ci_low", "ci_high"]].to_numpy()]
    numbered = chosen.assign(row=row, cell=cells).set_index("row")
    keys = numbered.loc[~numbered.index.duplicated(), rows]
    body = numbered.pivot(columns=across, values="cell").reindex(columns=list(columns)).fillna(DASH)
    counted = numbered[numbered[across] == n_of]
    told = [k for k in rows if k in ("judge", "dataset") or keys[k].nunique(dropna=False) > 1]
    ends = {"n": counted["n"], "unreadable": counted["share_unreadable"].map("{:.3f}".format)}
    return keys[told].join(body).assign(**ends).rename_axis(index=None, columns=None).reset_index(drop=True)


def _cell(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return DASH
    interval = "" if np.isnan(low) else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{interval}".replace("-", "−")


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
