"""The figures of the study `trust`, drawn from its tidy metrics alone; nothing is computed here but means over formats.

Source: 004_e1840bb43771aeee.txt (figures 2 to 5 of the paper). Matplotlib is loaded when a figure is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.cells import ALL_FORMATS, OVERALL
from analysis.drawing import GREY, canvas, empty, legend, looks, name
from analysis.twins import named
from analysis.verdicts import CELL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 6
"""Panels side by side."""
STABLE = 0.9
BIASED = 0.25
"""Where the plane is cut: C at least 0.9 is stable, phi above 0.25 is biased. The source names regions, not limits."""
REGIONS = {
    (True, False): "dependable",
    (True, True): "confidently biased",
    (False, False): "noisy",
    (False, True): "noisy and biased",
}
"""By whether C is high and whether phi is high."""


def bound(metrics: pd.DataFrame) -> Figure:
    """Observed accuracy A against what position bias allows, 1 - phi/2: one mark a cell, and a line for the bound.

    The distance below the line is the capability gap. Cells with ties or counted failures are not bound by it.
    """
    cells = _cells(metrics, ["A", "bound"])
    if cells.empty:
        return empty("Accuracy against its bound", "no cell has both A and phi")
    with canvas(5.2, 5) as (figure, (axes,)):
        _scatter(axes, cells, "bound", "A")
        ends = np.array([0.5, 1.0])
        axes.plot(ends, ends, color=GREY, lw=1)
        axes.text(0.75, 0.765, "A = 1 − φ/2", color=GREY, ha="right", va="bottom")
        low = min(0.5, cells["A"].min()) - 0.02
        axes.set(
            xlabel="bound on accuracy, 1 − φ/2", ylabel="observed accuracy, A", xlim=(0.49, 1.01), ylim=(low, 1.01)
        )
    return figure


def plane(metrics: pd.DataFrame) -> Figure:
    """Order flips phi against reproducibility C, in four named regions: one mark a cell."""
    cells = _cells(metrics, ["C", "phi"])
    if cells.empty:
        return empty("Reproducibility and position bias", "no cell has both C and phi")
    with canvas(5.2, 5) as (figure, (axes,)):
        _scatter(axes, cells, "phi", "C")
        low = min(cells["C"].min(), 0.75) - 0.03
        axes.axhline(STABLE, color=GREY, lw=0.8, ls="--")
        axes.axvline(BIASED, color=GREY, lw=0.8, ls="--")
        axes.set(xlabel="order flips, φ", ylabel="reproducibility, C", xlim=(-0.02, 1.02), ylim=(low, 1.03))
        for (stable, biased), region in REGIONS.items():
            x, y = (1.01 if biased else -0.01), (1.012 if stable else low + 0.01)
            axes.text(x, y, region, ha="right" if biased else "left", va="bottom", style="italic", color=GREY)
    return figure


def trust_by_judge(metrics: pd.DataFrame) -> Figure:
    """T of every judge on every data set: one mark a format, a line over their range; best judges on top.

    Of several temperatures the lowest is shown.
    """
    cells = _cells(metrics, ["T"])
    cells = cells[cells["temperature"].isna() | (cells["temperature"] == cells["temperature"].min())]
    if cells.empty:
        return empty("Trustworthy verdict rate", "T is undefined in every cell")
    judges = cells.groupby("judge")["T"].mean().sort_values().index.tolist()
    formats = looks(sorted(cells["series"].unique()))
    datasets = sorted(cells["dataset"].unique())
    with canvas(2.2 + 1.9 * len(datasets), 1.3 + 0.22 * len(judges), len(datasets)) as (figure, row):
        for axes, dataset in zip(row, datasets, strict=True):
            part = cells[cells["dataset"] == dataset]
            y = part["judge"].map(judges.index)
            ranges = part.assign(y=y).groupby("y")["T"].agg(["min", "max"])
            axes.hlines(ranges.index, ranges["min"], ranges["max"], color=GREY, lw=1, zorder=1)
            for series, look in formats.items():
                own = (part["series"] == series).to_numpy()
                axes.scatter(part["T"][own], y[own], c=look.colour, marker=look.mark, s=18, label=name(series))
            axes.set(title=name(dataset), xlabel="T", xlim=_range(cells["T"]), ylim=(-0.6, len(judges) - 0.4))
            axes.set_yticks(range(len(judges)), [name(judge) for judge in judges])
            axes.grid(axis="y", lw=0.3)
        legend(figure, row[0])
    return figure


def trust_by_temperature(metrics: pd.DataFrame) -> Figure:
    """T against sampling temperature, the mean over formats: one panel a judge, one line a data set."""
    cells = _cells(metrics, ["T"]).dropna(subset="temperature")
    cells = cells[cells.groupby(["judge", "dataset"])["temperature"].transform("nunique") > 1]
    if cells.empty:
        return empty("Trust against temperature", "no judge has T at two temperatures")
    judges, datasets = sorted(cells["judge"].unique()), looks(sorted(cells["dataset"].unique()))
    columns = min(len(judges), PANELS)
    rows = -(-len(judges) // columns)
    with canvas(max(4, 1.8 * columns), 1 + 1.5 * rows, columns, rows) as (figure, panels):
        for judge, axes in zip(judges, panels, strict=False):
            means = cells[cells["judge"] == judge].groupby(["dataset", "temperature"])["T"].mean()
            for dataset, line in means.groupby(level=0):
                look = datasets[str(dataset)]
                at = line.index.get_level_values("temperature")
                axes.plot(at, line, color=look.colour, marker=look.mark, ls=look.line, ms=4, label=name(dataset))
            axes.set_title(name(judge, 28), fontsize=8)
        panels[0].set(ylim=_range(cells["T"]))
        for axes in panels[len(judges) :]:
            axes.set_axis_off()
        for axes in panels[-columns:]:
            axes.set_xlabel("temperature")
        for axes in panels[::columns]:
            axes.set_ylabel("T")
        legend(figure, *panels)
    return figure


def _cells(metrics: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """One row a cell with these metrics as columns, those alone in which all are defined; `series` is its format."""
    whole = metrics["metric"].isin(names) & (metrics["slice"] == OVERALL) & (metrics["format"] != ALL_FORMATS)
    chosen = metrics[whole & metrics["value"].notna()]
    keys = chosen[list(CELL)].drop_duplicates().reset_index(drop=True)
    cells = keys
    for metric in names:
        values = chosen.loc[chosen["metric"] == metric, [*CELL, "value"]]
        cells = cells.merge(values.rename(columns={"value": metric}), on=list(CELL), how="inner")
    methods = cells["method"].where(cells["method"] != "pairwise", "")
    return cells.assign(series=(methods + " " + cells["format"]).str.strip().replace("", "verdict"))


def _scatter(axes: Axes, cells: pd.DataFrame, x: str, y: str) -> None:
    for dataset, look in looks(sorted(cells["dataset"].unique())).items():
        part = cells[cells["dataset"] == dataset]
        marks = axes.scatter(
            part[x], part[y], c=look.colour, marker=look.mark, s=22, alpha=0.7, lw=0, label=name(dataset)
        )
        named(marks, _names(part))
    axes.legend(loc="best", frameon=True, framealpha=0.8, fontsize=8)


def _names(cells: pd.DataFrame) -> list[str]:
    """Judge and format of each cell, and its temperature where it has one."""
    at = ["" if np.isnan(t) else f", T={t:g}" for t in cells["temperature"].to_numpy(dtype=float, na_value=np.nan)]
    return (cells["judge"] + ", " + cells["series"] + at).tolist()


def _range(values: pd.Series[float]) -> tuple[float, float]:
    return min(0.0, values.min()) - 0.03, max(values.max() + 0.05, 0.5)
