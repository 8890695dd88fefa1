"""The numbers that a figure draws, read from the figure itself: a table beside it for who can't see it, or wants more.

It knows marks, lines, bars and shaded tables that have a label or a place of their own; lines for the eye have neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_NAMES: WeakKeyDictionary[Artist, Sequence[str]] = WeakKeyDictionary()
_PLACES = 9


def named(marks: Artist, names: Sequence[str]) -> None:
    """Says what each mark of a scatter stands for, where its place alone does not."""
    _NAMES[marks] = names


def numbers(figure: Figure) -> pd.DataFrame:
    """One row a mark, a point of a line, a bar or a cell: panel, series, what it stands for, where it is, its interval.

    Columns that say nothing are left out, and so are rows without a number; empty for a figure that draws none.
    """
    found = [row | {"panel": _title(axes)} for axes in figure.axes for row in _of(axes)]
    if not found:
        return pd.DataFrame()
    table = pd.DataFrame(found)
    first = [c for c in ("panel", "of", "series", "row", "column") if c in table]
    table = table[[*first, *(c for c in table if c not in first)]]
    dull = [c for c in table if c not in ("row", "column") and (table[c].isna() | (table[c] == "")).all()]
    if "panel" in table and table["panel"].nunique() < 2:
        dull.append("panel")
    return table.drop(columns=list(dict.fromkeys(dull)))


def _title(axes: Axes) -> str:
    return axes.get_title() or axes.get_title(loc="left")


def _of(axes: Axes) -> Iterator[dict[str, Any]]:
    across, up = _scales(axes)
    yield from _scatters(axes, across, up)
    for line in axes.lines:
        if _told(line):
            at, to = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
            yield from ({"series": line.get_label()} | across(x) | up(y) for x, y in zip(at, to, strict=True) if y == y)
    yield from _bars(axes, across, up)
    for image in axes.images:
        for (i, j), value in np.ndenumerate(np.asarray(image.get_array())):
            yield across(j) | up(i) | {"value": float(value)}


def _scatters(axes: Axes, across: _Scale, up: _Scale) -> Iterator[dict[str, Any]]:
    from matplotlib.collections import PathCollection

    ranges = _ranges(axes)
    for marks in axes.collections:
        if not isinstance(marks, PathCollection) or not _told(marks):
            continue
        names, colour = _NAMES.get(marks), _colour(marks)
        for i, (x, y) in enumerate(np.asarray(marks.get_offsets(), float)):
            row = {"series": marks.get_label()} | across(x) | up(y)
            for scale, key in ((across, (colour, "x", _near(y))), (up, (colour, "y", _near(x)))):
                row |= _between(scale, ranges.get(key))
            yield row | ({"of": names[i]} if names is not None else {})


def _bars(axes: Axes, across: _Scale, up: _Scale) -> Iterator[dict[str, Any]]:
    from matplotlib.container import BarContainer

    ranges = {key[1:]: ends for key, ends in _ranges(axes).items()}
    for bars in axes.containers:
        if not isinstance(bars, BarContainer):
            continue
        for bar in bars:
            flat = bars.orientation == "horizontal"
            middle = bar.get_y() + bar.get_height() / 2 if flat else bar.get_x() + bar.get_width() / 2
            value, places = (bar.get_width(), up) if flat else (bar.get_height(), across)
            scale = across if flat else up
            ends = ranges.get(("x" if flat else "y", _near(middle)))
            yield {"series": str(bars.get_label())} | places(middle) | scale(value) | _between(scale, ends)


class _Scale:
    """What a place on one axis is called: its number under the axis's label, or the name of the nearest tick."""

    def __init__(self, label: str, kind: str, ticks: dict[float, str]) -> None:
        self.label, self.kind, self.ticks = label, kind, ticks

    def __call__(self, place: float) -> dict[str, Any]:
        if not self.ticks:
            return {self.label: float(place)}
        return {self.kind: self.ticks[min(self.ticks, key=lambda at: abs(at - place))]}


def _scales(axes: Axes) -> tuple[_Scale, _Scale]:
    beside = [axes, *axes.figure.axes]  # Axes in a row name their scale once.
    across = next(filter(None, (a.get_xlabel() for a in beside)), "x")
    up = next(filter(None, (a.get_ylabel() for a in beside)), "y")
    return _Scale(across, "column", _ticks(axes.xaxis)), _Scale(up, "row", _ticks(axes.yaxis))


def _ticks(axis: Axis) -> dict[float, str]:
    """Names by place, of an axis that has names for numbers."""
    from matplotlib.category import StrCategoryLocator
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.get_major_locator(), FixedLocator | StrCategoryLocator):
        return {}
    places = [float(at) for at in axis.get_majorticklocs()]
    return dict(zip(places, axis.get_major_formatter().format_ticks(places), strict=True))


def _ranges(axes: Axes) -> dict[tuple[str, str, float], tuple[float, float]]:
    """Ends of the lines along an axis, by colour, axis and place on the other one."""
    from matplotlib.collections import LineCollection

    found: dict[tuple[str, str, float], tuple[float, float]] = {}
    for lines in axes.collections:
        if isinstance(lines, LineCollection):
            for segment in lines.get_segments():
                (x0, y0), (x1, y1) = np.asarray(segment, float)[[0, -1]]
                along, at, ends = ("x", y0, (x0, x1)) if y0 == y1 else ("y", x0, (y0, y1))
                found[_colour(lines), along, _near(at)] = ends
    return found


def _between(scale: _Scale, ends: tuple[float, float] | None) -> dict[str, float]:
    return {} if ends is None or scale.ticks else {f"{scale.label}, low": ends[0], f"{scale.label}, high": ends[1]}


def _told(artist: Artist) -> bool:
    return not str(artist.get_label()).startswith("_")


def _colour(artist: Any) -> str:
    from matplotlib.colors import to_hex

    colours = artist.get_edgecolor() if hasattr(artist, "get_segments") else artist.get_facecolor()
    return to_hex(colours[0]) if len(colours) else ""


def _near(place: float) -> float:
    return round(float(place), _PLACES)
