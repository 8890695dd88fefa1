"""Where verdicts vary from over pairs, judges, formats and orders: variance components of a crossed design (G-study).

Source: 004_e1840bb43771aeee.txt, the part on temperature and variance sources (appendix C.2 of the paper).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from analysis.bootstrap import Array
from analysis.cells import settings, told
from analysis.columns import TableError
from analysis.crossed import Crossed, Source, cross, label, squares
from analysis.variance import described, varied
from analysis.verdicts import CELL, ORDERS

Response = Literal["A", "correct"]
Verdicts = Literal["majority", "each"]
REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Component:
    """One variance component of a random, fully crossed design."""

    df: int
    ms: float
    variance: float
    """The unbiased estimate, which may be negative."""


def g_study(
    units: pd.DataFrame,
    *,
    response: Response = "A",
    verdicts: Verdicts = "majority",
    complete_only: bool = False,
) -> pd.DataFrame:
    """Variance components of verdicts over pairs, judges, formats and orders, for every data set.

    All facets are random and crossed; components solve the expected mean squares of the balanced design. A facet
    that has one level is left out.

    Args:
        units: one row a pair in a cell, from `analysis.repeats.items`.
        response: `A`: is the verdict the item's own answer A? `correct`: is it the gold label?
        verdicts: `majority`: one response a cell, the majority verdict, as in the source. `each`: every verdict, so
            that what differs between repeats is a component of its own, nested in the cells.
        complete_only: leave out levels until the design is complete, see `analysis.crossed.cross`; else pairs
            without a verdict in some cell are an error.

    Returns:
        For every data set and setting of the other factors, one row a component: dataset, the factors that differ
        between settings, then component df ms variance truncated share note. `variance` is the unbiased estimate and
        may be negative, `truncated` is 0 then, `share` is the truncated one's share of their sum.

    Raises:
        TableError: cells are missing; verdicts are ties where the response is A; there is nothing to cross.
    """
    facets = ("pair", "judge", "format", "order")
    responses = _responses(units, response, verdicts)
    rows = []
    for setting, part in settings(responses, ("judge", "format")):
        design = cross(part, varied(part, facets, "a study of generalizability"), complete_only=complete_only)
        found = components(design.values, list(design.levels))
        if verdicts == "each":
            found = _with_repeats(found, design)
        rows.append(_component_rows(found, design).assign(**setting))
    return told(pd.concat(rows, ignore_index=True), ["component", "df", "ms", "variance", "truncated", "share", "note"])


def components(values: Array, facets: Sequence[str]) -> dict[Source, Component]:
    """Components of variance of a random, fully crossed design with one response a cell.

    The mean square of a source expects the sum, over all sources that contain it, of their components times the
    number of responses at one of their levels. Responses [[1, 2], [3, 6]] over (a, b): mean squares 9, 4 and 1,
    hence components (9 - 1)/2 = 4, (4 - 1)/2 = 1.5 and 1.
    """
    found = squares(values, facets)
    size = dict(zip(facets, values.shape, strict=True))
    return {
        source: Component(
            of.df,
            of.ms,
            sum((-1) ** (len(other) - len(source)) * found[other].ms for other in found if set(source) <= set(other))
            / np.prod([size[f] for f in facets if f not in source]),
        )
        for source, of in found.items()
    }


def _component_rows(found: Mapping[Source, Component], design: Crossed) -> pd.DataFrame:
    table = pd.DataFrame(
        {"component": label(source), "df": c.df, "ms": c.ms, "variance": c.variance} for source, c in found.items()
    )
    truncated = table["variance"].clip(lower=0)
    share = truncated / truncated.sum() if truncated.sum() > 0 else np.nan
    return table.assign(truncated=truncated, share=share, note=described(design))


def _responses(units: pd.DataFrame, response: Response, verdicts: Verdicts) -> pd.DataFrame:
    """One row a pair, cell and order: the share of its verdicts that are what is asked for, and their number."""
    for name, value, known in (("response", response, Response), ("verdicts", verdicts, Verdicts)):
        if value not in get_args(known):
            raise TableError(f"{name}={value!r}: choose {' or '.join(get_args(known))}")
    if response == "A":
        _refuse_ties(units)
    parts = [_order(units, order, response, verdicts) for order in ORDERS]
    return pd.concat(parts, ignore_index=True).rename(columns={"item": "pair"})


def _refuse_ties(units: pd.DataFrame) -> None:
    ties = int((units["ties"] > 0).sum())
    if ties:
        raise TableError(
            f"ties are among the verdicts on {ties:,} pairs, and a tie names neither answer; "
            "study whether verdicts are correct, or leave out the method that ties"
        )


def _order(units: pd.DataFrame, order: str, response: Response, verdicts: Verdicts) -> pd.DataFrame:
    readable = units[f"readable_{order}"].to_numpy(dtype=float)
    said: Array
    if verdicts == "each":
        said = _votes(units, order, "A" if response == "A" else units["gold"]) / np.where(
            readable > 0, readable, np.nan
        )
    elif response == "correct":
        said = units[f"R_{order}"].to_numpy()
    else:
        said = np.where(units[f"M_{order}"].isna(), np.nan, units[f"M_{order}"] == "A")
    return units[[*CELL, "item"]].assign(order=order, response=said, weight=readable)


def _votes(units: pd.DataFrame, order: str, answer: str | pd.Series[str]) -> Array:
    """Verdicts for an answer; NaN where no answer is known."""
    a, b, readable = (units[f"{c}_{order}"].to_numpy(dtype=float) for c in ("votes_A", "votes_B", "readable"))
    named = pd.Series(answer, index=units.index)
    return np.select([named == "A", named == "B", named == "tie"], [a, b, readable - a - b], np.nan)


def _with_repeats(found: Mapping[Source, Component], design: Crossed) -> dict[Source, Component]:
    """Takes from the residual what differs between the repeats behind each response."""
    p, k = design.values, design.weights
    df = int((k - 1).sum())
    if df < 1:
        raise TableError("verdicts='each' needs two readable repeats of a pair in one order; there is one of each")
    within = float((k * p * (1 - p)).sum()) / df
    top = list(found)[-1]
    rest = found[top].variance - within * float((1 / k).mean())
    return {**found, top: Component(found[top].df, found[top].ms, rest), (*top, REPEAT): Component(df, within, within)}
