"""How figures look and are written: colours and marks that tell series apart in print and in grey, SVG and PNG."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis import fonts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Told apart by colour-blind readers (Okabe & Ito 2008)."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LINES = ("-", "--", "-.", ":")
GREY = "#767676"
DOTS_PER_INCH = 160


class Look(NamedTuple):
    """How one series is drawn; no two of the first 70 series have the same colour and the same mark."""

    colour: str
    mark: str
    line: str


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each series, in the order of their names' first appearance."""
    return {
        name: Look(COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)], LINES[i % len(LINES)])
        for i, name in enumerate(dict.fromkeys(names))
    }


@contextmanager
def canvas(width: float, height: float, columns: int = 1, rows: int = 1) -> Iterator[tuple[Figure, Sequence[Axes]]]:
    """A figure of so many inches, and its axes, which share scales; names are never read as formulas."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {"font.family": list(fonts.families()), "font.size": 9, "text.parse_math": False}
    with rc_context(style | {"axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel().tolist()


def empty(title: str, reason: str) -> Figure:
    """A figure that says why it shows nothing."""
    with canvas(5, 1.6) as (figure, (axes,)):
        axes.set_axis_off()
        axes.set_title(title, loc="left")
        axes.text(0.5, 0.5, f"Nothing to show: {reason}", ha="center", va="center", wrap=True, transform=axes.transAxes)
    return figure


def name(text: object, longest: int = 40) -> str:
    """A name on one line and not too long, without characters that no figure can hold."""
    line = re.sub(r"[\x00-\x20\x7f\ufffe\uffff]+", " ", str(text)).strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"


def legend(figure: Figure, *axes: Axes) -> None:
    """One legend below the figure for the labels of all these axes."""
    handles = {label: h for one in axes for h, label in zip(*one.get_legend_handles_labels(), strict=True)}
    columns = max(1, int(figure.get_figwidth() // 1.3))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )


def save(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Writes PATH.svg, with its text as text, and PATH.png; equal figures give equal files.

    Letters that no installed font has are in the first alone; a warning says so.
    """
    from matplotlib import rc_context
    from matplotlib.text import Text

    path.parent.mkdir(parents=True, exist_ok=True)
    vector, raster = (path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png"))
    fonts.warn_of_missing(text.get_text() for text in figure.findobj(Text))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "voirdire"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(vector, metadata={"Date": None, "Creator": None})
        figure.savefig(raster, dpi=DOTS_PER_INCH, metadata={"Software": None})
    return vector, raster
