"""Expected beside sampled: the audit that log-probabilities predict, and the one that repeated calls gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis import expected, pairs, reliability, repeats
from analysis.bootstrap import Array, Interval
from analysis.cells import TIDY, estimate, told
from analysis.columns import TableError
from analysis.confidence import ABSENT, LOGPROBS, first_rows, probabilities
from analysis.policies import only
from analysis.repeats import TIE
from analysis.verdicts import CELL, ORDERS, WINNERS

ONE_TOKEN = ("", "direct")
"""Formats whose verdict is one token, so that one position tells its distribution; empty: none was recorded."""
EXPECTED, SAMPLED = "expected", "sampled"
COSTS = ("calls_saved", "calls_saved_all", "mass_left_out")
SETTING = tuple(c for c in CELL if c != "temperature")
"""What one pass serves: the log-probabilities of all temperatures are those of temperature 1."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Pairs of one cell whose label probabilities are known in both orders."""

    key: dict[str, Any]
    chances: Array
    """(pairs, orders, labels), at temperature 1; the third, a tie, is there only if a verdict or gold label is."""
    gold: Array
    """(pairs,)"""
    mass: float
    repeats: int
    calls: int
    """Sampled calls on these pairs."""
    calls_all: int
    """The same over all temperatures, which one pass serves."""
    missing: int
    """Pairs of the cell without probabilities in both orders."""


def expected_audit(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    interval: Interval = "percentile",
    at: Sequence[tuple[float, int]] = (),
) -> pd.DataFrame:
    """Expected and sampled C, phi, A, T and T_joint of every cell of a one-token format.

    The probabilities of a pair in one order are those of the first row that recorded them, whatever its temperature.

    Args:
        table: a verdict table on pairs with `p_first`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples behind the sampled audit's intervals.
        interval: `percentile` or `bca`.
        at: further (temperature, repeats) to predict, sampled or not.

    Returns:
        Tidy metrics (`analysis.cells.TIDY`). Slice `expected`: the interval says where a sampled audit of these very
        pairs will lie; calls_saved = 1 - passes / sampled calls of the cell, calls_saved_all: of all temperatures, as
        one pass serves them; mass_left_out = what the labels do not capture, of which the closed form says nothing.
        Slice `sampled`: interval over pairs. Further settings have slices such as `expected K=5`.

    Raises:
        TableError: no cell of a one-token format has log-probabilities in both orders.
    """
    cells = _with_all_calls(list(_cells(table)))
    rows = [row for cell in cells if not pd.isna(cell.key["temperature"]) for row in _rows(cell)]
    settings = {_setting(cell): cell for cell in cells}
    for temperature, k in at:
        rows += [row for cell in settings.values() for row in _further(cell, temperature, k)]
    if not rows:
        raise TableError(
            "no cell of a format in one token (direct) has a temperature and log-probabilities in both orders; "
            f"{LOGPROBS} records them (the few likeliest tokens of an API do only where both labels are among them)"
        )
    units = repeats.items(table)
    design = only(reliability.design(units), expected.NUMBERS)
    sampled = estimate(design, rng=rng, replicates=replicates, interval=interval).assign(slice=SAMPLED)
    predicted = pd.DataFrame(rows)[list(TIDY)]
    keys = predicted[list(CELL)].drop_duplicates()
    beside = sampled[sampled["metric"].isin(expected.NUMBERS)].merge(keys, on=list(CELL))
    return pd.concat([predicted, beside], ignore_index=True)


def side_by_side(metrics: pd.DataFrame) -> pd.DataFrame:
    """Expected beside sampled numbers, one row a cell and number.

    Args:
        metrics: tidy metrics with the slices `expected` and `sampled`.

    Returns:
        The columns of the cell that differ, metric, expected, low, high (where a sampled audit of these pairs will
        lie), sampled, ci_low, ci_high, difference = sampled - expected, inside (does the sampled number lie from low
        to high?), calls_saved, calls_saved_all, mass_left_out, n and note.

    Raises:
        TableError: there is no expected audit among the metrics.
    """
    predicted = metrics[metrics["slice"].str.startswith(EXPECTED)]
    if predicted.empty:
        raise TableError(f"no log-probabilities of one-token verdicts in both orders; {LOGPROBS} records them")
    whole = predicted.pivot_table(index=[*CELL, "slice"], columns="metric", values="value", dropna=False, sort=False)
    costs = whole[[*COSTS]].dropna(how="all").reset_index()
    chosen = predicted[predicted["metric"].isin(expected.NUMBERS)]
    named = chosen.rename(columns={"value": "expected", "ci_low": "low", "ci_high": "high"})
    there = metrics.loc[metrics["slice"] == SAMPLED, [*CELL, "metric", "value", "ci_low", "ci_high"]]
    there = there.rename(columns={"value": "sampled"}).assign(slice=EXPECTED)
    both = named.drop(columns=["share_unreadable"]).merge(there, on=[*CELL, "slice", "metric"], how="left")
    both = both.merge(costs, on=[*CELL, "slice"], how="left")
    both["difference"] = both["sampled"] - both["expected"]
    inside = (both["sampled"] >= both["low"] - 1e-9) & (both["sampled"] <= both["high"] + 1e-9)
    both["inside"] = np.where(both[["sampled", "low"]].isna().any(axis=1), "", np.where(inside, "yes", "no"))
    numbers = ["expected", "low", "high", "sampled", "ci_low", "ci_high", "difference", "inside"]
    return told(both, ["metric", *numbers, *COSTS, "n", "note"])


def _rows(cell: Sampled, slice: str = EXPECTED) -> Iterator[dict[str, object]]:
    found = expected.indications(cell.chances, cell.gold, float(cell.key["temperature"]), cell.repeats)
    value, ends = expected.audit(found), expected.sampling_interval(found)
    why = "pairs without the log-probabilities of both labels in both orders left out"
    lacking = f"; {cell.missing:,} {why}" if cell.missing else ""
    shared = cell.key | {"slice": slice, "n": len(cell.gold), "share_unreadable": 0.0}
    for name in expected.NUMBERS:
        low, high = ends[name]
        note = f"K = {cell.repeats}{lacking}" if value[name] == value[name] else _undefined(name)
        yield shared | {"metric": name, "value": value[name], "ci_low": low, "ci_high": high, "note": note}
    passes = len(cell.gold) * len(ORDERS)
    saved = {"calls_saved": 1 - passes / cell.calls, "calls_saved_all": 1 - passes / cell.calls_all}
    costs = saved | {"mass_left_out": 1 - cell.mass}
    for name, cost in costs.items():
        yield shared | {"metric": name, "value": cost, "ci_low": np.nan, "ci_high": np.nan, "note": ""}


def _further(cell: Sampled, temperature: float, k: int) -> Iterator[dict[str, object]]:
    key = cell.key | {"temperature": temperature}
    calls = len(cell.gold) * len(ORDERS) * k
    other = replace(cell, key=key, repeats=k, calls=calls, calls_all=calls)
    return _rows(other, f"{EXPECTED} K={k}")


def _with_all_calls(cells: list[Sampled]) -> list[Sampled]:
    calls: Counter[tuple[Any, ...]] = Counter()
    for cell in cells:
        calls[_setting(cell)] += cell.calls
    return [replace(cell, calls_all=calls[_setting(cell)]) for cell in cells]


def _setting(cell: Sampled) -> tuple[Any, ...]:
    return tuple(cell.key[c] for c in SETTING)


def _undefined(name: str) -> str:
    return "undefined: needs two repeats" + ("" if name in ("C",) else " and a gold label")


def _cells(table: pd.DataFrame) -> Iterator[Sampled]:
    found = pairs.pairs(table, beside=("p_first", "p_tie", "label_mass"))
    units, chances = found.units, probabilities(found.beside)
    setting = units.groupby([*SETTING, "item"], dropna=False, sort=False).ngroup().to_numpy()
    place = setting[found.unit] * len(ORDERS) + found.order
    first = first_rows(place, ~np.isnan(chances[:, 0]), (setting.max() + 1) * len(ORDERS)).reshape(-1, len(ORDERS))
    asked = np.bincount(found.unit * len(ORDERS) + found.order, minlength=2 * len(units)).reshape(-1, len(ORDERS))
    mass = found.beside["label_mass"].to_numpy(dtype=float)
    known = (first[setting] != ABSENT).all(axis=1) & (asked > 0).all(axis=1)
    usable = known & units["format"].isin(ONE_TOKEN).to_numpy()
    for at in units.groupby(list(CELL), dropna=False, sort=True).indices.values():
        rows = at[usable[at]]
        if len(rows):
            seen = first[setting[rows]]
            ties = (chances[seen][:, :, 2] > 0).any() or (found.gold[rows] == TIE).any()
            labels = len(WINNERS) if ties else len(WINNERS) - 1
            key = units.iloc[rows[0]][list(CELL)].to_dict()
            yield Sampled(
                key,
                chances[seen][:, :, :labels],
                found.gold[rows],
                float(np.nanmean(mass[seen])) if (~np.isnan(mass[seen])).any() else np.nan,
                int(asked[rows].max()),
                int(asked[rows].sum()),
                int(asked[rows].sum()),
                len(at) - len(rows),
            )
