"""What a reader should know before believing a study's numbers, found from its verdicts alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.verdicts import CELL, READABLE

UNREADABLE = 0.05
TRUNCATED = 0.02
LABEL_MASS = 0.9
IMBALANCE = 0.6
"""Share of the commoner gold answer."""
FEW_REPEATS = 5
FEW_GROUPS = 30
"""Groups below which a bootstrap's intervals are too short."""
SAMPLED = {"trust", "confidence"}
"""Studies whose metrics need repeats."""


@dataclass(frozen=True)
class Caveat:
    """Something that limits what the numbers say, and where it was found."""

    kind: str
    """A word for it, such as `single_order`; equal kinds are one caveat."""
    says: str
    where: tuple[str, ...] = ()
    """The runs or cells that it is about; empty: all of them."""


Check = Callable[[pd.DataFrame], Iterator[Caveat]]


def of_verdicts(rows: pd.DataFrame) -> list[Caveat]:
    """What a study's verdict table shows (see `analysis.verdicts`)."""
    return [caveat for check in CHECKS for caveat in check(rows)]


def single_order(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Pairs shown in one order alone."""
    found = _pairs(rows).groupby(["judge", "dataset"])["order"].nunique()
    if where := _where(found[found < 2]):
        yield Caveat(
            "single_order",
            "Asked in one order alone: accuracy there contains the judge's preference for a position.",
            where,
        )


def few_repeats(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells of a study of repeats that have hardly any."""
    part = _pairs(rows[rows["study"].isin(SAMPLED)])
    part = part[(part["study"] == "trust") | (part["temperature"] > 0)]
    found = part.groupby(list(CELL), dropna=False)["repeat"].nunique().groupby(["judge", "dataset"]).min()
    if where := _where(found[found < FEW_REPEATS], "{:.0f}"):
        yield Caveat(
            "few_repeats",
            f"Fewer than {FEW_REPEATS} repeats: C is measured coarsely, and with one repeat not at all.",
            where,
        )


def partial_cells(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells that lack verdicts which the others of their judge and data set have."""
    part = _pairs(rows)
    if part.empty:
        return
    cells = part.groupby(list(CELL), dropna=False)
    sizes = cells.agg(rows=("item", "size"), orders=("order", "nunique"), repeats=("repeat", "nunique"))
    items = part.groupby(["dataset", "method"])["item"].nunique()
    whole = items.reindex(pd.MultiIndex.from_frame(sizes.index.to_frame()[["dataset", "method"]])).to_numpy()
    share = sizes["rows"] / (sizes["orders"] * sizes["repeats"] * whole)
    if where := _where(share[share < 1], "{:.0%} there"):
        yield Caveat("partial_cells", "Cells lack verdicts on items, orders or repeats that others have.", where)


def unreadable(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells in which many replies hold no verdict."""
    found = _share(rows, ~rows["outcome"].isin(READABLE))
    if where := _where(found[found > UNREADABLE], "{:.1%}"):
        yield Caveat(
            "unreadable",
            f"More than {UNREADABLE:.0%} of the replies hold no verdict: what is left is a selection. The table of "
            "policies says what the others could change.",
            where,
        )


def truncated(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells in which many replies were cut off."""
    found = _share(rows, rows["outcome"] == "truncated")
    if where := _where(found[found > TRUNCATED], "{:.1%}"):
        yield Caveat(
            "truncated",
            f"More than {TRUNCATED:.0%} of the replies were cut off at the longest length allowed; a higher limit may "
            "give other numbers.",
            where,
        )


def failed(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells with calls that failed and will be asked again."""
    found = _share(rows, rows["outcome"] == "error")
    if where := _where(found[found > 0], "{:.1%}"):
        yield Caveat("errors", "Calls failed; the same command asks them again.", where)


def label_mass(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Cells whose labels captured little of the probability."""
    part = rows[rows["label_mass"].notna()]
    found = part["label_mass"].astype(float).groupby([part[c] for c in CELL], dropna=False).mean()
    if where := _where(found[found < LABEL_MASS], "{:.2f}"):
        yield Caveat(
            "label_mass",
            f"The labels captured less than {LABEL_MASS} of the probability: what log-probabilities say leaves out the "
            "rest.",
            where,
        )


def gold_imbalance(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Data sets of pairs whose right answer is mostly the same one."""
    items = _pairs(rows).drop_duplicates(["dataset", "item"])
    items = items[items["gold"].isin(["A", "B"])]
    first = (items["gold"] == "A").astype(float).groupby(items["dataset"]).mean()
    found = (first - 0.5).abs() + 0.5
    if where := _where(found[found > IMBALANCE], "{:.0%}"):
        yield Caveat(
            "gold_imbalance", "The right answer is mostly the same one: who always names it looks able.", where
        )


def few_groups(rows: pd.DataFrame) -> Iterator[Caveat]:
    """Data sets that are too small for a bootstrap."""
    names = rows["group"].where(rows["group"] != "", rows["item"])
    found = names.groupby(rows["dataset"]).nunique()
    if where := _where(found[found < FEW_GROUPS], "{:.0f}"):
        yield Caveat(
            "few_groups", f"Fewer than {FEW_GROUPS} independent groups of items: intervals are too short.", where
        )


CHECKS: tuple[Check, ...] = (
    *(single_order, few_repeats, partial_cells, unreadable, truncated, failed, label_mass, gold_imbalance, few_groups),
)


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on pairs: of single answers there is one order."""
    return rows[rows["winner"].notna() | rows["gold"].isin(["A", "B", "tie"])]


def _share(rows: pd.DataFrame, which: "pd.Series[bool]") -> "pd.Series[float]":
    return which.astype(float).groupby([rows[c] for c in CELL], dropna=False).mean()


def _where(found: "pd.Series[Any]", form: str = "") -> tuple[str, ...]:
    """The cells of an index in words, with their numbers; what is the same in all cells is left out."""
    if found.empty:
        return ()
    keys = found.index.to_frame(index=False)
    told = [c for c in keys if c in ("judge", "dataset") or keys[c].nunique(dropna=False) > 1]
    told = [c for c in told if c != "study"]
    names = [
        ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in key if v != "") for key in keys[told].to_numpy()
    ]
    return tuple(f"{n} ({form.format(v)})" if form else n for n, v in zip(names, found, strict=True))
