"""Pages from plain data: tables and figures as the templates take them, and one page filled; knows no study.

A page is one file that asks nothing of any network; all that is put into it is escaped by the template engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.tables import DASH, plain

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST = 200
"""Rows of a table that a page shows; files hold all."""
Row = Mapping[str, Any]
_NUMBER = re.compile(r"[−-]?[\d,]+(\.\d+)?%?([eE][−+-]?\d+)?|–")
_INTERVAL = re.compile(r"([−\d.]+) (\[[^\]]+\])")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table, as text."""

    text: str
    interval: str = ""
    link: str = ""
    """Where a click leads; empty: nowhere."""
    mark: str = ""
    """A class of the style sheet: `inside`, `outside`."""
    number: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, ready to be shown."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    left_out: int = 0
    """Rows that are not shown."""
    file: str = ""
    """Where all rows are, relative to the page."""
    open: bool = False
    """Whether it is unfolded from the start, where it can be folded."""


@dataclass(frozen=True, slots=True)
class Plate:
    """A figure with its words and, where they are known, the numbers that it draws."""

    name: str
    caption: str
    svg: Markup
    numbers: Grid | None
    wide: bool = False
    """Whether it takes the whole width of a page."""


def grid(
    table: pd.DataFrame,
    name: str,
    caption: str,
    *,
    note: str = "",
    file: str = "",
    link: Callable[[Row], str] | None = None,
    most: int = MOST,
    unfolded: bool = False,
) -> Grid:
    """A table of numbers or text as the templates take it.

    Args:
        table: numbers are shown as by `analysis.tables.plain`; text such as `0.5 [0.4, 0.6]` is a number, too.
        name: of the table, as its files have it.
        caption: what it shows.
        note: what else a reader has to know.
        file: where all of its rows are, relative to the page.
        link: from a row to the address that its first cell leads to; empty: nowhere.
        most: rows to show.
        unfolded: whether to show it unfolded, where it can be folded.
    """
    shown = plain(table.head(most))
    columns = tuple(map(str, shown.columns))
    numeric = [all(_is_number(str(v)) for v in shown.iloc[:, i]) for i in range(len(columns))]
    rows = []
    for values in shown.itertuples(index=False, name=None):
        cells = [_cell(v, n) for v, n in zip(values, numeric, strict=True)]
        address = link(dict(zip(columns, values, strict=True))) if link else ""
        if address and cells:
            cells[0] = Cell(cells[0].text, cells[0].interval, address, cells[0].mark, cells[0].number)
        rows.append(tuple(cells))
    return Grid(name, caption, columns, tuple(rows), note, max(len(table) - most, 0), file, unfolded)


def render(template: str, **given: Any) -> str:
    """A page from one of the templates in `analysis/templates`, or from one that extends `base.html`.

    Raises:
        jinja2.UndefinedError: the template asks for something that was not given.
    """
    return _environment().get_template(template).render(**given)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("analysis", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _INTERVAL.fullmatch(text))


def _cell(value: Any, number: bool) -> Cell:
    text = DASH if value is None else str(value)
    mark = text if text in ("inside", "outside") else ""
    if number and (found := _INTERVAL.fullmatch(text)):
        return Cell(found[1], found[2], "", mark, number)
    return Cell(text, "", "", mark, number)
