"""Where a metric varies from over judges, data sets and formats: analysis of variance over the cells of an audit.

Source: 004_e1840bb43771aeee.txt, the part on temperature and variance sources (appendix C.1 of the paper).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.cells import OVERALL, settings, told
from analysis.columns import TableError
from analysis.crossed import NAMED, Crossed, cross, label, squares


def anova(metrics: pd.DataFrame, metric: str = "T", *, complete_only: bool = False) -> pd.DataFrame:
    """Shares of the variance of a metric over cells: T ~ judge * dataset + format and all two-way terms.

    eta2 = SS / SS_total, in closed form on the balanced design; with one number a cell, the three-way interaction
    is the residual. A facet that has one level is left out of the model.

    Args:
        metrics: tidy metrics (`analysis.cells.TIDY`).
        metric: the one to analyse.
        complete_only: leave out levels until the design is complete, see `analysis.crossed.cross`.

    Returns:
        For every setting of the other factors, one row a term, the residual and the total: the factors that differ
        between settings, then term df ss ms eta2 note.

    Raises:
        TableError: the metric is undefined in a cell, cells are missing, or fewer than two facets have two levels.
    """
    chosen = metrics[(metrics["metric"] == metric) & (metrics["slice"] == OVERALL)]
    if chosen.empty:
        raise TableError(f"there is no metric {metric!r}; there are {', '.join(sorted(set(metrics['metric'])))}")
    undefined = chosen["value"].isna()
    if undefined.any() and not complete_only:
        raise TableError(_undefined(metric, chosen[undefined]))
    facets = ("judge", "dataset", "format")
    cells = chosen.assign(response=chosen["value"], weight=1)
    rows = []
    for setting, part in settings(cells, facets):
        design = cross(
            part, varied(part, facets, f"an analysis of the variance of {metric}"), complete_only=complete_only
        )
        rows.append(_anova_rows(design).assign(**setting))
    return told(pd.concat(rows, ignore_index=True), ["term", "df", "ss", "ms", "eta2", "note"])


def varied(part: pd.DataFrame, facets: Sequence[str], purpose: str) -> list[str]:
    """The facets that have two levels or more.

    Raises:
        TableError: fewer than two do.
    """
    several = [f for f in facets if part[f].nunique(dropna=False) > 1]
    if len(several) < 2:
        raise TableError(
            f"{purpose} needs two facets with two levels or more among {', '.join(facets)}; "
            f"{', '.join(f'{f} {part[f].iloc[0]}' for f in facets if f not in several)} is all there is"
        )
    return several


def described(design: Crossed) -> str:
    """The sizes of a design, and what had to be left out: the note beside its numbers."""
    sizes = ", ".join(f"{len(of):,} of {f}" for f, of in design.levels.items())
    gone = {f: [str(level) for facet, level in design.left_out if facet == f] for f in design.levels}
    named = [f"{f} {', '.join(of)}" if len(of) <= NAMED else f"{len(of):,} of {f}" for f, of in gone.items() if of]
    return sizes + (f"; left out: {'; '.join(named)}" if named else "")


def _undefined(metric: str, cells: pd.DataFrame) -> str:
    named = [" ".join(map(str, row)) for row in cells[["judge", "dataset", "format"]].head(NAMED).to_numpy()]
    more = f" and {len(cells) - NAMED:,} more" if len(cells) > NAMED else ""
    return f"{metric} is undefined in {len(cells):,} cells, {', '.join(named)}{more} ({cells['note'].iloc[0]})"


def _anova_rows(design: Crossed) -> pd.DataFrame:
    found = squares(design.values, list(design.levels))
    ss, df = [of.ss for of in found.values()], [of.df for of in found.values()]
    terms = [label(source) for source in found]
    terms[-1] = f"residual ({terms[-1]})"
    table = pd.DataFrame({"term": [*terms, "total"], "df": [*df, sum(df)], "ss": [*ss, sum(ss)]})
    eta2 = table["ss"] / sum(ss) if sum(ss) > 0 else np.nan
    return table.assign(ms=table["ss"] / table["df"], eta2=eta2, note=described(design))
