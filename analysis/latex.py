"""Tables in LaTeX: booktabs rules, numbers in siunitx columns, intervals beside them, a caption and a note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.symbols import SYMBOLS

ESCAPES = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "→": r"$\to$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "φ": r"$\phi$",
    "κ": r"$\kappa$",
    "η": r"$\eta$",
    "Δ": r"$\Delta$",
    "²": r"$^2$",
}
LONGEST = 45
"""Rows that fit on a page; a longer table breaks over pages."""
_DASH = "–"
_PLAIN = re.compile(r"[−-]?(\d+)(?:\.(\d+))?")
_SMALL = re.compile(r"[−-]?\d+(\.\d+)?e[+−-]?\d+")
_INTERVAL = re.compile(r"(\S+) \[(\S+), (\S+)\]")


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of a table, laid out."""

    layout: str
    head: str | None
    """None: that of the column before spans this one."""
    cells: list[str]


def escaped(text: object) -> str:
    r"""Text that LaTeX prints as it is, on one line.

    >>> print(escaped("50% of {x}_1 \\ $"))
    50\% of \{x\}\_1 \textbackslash{} \$
    """
    line = re.sub(r"[\s\x00-\x1f\x7f]+", " ", str(text))
    shown = "".join(ESCAPES.get(c, c) for c in line)
    return "{}" + shown if shown.startswith(("[", "*")) else shown  # After \\ these would be read as its argument.


def tabular(table: pd.DataFrame) -> str:
    r"""A table of text, as `analysis.tables.plain` gives it, between `\begin{tabular}` and `\end{tabular}`."""
    columns = _columns(table)
    body = _body(columns)
    lines = [rf"\begin{{tabular}}{{{_layout(columns)}}}", r"\toprule", _head(columns), r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def document(table: pd.DataFrame, name: str, caption: str, note: str = "") -> str:
    r"""A whole float, or a `longtable` where it has more rows than fit on a page, to be `\input` as it is.

    Args:
        table: of text, as `analysis.tables.plain` gives it.
        name: of the file; the label is `tab:NAME`.
        caption: what the table shows.
        note: below it; how numbers were found.
    """
    long = len(table) > LONGEST
    needs = [r"\usepackage{booktabs}", r"\usepackage{siunitx}", *([r"\usepackage{longtable}"] if long else [])]
    head = [
        f"% Needs {' '.join(needs)} in the preamble.",
        "% An interval stands in a column of its own, after its number.",
    ]
    title = rf"\caption{{{escaped(caption)}}}\label{{tab:{name}}}"
    said = rf"\par\smallskip{{\footnotesize\raggedright {escaped(note)}\par}}" if note else ""
    if long:
        columns = _columns(table)
        rows = [rf"\begin{{longtable}}{{{_layout(columns)}}}", title + r"\\", r"\toprule", _head(columns), r"\midrule"]
        rows += [r"\endhead", *_body(columns), r"\bottomrule", r"\end{longtable}", said]
    else:
        rows = [r"\begin{table}", r"\centering", title, tabular(table).rstrip("\n"), said, r"\end{table}"]
    return "\n".join([*head, *filter(None, rows)]) + "\n"


def _columns(table: pd.DataFrame) -> list[_Column]:
    return [column for i, name in enumerate(table) for column in _laid_out(str(name), list(map(str, table.iloc[:, i])))]


def _laid_out(name: str, cells: Sequence[str]) -> list[_Column]:
    """A column of numbers, one of numbers and one of their intervals, or one of text."""
    found = [_INTERVAL.fullmatch(cell) for cell in cells]
    values = [match[1] if match else cell for match, cell in zip(found, cells, strict=True)]
    told = [v for v in values if v != _DASH]
    if not told or not all(_PLAIN.fullmatch(v) or _SMALL.fullmatch(v) for v in told):
        return [_Column("l", _symbol(name), [escaped(cell) for cell in cells])]
    if all(_PLAIN.fullmatch(v) for v in told):
        numbers = _Column(_format(told), f"{{{_symbol(name)}}}", ["{--}" if v == _DASH else _ascii(v) for v in values])
    else:
        small = ["--" if v == _DASH else rf"\num{{{_ascii(v)}}}" for v in values]
        numbers = _Column("r", _symbol(name), small)
    if not any(found):
        return [numbers]
    ends = [rf"[\num{{{_ascii(m[2])}}}, \num{{{_ascii(m[3])}}}]" if m else "" for m in found]
    return [numbers, _Column(r"@{\,}l", None, ends)]


def _format(values: Sequence[str]) -> str:
    """An S column wide enough: `S[table-format=-1.3]`."""
    parts = [_PLAIN.fullmatch(v) for v in values]
    whole, rest = (max(len(m[i] or "") for m in parts if m) for i in (1, 2))
    sign = "-" if any(v[0] in "−-" for v in values) else ""
    return f"S[table-format={sign}{whole}.{rest}]"


def _symbol(name: str) -> str:
    """A column's head as its source writes it: `type_preserving RPAG` has the symbol of its last word."""
    *words, last = name.split(" ")
    if name in SYMBOLS:
        return SYMBOLS[name].tex
    return f"{escaped(' '.join(words))} {SYMBOLS[last].tex}" if words and last in SYMBOLS else escaped(name)


def _head(columns: Sequence[_Column]) -> str:
    heads = []
    for i, column in enumerate(columns):
        if column.head is not None:
            spans = i + 1 < len(columns) and columns[i + 1].head is None
            heads.append(rf"\multicolumn{{2}}{{c}}{{{column.head}}}" if spans else column.head)
    return " & ".join(heads) + r" \\"


def _body(columns: Sequence[_Column]) -> list[str]:
    return [" & ".join(cells) + r" \\" for cells in zip(*(c.cells for c in columns), strict=True)]


def _layout(columns: Sequence[_Column]) -> str:
    return "".join(column.layout for column in columns)


def _ascii(number: str) -> str:
    return number.replace("−", "-")
