"""What a judge's irreproducibility is made of: 1 - C = sampling + serving."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis import repeats
from analysis.bootstrap import Array, Interval, bootstrap
from analysis.cells import clusters, ratio
from analysis.columns import TableError
from analysis.serving import ANY, requests
from analysis.verdicts import CELL, ORDERS

PLACE = ("judge", "dataset", "item", "order", "format")
PARTS = ("1-C", "sampling", "serving")
COLUMNS = ("part", "value", "ci_low", "ci_high", "n", "note")


def decomposed(
    sampled: pd.DataFrame,
    served: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Splits 1 - C of every sampled cell into what serving alone changes and the rest, which sampling does.

    Serving is the share of places (a pair in one order) whose greedy verdict differs under any condition of serving
    from the verdict of the request alone: as 1 - C does, it counts a place once however often its verdict changes. Both
    are taken over the places that both tables have, and resampled together. In a cell of temperature 0 nothing is
    sampled, and all of 1 - C is serving. The parts are of one design only if the serving conditions are those that the
    repeats met; more conditions find more noise, and sampling may come out below 0.

    Of four places one has repeats that disagree and another a verdict that changes with the batch: 1 - C = 1/4,
    serving = 1/4, sampling = 0.

    Args:
        sampled: a verdict table on pairs with repeats.
        served: a table of served requests, see `analysis.serving.COLUMNS`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        interval: `percentile` or `bca`.

    Returns:
        Three rows a cell: its columns, then `COLUMNS`; n counts places.

    Raises:
        TableError: a table is faulty, or they share no place.
    """
    units = repeats.items(sampled)
    sides = [units.assign(order=o, steady=units[f"N_{o}"]) for o in ORDERS]
    places = pd.concat(sides).dropna(subset="steady").assign(cluster=lambda t: clusters(t))
    noise = requests(served)
    noise = noise.loc[noise["condition"] == ANY, [*PLACE, "verdict_differs"]].dropna(subset="verdict_differs")
    shared = places.merge(noise, on=list(PLACE), how="inner")
    if shared.empty:
        raise TableError(
            "the two tables share no pair with two readable repeats, judged by the same judge in the same order and "
            "format; serve the requests of the audit"
        )
    rows = []
    for _, at in shared.groupby(list(CELL), dropna=False, sort=True).indices.items():
        rows += _cell(shared.iloc[at], rng, replicates, interval)
    return pd.DataFrame(rows)[[*CELL, *COLUMNS]]


def _cell(
    places: pd.DataFrame, rng: np.random.Generator, replicates: int, interval: Interval
) -> list[dict[str, object]]:
    key = {c: places[c].iloc[0] for c in CELL}
    greedy = key["temperature"] == 0
    group, groups = pd.factorize(places["cluster"], sort=True)
    terms = np.column_stack([1 - places["steady"], places["verdict_differs"], np.ones(len(places))]).astype(float)
    sums = np.zeros((len(groups), 3))
    np.add.at(sums, group, terms)

    def statistic(s: Array) -> Array:
        unsteady, served = ratio(s[0], s[2]), ratio(s[1], s[2])
        serving = unsteady if greedy else served
        return np.stack([unsteady, unsteady - serving, serving])

    found = bootstrap(statistic, sums, rng=rng, replicates=replicates, interval=interval)
    note = "temperature 0: nothing is sampled" if greedy else ""
    shared = key | {"n": len(places), "note": note}
    numbers = zip(PARTS, found.value, found.low, found.high, strict=True)
    return [shared | {"part": part, "value": v, "ci_low": low, "ci_high": high} for part, v, low, high in numbers]
