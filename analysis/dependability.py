"""How dependable a score would be under another design, and the cheapest design that reaches a target (D-study)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.bootstrap import Array
from analysis.cells import ratio
from analysis.columns import TableError
from analysis.generalizability import REPEAT, Response, g_study
from analysis.verdicts import CELL

Object = Literal["pair", "judge"]
"""What is to be told apart: pairs by which of their answers is the better, or judges by how often they are right."""
MOST: Mapping[str, int] = {"order": 2, REPEAT: 10, "format": 10, "judge": 20, "pair": 2000}
"""The largest number of each facet that a design may have; there are no more than two orders."""
OBJECTS: Mapping[Object, Response] = {"pair": "A", "judge": "correct"}
"""By which response each object is told apart."""
TARGETS = (0.7, 0.8, 0.9, 0.95)


def dependability(components: Mapping[str, float], of: str, numbers: Mapping[str, Array | int]) -> Array:
    """Phi coefficient of the mean over a crossed design: object variance / (object + absolute error variance).

    The error is the sum of all other components, each divided by the numbers of its facets, the object's left out.
    Components pair 0.2, order 0.02, pair x order 0.06, with 2 orders: 0.2 / (0.2 + 0.01 + 0.03) = 0.833.

    Args:
        components: variances by name, `pair x order`; negative ones count as 0.
        of: the object of measurement, one of the facets.
        numbers: how many of each other facet are averaged; arrays broadcast. Absent: 1.

    Raises:
        TableError: no component is that of the object.
    """
    if of not in components:
        raise TableError(f"there is no component {of!r}, as there is but one {of}; there are {', '.join(components)}")
    error: Array = np.asarray(0.0)
    for name, variance in components.items():
        facets = [f for f in name.split(" x ") if f != of]
        if facets:
            error = error + max(variance, 0.0) / np.prod(
                np.broadcast_arrays(*(numbers.get(f, 1) for f in facets)), axis=0
            )
    own = max(components[of], 0.0)
    return ratio(np.broadcast_to(own, np.shape(error)), own + error)


def designs(components: Mapping[str, float], of: Object, most: Mapping[str, int] = MOST) -> pd.DataFrame:
    """Every design up to `most`, one row each: the number of each facet, dependability, and calls for one object."""
    facets = sorted({f for name in components for f in name.split(" x ")} - {of})
    grid = np.meshgrid(*(np.arange(1, most[f] + 1) for f in facets), indexing="ij")
    numbers = {f: g.ravel() for f, g in zip(facets, grid, strict=True)}
    reached = dependability(components, of, numbers)
    return pd.DataFrame({**numbers, "dependability": reached, "calls": np.prod(list(numbers.values()), axis=0)})


def d_study(units: pd.DataFrame, *, targets: Sequence[float] = TARGETS, complete_only: bool = False) -> pd.DataFrame:
    """The cheapest designs that reach target dependabilities, for telling pairs apart and for telling judges apart.

    Pairs are told apart by verdicts for answer A, judges by correct ones. Where pairs have repeats, their mean is
    the score, else the one verdict is. Of equally cheap designs the most dependable is shown. As in the source,
    orders are random: averaging over both halves the order's components, although there are no others.

    Args:
        units: one row a pair in a cell, from `analysis.repeats.items`.
        targets: phi coefficients.
        complete_only: see `analysis.variance.g_study`.

    Returns:
        For every data set and setting of the other factors: what is told apart, target, the number of each facet,
        dependability, calls (for one pair, or one judge) and a note.

    Raises:
        TableError: as `analysis.variance.g_study`.
    """
    repeated = (units[["readable_AB", "readable_BA"]] > 1).any(axis=None)
    rows = []
    for of, response in OBJECTS.items():
        found = g_study(
            units, response=response, verdicts="each" if repeated else "majority", complete_only=complete_only
        )
        keys = [c for c in CELL if c in found]
        setting: tuple[Any, ...]
        for setting, part in found.groupby(keys, dropna=False, sort=True):
            variances = dict(zip(part["component"], part["truncated"], strict=True))
            if of in variances:
                told: dict[str, Any] = dict(zip(keys, setting, strict=True))
                rows.append(_cheapest(variances, of, targets).assign(of=of, **told))
    table = pd.concat(rows, ignore_index=True)
    numbers = [f for f in MOST if f in table]
    return table[[*keys, "of", "target", *numbers, "dependability", "calls", "note"]]


def _cheapest(variances: Mapping[str, float], of: Object, targets: Sequence[float]) -> pd.DataFrame:
    every = designs(variances, of).sort_values(["calls", "dependability"], ascending=[True, False], kind="stable")
    rows = []
    nothing = f"no variance between {of}s was found" if variances[of] == 0 else ""
    for target in targets:
        enough = every[every["dependability"] >= target]
        best = enough if len(enough) else every.nlargest(1, "dependability")
        note = "" if len(enough) else nothing or "not reached: the most dependable design is shown"
        rows.append({"target": target, **best.iloc[0].to_dict(), "note": note})
    return pd.DataFrame(rows).convert_dtypes()
