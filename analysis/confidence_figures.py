"""The figures of the studies `confidence` and `serving`, drawn from their tidy metrics alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.bootstrap import Array
from analysis.confidence import SIGNALS
from analysis.drawing import GREY, Look, canvas, empty, looks, name
from analysis.expected import NUMBERS
from analysis.expected_audit import EXPECTED, SAMPLED
from analysis.serving import ANY
from analysis.verdicts import CELL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 4
"""Panels side by side."""
MOST = 12
"""Cells that a figure of panels shows."""
OPEN = 0.05
"""Share of the probability that no label holds, above which a prediction is drawn as an open mark."""


def reliability(metrics: pd.DataFrame) -> Figure:
    """Share right against confidence, in bins: one panel a cell, one line a signal; on the diagonal it is calibrated.

    A mark's size grows with the verdicts in its bin.
    """
    points = _points(metrics, "accuracy_in_").rename(columns={"value": "right"})
    means = _points(metrics, "confidence_in_").rename(columns={"value": "stated"})
    keys = [*CELL, "slice", "at"]
    both = points.merge(means[[*keys, "stated"]], on=keys)

    def draw(axes: Axes, part: pd.DataFrame, look: Look, label: str) -> None:
        part = part.sort_values("at")
        x, y = part["stated"], part["right"]
        axes.plot(x, y, color=look.colour, ls=look.line, marker=look.mark, ms=3, lw=1, label=label)
        axes.scatter(x, y, s=_sizes(part["n"]), c=look.colour, marker=look.mark, lw=0, alpha=0.6)

    title = "Reliability", "no signal that is a probability was recorded"
    return _panels(both, title, ("confidence", "share right"), draw, diagonal=True)


def risk_coverage(metrics: pd.DataFrame) -> Figure:
    """Share wrong among the surest verdicts against how many are kept: one panel a cell, one line a signal."""
    points = _points(metrics, "accuracy_at_coverage_")
    whole = metrics[(metrics["metric"] == "accuracy") & metrics["slice"].isin(list(SIGNALS))].assign(at=1.0)
    risks = pd.concat([points, whole]).dropna(subset="value").assign(risk=lambda t: 1 - t["value"])

    def draw(axes: Axes, part: pd.DataFrame, look: Look, label: str) -> None:
        part = part.sort_values("at")
        axes.plot(part["at"], part["risk"], color=look.colour, ls=look.line, marker=look.mark, ms=3, lw=1, label=label)
        axes.fill_between(part["at"], 1 - part["ci_high"], 1 - part["ci_low"], color=look.colour, alpha=0.08, lw=0)

    title = "Risk against coverage", "no signal of confidence was recorded"
    return _panels(risks, title, ("coverage", "share wrong"), draw, diagonal=False)


def signals(metrics: pd.DataFrame) -> Figure:
    """AUROC of every signal in every cell, with its interval; 1/2 is guessing."""
    found = metrics[(metrics["metric"] == "auroc") & metrics["value"].notna()]
    if found.empty:
        return empty("Signals of confidence", "AUROC is undefined everywhere")
    shown = [s for s in SIGNALS if (found["slice"] == s).any()][::-1]
    names = _cell_names(found)
    series = looks(sorted(names.unique())[:MOST])
    with canvas(5.6, 1.4 + 0.45 * len(shown)) as (figure, (axes,)):
        for i, (label, look) in enumerate(series.items()):
            part = found[(names == label).to_numpy()]
            y = part["slice"].map(shown.index) + 0.5 * ((i + 1) / (len(series) + 1) - 0.5)
            axes.hlines(y, part["ci_low"], part["ci_high"], color=look.colour, lw=1)
            axes.scatter(part["value"], y, c=look.colour, marker=look.mark, s=16, label=name(label))
        axes.axvline(0.5, color=GREY, lw=0.8, ls="--")
        axes.set(xlabel="AUROC: does the signal tell right from wrong?", ylim=(-0.6, len(shown) - 0.4))
        axes.set_yticks(range(len(shown)), shown)
        _legend(figure, axes)
    return figure


def expected_against_sampled(metrics: pd.DataFrame) -> Figure:
    """Sampled numbers of the audit against those that log-probabilities predict, one mark a cell and number.

    Across: where sampling may put the number; up: the sampled number's interval over pairs. Open marks: the labels hold
    too little of the probability for the prediction to be held to it.
    """
    keys = [*CELL, "metric"]
    left_out = metrics[(metrics["slice"] == EXPECTED) & (metrics["metric"] == "mass_left_out")]
    left_out = left_out[[*CELL, "value"]].rename(columns={"value": "left_out"})
    predicted = metrics.loc[metrics["slice"] == EXPECTED, [*keys, "value", "ci_low", "ci_high"]]
    both = predicted.merge(metrics[metrics["slice"] == SAMPLED], on=keys, suffixes=("_expected", ""))
    both = both.dropna(subset=["value", "value_expected"]).merge(left_out, on=list(CELL), how="left")
    if both.empty:
        return empty("Expected against sampled audit", "no log-probabilities beside repeats of a one-token format")
    with canvas(5.2, 5.4) as (figure, (axes,)):
        axes.axline((0, 0), slope=1, color=GREY, lw=0.8, ls="--")
        for metric, look in looks(NUMBERS).items():
            part = both[both["metric"] == metric]
            x, y = part["value_expected"], part["value"]
            axes.hlines(y, part["ci_low_expected"], part["ci_high_expected"], color=look.colour, lw=0.8)
            axes.vlines(x, part["ci_low"], part["ci_high"], color=look.colour, lw=0.8, alpha=0.4)
            fill = np.where(part["left_out"] > OPEN, "white", look.colour)
            axes.scatter(x, y, c=fill, ec=look.colour, marker=look.mark, s=20, zorder=3)
            axes.scatter([], [], c=look.colour, marker=look.mark, s=20, label="φ" if metric == "phi" else metric)
        if (both["left_out"] > OPEN).any():
            axes.scatter([], [], c="white", ec=GREY, s=20, label=f"open: over {OPEN:.0%} on no label")
        axes.set(xlabel="expected from log-probabilities", ylabel="sampled", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        _legend(figure, axes)
    return figure


def serving_noise(metrics: pd.DataFrame) -> Figure:
    """Share of verdicts, texts and tokens that differ from the request alone, by condition of serving."""
    shares = ["verdict_difference", "text_difference", "token_difference"]
    found = metrics[metrics["metric"].isin(shares) & metrics["value"].notna()]
    if found.empty:
        return empty("Noise of serving", "no request was served under two conditions")
    conditions = sorted(found["slice"].unique(), key=_condition)
    names = _cell_names(found)
    panels = sorted(names.unique())[:MOST]
    columns = min(len(panels), PANELS)
    rows = -(-len(panels) // columns)
    with canvas(max(5, 3.2 * columns), 1.4 + (0.5 + 0.3 * len(conditions)) * rows, columns, rows) as (figure, all_axes):
        for label, axes in zip(panels, all_axes, strict=False):
            part = found[(names == label).to_numpy()]
            for i, (metric, look) in enumerate(looks(shares).items()):
                own = part[part["metric"] == metric]
                y = own["slice"].map(conditions.index) + 0.22 * (1 - i)
                axes.hlines(y, own["ci_low"], own["ci_high"], color=look.colour, lw=1)
                axes.scatter(own["value"], y, c=look.colour, marker=look.mark, s=18, label=metric.split("_")[0] + "s")
            axes.set_title(name(label, 48), fontsize=8)
            axes.set(xlabel="share that differs", ylim=(len(conditions) - 0.4, -0.6))
            axes.set_yticks(range(len(conditions)), [name(c) for c in conditions])
        for axes in all_axes[len(panels) :]:
            axes.set_axis_off()
        _legend(figure, *all_axes)
    return figure


def _panels(
    points: pd.DataFrame,
    title: tuple[str, str],
    labels: tuple[str, str],
    draw: Callable[[Axes, pd.DataFrame, Look, str], None],
    *,
    diagonal: bool,
) -> Figure:
    """One panel a cell, one line a signal."""
    if points.empty:
        return empty(*title)
    names, shown = _cell_names(points), looks(SIGNALS)
    cells = sorted(names.unique())
    columns = min(len(cells), PANELS)
    rows = -(-min(len(cells), MOST) // columns)
    with canvas(max(4, 2.3 * columns), 1 + 2.2 * rows, columns, rows) as (figure, all_axes):
        for label, axes in zip(cells[:MOST], all_axes, strict=False):
            part = points[(names == label).to_numpy()]
            for signal in [s for s in SIGNALS if (part["slice"] == s).any()]:
                draw(axes, part[part["slice"] == signal], shown[signal], signal)
            if diagonal:
                axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
            axes.set_title(name(label, 34), fontsize=8)
            axes.set(xlabel=labels[0], ylabel=labels[1], xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
            axes.label_outer()
        for axes in all_axes[min(len(cells), MOST) :]:
            axes.set_axis_off()
        if len(cells) > MOST:
            figure.suptitle(f"the first {MOST} of {len(cells)} cells", fontsize=8, color=GREY)
        _legend(figure, *all_axes)
    return figure


def _points(metrics: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Metrics of a curve and where on it they are: the number at the name's end, or the first one of a range."""
    chosen = metrics[metrics["metric"].str.startswith(prefix) & metrics["value"].notna()]
    places = chosen["metric"].str.removeprefix(prefix).str.split("-").str[0]
    return chosen.assign(at=places.astype(float))


def _cell_names(table: pd.DataFrame) -> pd.Series[str]:
    """What of the cell differs between rows; judge and data set where nothing does."""
    told = [c for c in CELL if table[c].nunique(dropna=False) > 1] or ["judge", "dataset"]
    keys = table[told].drop_duplicates()
    family = table.groupby(told, dropna=False, sort=False).ngroup()
    names = [", ".join(filter(None, map(_shown, key))) for key in keys.itertuples(index=False, name=None)]
    return family.map(dict(enumerate(names)))


def _shown(value: object) -> str:
    return f"T={value:g}" if isinstance(value, float) else str(value)


def _sizes(n: pd.Series[int]) -> Array:
    return 8 + 60 * np.sqrt(n.to_numpy(dtype=float) / max(n.max(), 1))


def _condition(label: str) -> tuple[bool, str, int]:
    """Batches by their size, `any` last: batch_8 before batch_32."""
    stem, _, digits = label.rpartition("_")
    return (label == ANY, stem, int(digits)) if digits.isdecimal() else (label == ANY, label, 0)


def _legend(figure: Figure, *axes: Axes) -> None:
    handles = {label: h for one in axes for h, label in zip(*one.get_legend_handles_labels(), strict=True)}
    widest = 0.5 + 0.075 * max(map(len, handles), default=0)  # Inches, of a mark and its label.
    columns = max(1, int(figure.get_figwidth() // widest))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )
