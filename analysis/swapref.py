"""Does a judge follow the reference that it is given, even where that is not the right answer? (study `swapref`)

Source: 000_65c668a7267fc0e4.txt, section 3.3. The triplets of an item are read in `analysis.swapref_items`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Interval
from analysis.cells import OVERALL, TIDY, Design, Metric, Sums, estimate, ratio
from analysis.swapref_items import PAIRINGS, Unreadable, items, popularity_third
from analysis.verdicts import CELL

SWAPS = ("type_preserving", "type_changing", "popularity_high", "popularity_low", "evaluator_knowledge")
FRESHNESS = ("never-changing", "slow-changing", "fast-changing")
COUNT = "n"
"""The metric that counts a swap's items."""


def swapref(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "wrong",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Accuracy under the original and the swapped reference, and the gap between them, with intervals.

    - accuracy_oo, accuracy_os, accuracy_so, accuracy_ss: share of right verdicts, reference first, candidate second.
    - ACC_o = (accuracy_oo + accuracy_os) / 2, ACC_s = (accuracy_so + accuracy_ss) / 2.
    - RPAG = ACC_o - ACC_s: 0 for a judge that follows every reference.
    - ACC_o_worst and the like hold if every unreadable verdict were wrong, ACC_o_best if it were right; RPAG_worst
      is the largest gap that the unreadable verdicts allow, RPAG_best the smallest.
    - n: items under a swap, whatever became of their verdicts; in the slice `popularity` under either of its swaps.

    A judge that never believes a swapped reference: 1, 1, 0, 0; ACC_o = 1, ACC_s = 0, RPAG = 1.

    All are means over the items that have all four triplets, so that the gap compares the same items; `note` says how
    many have not. Slices are the swaps, and their strata: `type_preserving/never-changing` by freshness, and
    `type_preserving/popularity-1of3` (least) to `popularity-3of3` by thirds of the data set's items. `overall` is
    over all items and swaps.

    Args:
        table: a verdict table, see `analysis.swapref_items.items`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        unreadable: `wrong`, as in the source, or `drop`.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`).

    Raises:
        TableError: the table is faulty, or its rows are no such triplets.
    """
    units = items(table, unreadable=unreadable)
    found = estimate(_design(units), rng=rng, replicates=replicates, interval=interval)
    return pd.concat([found, _counts(units)], ignore_index=True)


def design(table: pd.DataFrame, *, unreadable: Unreadable = "wrong") -> Design:
    """Items under a swap, and what each adds to the sums behind the metrics.

    Raises:
        TableError: the table is faulty, or its rows are no such triplets.
    """
    return _design(items(table, unreadable=unreadable))


def in_order(names: Iterable[str], known: Sequence[str] = SWAPS) -> list[str]:
    """The known names in their own order, then the others by the alphabet."""
    places = {name: i for i, name in enumerate(known)}
    return sorted(names, key=lambda name: (places.get(name, len(known)), name))


def _design(units: pd.DataFrame) -> Design:
    judged = units[[f"worst_{p}" for p in PAIRINGS]].notna().all(axis=1).to_numpy()
    complete = units[list(PAIRINGS)].notna().all(axis=1).to_numpy()
    terms = {"items": np.ones(len(units)), "judged": judged.astype(float), "complete": complete.astype(float)}
    for prefix, whole in (("", complete), ("worst_", judged), ("best_", judged)):
        terms |= {f"{prefix}{p}": np.where(whole, units[f"{prefix}{p}"], 0.0) for p in PAIRINGS}
    terms |= {name: units[name].to_numpy(dtype=float) for name in ("verdicts", "unreadable")}
    return Design(units, terms, METRICS, _slices(units))


def _slices(units: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """The whole, the swaps, and the strata of those data sets that have two or more."""
    swaps = in_order(units["swap"].unique())
    masks = {OVERALL: np.ones(len(units), dtype=bool)}
    masks |= {swap: (units["swap"] == swap).to_numpy(dtype=bool) for swap in swaps}
    for strata in (units["freshness"], popularity_third(units)):
        several = strata.mask(strata == "").groupby(units["dataset"]).transform("nunique") > 1
        for swap, name in product(swaps, in_order(set(strata[several]) - {""}, FRESHNESS)):
            masks[f"{swap}/{name}"] = masks[swap] & (several & (strata == name)).to_numpy(dtype=bool)
    return masks


def _counts(units: pd.DataFrame) -> pd.DataFrame:
    """Items under each swap, and under either of the popularity swaps; they have no interval."""
    both = units[units["swap"].str.startswith("popularity_")].assign(swap="popularity")
    counted = pd.concat([units, both]).groupby([*CELL, "swap"], dropna=False, sort=True)
    found = counted.agg(n=("item", "nunique"), verdicts=("verdicts", "sum"), unreadable=("unreadable", "sum"))
    rows = found.reset_index().rename(columns={"swap": "slice"})
    share = rows["unreadable"] / rows["verdicts"]
    rows = rows.assign(metric=COUNT, value=rows["n"].astype(float), share_unreadable=share, note="")
    return rows.assign(ci_low=np.nan, ci_high=np.nan)[list(TIDY)]


def accuracy(s: Sums, side: str, case: str = "", of: str = "complete") -> Array:
    """ACC under the original (`o`) or the swapped (`s`) reference: the mean of its two pairings."""
    return ratio(s[f"{case}{side}o"] + s[f"{case}{side}s"], 2 * s[of])


def _pairing(pairing: str) -> Metric:
    return Metric(f"accuracy_{pairing}", lambda s: ratio(s[pairing], s["complete"]), "complete", "items", _ALL_FOUR)


def _at_the_ends(end: str, other: str) -> tuple[Metric, ...]:
    """ACC_o, ACC_s and RPAG, had all verdicts been readable and as bad, or as good, as they can be."""
    sides = {side: f"ACC_{side}_{end}" for side in "os"}
    gap = f"RPAG_{end}"
    return (
        Metric(sides["o"], lambda s: accuracy(s, "o", f"{end}_", "judged"), "judged", "items", _ALL_FOUR),
        Metric(sides["s"], lambda s: accuracy(s, "s", f"{end}_", "judged"), "judged", "items", _ALL_FOUR),
        Metric(
            gap,
            lambda s: accuracy(s, "o", f"{other}_", "judged") - accuracy(s, "s", f"{end}_", "judged"),
            *("judged", "items", _ALL_FOUR),
        ),
    )


_ALL_FOUR = "needs an item with a verdict on each of its four triplets"

METRICS: tuple[Metric, ...] = (
    *map(_pairing, PAIRINGS),
    Metric("ACC_o", lambda s: accuracy(s, "o"), "complete", "items", _ALL_FOUR),
    Metric("ACC_s", lambda s: accuracy(s, "s"), "complete", "items", _ALL_FOUR),
    Metric("RPAG", lambda s: accuracy(s, "o") - accuracy(s, "s"), "complete", "items", _ALL_FOUR),
    *_at_the_ends("worst", "best"),
    *_at_the_ends("best", "worst"),
)
