"""The figures of the study `refsense`, drawn from its tidy metrics alone.

Source: 001_1ea9d04442e7600e.txt (figures 4 to 6, and table 1 as a figure). Matplotlib is loaded when a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.bootstrap import Array
from analysis.cells import OVERALL
from analysis.drawing import COLOURS, GREY, canvas, empty, legend, looks, name
from analysis.refsense import MATCHES
from analysis.refsense_units import ARROW, CHANGES, SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("", "///", "...", "xxx")
SHOWN_CHANGES = tuple(f"{a}{ARROW}{b}" for a, b in CHANGES[:2])
PANELS = 6
"""Panels side by side."""
BARS = 60
"""The most bars in a panel that can still be read."""


def calibration(metrics: pd.DataFrame) -> Figure:
    """Figure 4: C1 and C2 of every judge with their intervals, one panel a data set and language."""
    chosen = _parts(metrics[metrics["metric"].isin(["C1", "C2"])])
    if chosen.empty:
        return empty("Calibration", "no item has both its right and another answer judged")
    judges, panels = sorted(chosen["judge"].unique()), list(dict.fromkeys(chosen["panel"]))
    columns = min(len(panels), PANELS)
    rows = -(-len(panels) // columns)
    with canvas(2.2 + 1.7 * columns, 1 + rows * (0.6 + 0.3 * len(judges)), columns, rows) as (figure, row):
        for axes in row[len(panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(row, panels, strict=False):
            for i, (metric, look) in enumerate(looks(["C1", "C2"]).items()):
                part = chosen[(chosen["panel"] == panel) & (chosen["metric"] == metric)]
                y = part["judge"].map(judges.index) + 0.24 * (0.5 - i)
                axes.hlines(y, part["ci_low"], part["ci_high"], color=look.colour, lw=1)
                axes.scatter(part["value"], y, c=look.colour, marker=look.mark, s=20, label=metric)
            axes.set(title=name(panel, 24), xlabel="share accepted", xlim=(-0.03, 1.03), ylim=(-0.7, len(judges) - 0.3))
            axes.set_yticks(range(len(judges)), [name(judge) for judge in judges])
            axes.grid(axis="y", lw=0.3)
        legend(figure, row[0])
    return figure


def correctness(metrics: pd.DataFrame) -> Figure:
    """Table 1 as a figure: the share judged CORRECT in each setting, one panel a judge, one line a generator."""
    chosen = metrics[(metrics["metric"] == "share_correct") & (metrics["slice"] == OVERALL) & metrics["value"].notna()]
    if chosen.empty:
        return empty("Share judged CORRECT", "no model's answer was judged")
    chosen = chosen.assign(series=chosen["generator"] + " " + chosen["dataset"])
    judges, series = sorted(chosen["judge"].unique()), looks(sorted(chosen["series"].unique()))
    settings = [s for s in SETTINGS if s in set(chosen["reference"])]
    columns = min(len(judges), PANELS)
    rows = -(-len(judges) // columns)
    with canvas(1.4 + 2.1 * columns, 1 + 2.2 * rows, columns, rows) as (figure, row):
        for axes in row[len(judges) :]:
            axes.set_axis_off()
        for axes, judge in zip(row, judges, strict=False):
            for line, look in series.items():
                part = chosen[(chosen["judge"] == judge) & (chosen["series"] == line)]
                values = part.groupby("reference")["value"].mean().reindex(settings)
                axes.plot(values.to_numpy(), c=look.colour, marker=look.mark, ls=look.line, ms=4, label=name(line))
            axes.set(title=name(judge, 24), ylim=(-0.03, 1.03))
            axes.set_xticks(range(len(settings)), settings)
        for axes in row[::columns]:
            axes.set_ylabel("share judged CORRECT")
        legend(figure, *row)
    return figure


def directions(metrics: pd.DataFrame) -> Figure:
    """Figure 5: what the flips are, as shares, one bar a judge, generator and language; NR to RV beside RV to RC."""
    names = {
        "over_credit": "CORRECT to INCORRECT (over-credit)",
        "under_credit": "INCORRECT to CORRECT (under-credit)",
        "unknown_credit": "from or to UNKNOWN",
    }
    return _stacked(metrics, names, "Direction of flips", "share of flips", "no verdict differs between two settings")


def extracted(metrics: pd.DataFrame) -> Figure:
    """Figure 6: extracted answer and verdict, same or changed, as shares of answers."""
    word = {True: "same", False: "changed"}
    names = {key: f"answer {word[text]}, verdict {word[verdict]}" for key, (text, verdict) in MATCHES.items()}
    why = "no answer was extracted in two settings"
    return _stacked(metrics, names, "Extracted answer and verdict", "share of answers", why)


def _stacked(metrics: pd.DataFrame, names: Mapping[str, str], title: str, axis: str, why: str) -> Figure:
    chosen = _parts(metrics[metrics["metric"].isin(names) & metrics["reference"].isin(SHOWN_CHANGES)])
    if chosen.empty:
        return empty(title, why)
    bars = chosen["judge"] + " on " + chosen["generator"] + ", " + chosen["panel"]
    chosen = chosen.assign(bar=bars)
    order = list(dict.fromkeys(bars))[:BARS][::-1]
    with canvas(9, 1.4 + 0.2 * len(order), len(SHOWN_CHANGES)) as (figure, row):
        for axes, change in zip(row, SHOWN_CHANGES, strict=True):
            part = chosen[chosen["reference"] == change]
            shares = part.pivot_table(index="bar", columns="metric", values="value")
            _bars(axes, shares.reindex(index=order, columns=[*names]).to_numpy(float), list(names.values()))
            axes.set(title=change, xlabel=axis, xlim=(0, 1), ylim=(-0.7, len(order) - 0.3))
            axes.set_yticks(range(len(order)), [name(bar, 60) for bar in order], fontsize=7)
        if len(set(bars)) > BARS:
            row[0].set_title(f"{SHOWN_CHANGES[0]}; {len(set(bars)) - BARS} more are in the table")
        legend(figure, row[0])
    return figure


def _bars(axes: Axes, shares: Array, labels: Sequence[str]) -> None:
    left = np.zeros(len(shares))
    for i, label in enumerate(labels):
        width = np.nan_to_num(shares[:, i])
        bars = axes.barh(range(len(shares)), width, left=left, height=0.75, label=label, color=COLOURS[i])
        for bar in bars:
            bar.set(hatch=HATCHES[i], edgecolor="white", linewidth=0.3)
        left += width
    for y in np.flatnonzero(np.isnan(shares).all(axis=1)):
        axes.text(0.01, y, "none", va="center", color=GREY, fontsize=7)


def _parts(chosen: pd.DataFrame) -> pd.DataFrame:
    """By slice, in a data set with but one slice, or none, the whole; `panel` names data set and slice."""
    chosen = chosen[chosen["value"].notna()]
    several = chosen.groupby("dataset")["slice"].transform("nunique") > 2
    chosen = chosen[several | (chosen["slice"] == OVERALL)]
    panel = (chosen["dataset"] + " " + chosen["slice"]).where(several, chosen["dataset"])
    return chosen.assign(panel=panel)
