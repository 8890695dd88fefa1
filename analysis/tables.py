"""Tidy metrics as tables for people: one row a cell, in CSV, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis import captions, files, latex
from analysis.cells import OVERALL
from analysis.columns import TableError
from analysis.verdicts import CELL

DASH = "–"


def wide(
    metrics: pd.DataFrame, names: Sequence[str], *, n_of: str, part: str = OVERALL, bare: Sequence[str] = ()
) -> pd.DataFrame:
    """One row a cell, one column a metric; cells such as `0.507 [0.401, 0.613]`.

    Args:
        metrics: tidy metrics, see `analysis.cells.TIDY`.
        names: metrics to show, in this order.
        n_of: the one among them whose n and share of unreadable rows are shown.
        part: the slice to show; `*`: every slice but the whole, one row a cell and slice.
        bare: those among the metrics that are shown without their interval, so that the table stays narrow.

    Returns:
        judge and dataset, those of study and factors that differ between rows, the slice if there are several, the
        metrics as text, n and unreadable. A value that is undefined is a dash.
    """
    shown = metrics["slice"] != OVERALL if part == "*" else metrics["slice"] == part
    rows = [*CELL, "slice"] if part == "*" else list(CELL)
    chosen = metrics[metrics["metric"].isin(names) & shown]
    if part == "*":
        chosen = chosen.sort_values(rows, kind="stable")
    ends = {end: chosen[end].mask(chosen["metric"].isin(bare)) for end in ("ci_low", "ci_high")}
    return pivot(chosen.assign(**ends), rows, "metric", names, n_of)


def by_slice(metrics: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row a cell, one column a slice, for one metric; as `wide`, with n and unreadable of the whole."""
    chosen = metrics[metrics["metric"] == name]
    parts = [s for s in chosen["slice"].unique() if s != OVERALL]
    return pivot(chosen, list(CELL), "slice", [OVERALL, *parts], OVERALL)


def pivot(chosen: pd.DataFrame, rows: Sequence[str], across: str, columns: Sequence[str], n_of: str) -> pd.DataFrame:
    """Tidy metrics as text, one row a combination of `rows`, in the order in which `chosen` has them.

    Args:
        chosen: tidy metrics, one number for each row and value of `across`.
        rows: columns whose values make a row; judge, dataset and slice are shown, the others where they differ.
        across: the column whose values become columns.
        columns: those to show, in this order; a number that is not there is a dash.
        n_of: the value of `across`, shown or not, whose n and share of unreadable rows are shown.
    """
    rows = list(rows)
    row = chosen.groupby(rows, dropna=False, sort=False).ngroup()
    cells = [cell(*numbers) for numbers in chosen[["value", "ci_low", "ci_high"]].to_numpy()]
    numbered = chosen.assign(row=row, cell=cells).set_index("row")
    keys = numbered.loc[~numbered.index.duplicated(), rows]
    body = numbered.pivot(columns=across, values="cell").reindex(columns=list(columns)).astype(object).fillna(DASH)
    counted = numbered[numbered[across] == n_of]
    told = [k for k in rows if k in ("judge", "dataset", "slice") or keys[k].nunique(dropna=False) > 1]
    ends = {"n": counted["n"], "unreadable": counted["share_unreadable"].map("{:.3f}".format)}
    return keys[told].join(body).assign(**ends).rename_axis(index=None, columns=None).reset_index(drop=True)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """A table of numbers as text: fractions to three places, whole numbers whole, dashes for what is undefined."""
    return table.astype(object).map(_shown)


def markdown(table: pd.DataFrame) -> str:
    """A pipe table."""
    rows = [[_one_line(str(c)).replace("|", "\\|") for c in row] for row in [table.columns, *table.to_numpy()]]
    rows.insert(1, ["---"] * len(table.columns))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def attempt(
    made: Mapping[str, Callable[[], pd.DataFrame]],
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Makes each table that the verdicts allow; for the others, the reason why not."""
    tables, absent = {}, {}
    for name, make in made.items():
        try:
            tables[name] = make()
        except TableError as reason:
            absent[name] = str(reason)
    return tables, absent


def publish(
    metrics: pd.DataFrame, items: pd.DataFrame, tables: Mapping[str, pd.DataFrame], out: Path, note: str = ""
) -> None:
    """Writes metrics.csv, items.csv and tables/NAME.{csv,md,tex} under `out`."""
    files.save(metrics, out / "metrics.csv")
    files.save(items, out / "items.csv")
    save_tables(tables, out, note)


def save_tables(tables: Mapping[str, pd.DataFrame], out: Path, note: str = "") -> None:
    """Writes tables/NAME.{csv,md,tex} under `out`; numbers in full in the first, else as `plain` shows them.

    Args:
        tables: by name.
        out: the folder above `tables`.
        note: how the numbers were found; below the tables for people.
    """
    for name, table in tables.items():
        files.save(table, out / "tables" / f"{name}.csv")
        shown, caption = plain(table), captions.caption(name)
        told = markdown(shown) + (f"\n{_one_line(note)}\n" if note else "")
        (out / "tables" / f"{name}.md").write_text(told, encoding="utf-8")
        (out / "tables" / f"{name}.tex").write_text(latex.document(shown, name, caption, note), encoding="utf-8")


def cell(value: float, low: float = np.nan, high: float = np.nan) -> str:
    """`0.507 [0.401, 0.613]`, or a dash."""
    if np.isnan(value):
        return DASH
    interval = "" if np.isnan(low) else f" [{low:.3f}, {high:.3f}]"
    return f"{value:.3f}{interval}".replace("-", "−")


def _shown(value: object) -> object:
    if isinstance(value, float):
        return f"{value:g}" if value.is_integer() else _small(value)
    return DASH if value is pd.NA else value


def _small(value: float) -> str:
    if not 0 < abs(value) < 0.0005:
        return cell(value)
    return f"{abs(value):.2g}" if value > 0 else f"−{abs(value):.2g}"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
