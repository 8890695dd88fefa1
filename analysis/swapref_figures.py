"""The figures of the study `swapref`, drawn from its tidy metrics alone.

Source: 000_65c668a7267fc0e4.txt (figures 3 to 5). Matplotlib is loaded when a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from analysis.drawing import GREY, canvas, empty, legend, looks, name
from analysis.swapref import FRESHNESS, in_order
from analysis.swapref_tables import swaps_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POPULARITY = ("popularity_high", "popularity_low")


def gap_by_judge(metrics: pd.DataFrame) -> Figure:
    """Figure 3: RPAG of every judge with its interval, one mark a swap, one panel a data set."""
    return _by_judge(metrics, [s for s in swaps_of(metrics) if s not in POPULARITY], "Gap by judge and swap")


def gap_by_popularity(metrics: pd.DataFrame) -> Figure:
    """Figure 4: the same where the reference is swapped for a well-known person, and for one hardly known."""
    return _by_judge(metrics, [s for s in swaps_of(metrics) if s in POPULARITY], "Gap by popularity of the swap")


def gap_by_freshness(metrics: pd.DataFrame) -> Figure:
    """Figure 5: RPAG by how fast the right answer changes, one panel a swap; a line a judge, a thick one the mean."""
    gaps = _gaps(metrics)
    gaps = gaps[gaps["slice"].str.endswith(tuple(f"/{stratum}" for stratum in FRESHNESS))]
    if gaps.empty:
        return empty("Gap by freshness", "no data set has items of two kinds of freshness")
    parts = gaps["slice"].str.partition("/")
    gaps = gaps.assign(swap=parts[0], stratum=parts[2])
    gaps = gaps.groupby(["swap", "stratum", "judge"])["value"].mean().reset_index()
    swaps, strata = in_order(gaps["swap"].unique()), in_order(gaps["stratum"].unique(), FRESHNESS)
    # The legend names every judge below the figure, which grows with it.
    lines_below = gaps["judge"].nunique() // max(1, int((1.2 + 2.4 * len(swaps)) // 1.3)) + 1
    with canvas(1.2 + 2.4 * len(swaps), 3.2 + 0.19 * lines_below, len(swaps)) as (figure, row):
        for axes, swap in zip(row, swaps, strict=True):
            lines = gaps[gaps["swap"] == swap].pivot(index="stratum", columns="judge", values="value").reindex(strata)
            for judge, look in looks(lines.columns).items():
                axes.plot(lines[judge].to_numpy(), c=look.colour, marker=look.mark, ls=look.line, ms=4, lw=0.8)
                axes.lines[-1].set_label(name(judge))
            axes.plot(lines.mean(axis=1).to_numpy(), c=GREY, lw=3, alpha=0.6, label="mean over judges")
            axes.set_xticks(range(len(strata)), strata, rotation=20, ha="right")
            axes.set_title(name(swap))
        row[0].set_ylabel("RPAG = ACC_o − ACC_s")
        legend(figure, row[0])
    return figure


def _by_judge(metrics: pd.DataFrame, swaps: Sequence[str], title: str) -> Figure:
    gaps = _gaps(metrics)
    gaps = gaps[gaps["slice"].isin(swaps)]
    if gaps.empty:
        return empty(title, "no judge has a gap under such a swap")
    gaps = gaps.assign(series=_series(gaps))
    judges = gaps.groupby("series")["value"].mean().sort_values().index.tolist()
    datasets = sorted(gaps["dataset"].unique())
    with canvas(2.2 + 1.9 * len(datasets), 1.3 + 0.24 * len(judges), len(datasets)) as (figure, row):
        for axes, dataset in zip(row, datasets, strict=True):
            axes.axvline(0, color=GREY, lw=0.8)
            for i, (swap, look) in enumerate(looks(swaps).items()):
                part = gaps[(gaps["dataset"] == dataset) & (gaps["slice"] == swap)]
                y = part["series"].map(judges.index) + 0.18 * (i - (len(swaps) - 1) / 2)
                axes.hlines(y, part["ci_low"], part["ci_high"], color=look.colour, lw=1)
                axes.scatter(part["value"], y, c=look.colour, marker=look.mark, s=18, label=name(swap))
            axes.set(title=name(dataset), xlabel="RPAG", ylim=(-0.7, len(judges) - 0.3))
            axes.set_yticks(range(len(judges)), [name(judge) for judge in judges])
            axes.grid(axis="y", lw=0.3)
        legend(figure, row[0])
    return figure


def _gaps(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics[(metrics["metric"] == "RPAG") & metrics["value"].notna()]


def _series(gaps: pd.DataFrame) -> pd.Series[str]:
    """The judge, and how it was asked where that differs."""
    several = gaps["format"].nunique() > 1
    return gaps["judge"] + " " + gaps["format"] if several else gaps["judge"]
