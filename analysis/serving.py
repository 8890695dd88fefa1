"""Noise of serving: what the same greedy requests say alone, in batches, shuffled, resumed (study `serving`).

One row of its table is one pair in one order and format under one condition, held against the condition `alone`. It
knows nothing of engines.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.bootstrap import Interval
from analysis.cells import TIDY, Design, Metric, estimate, ratio
from analysis.columns import Column, TableError, rows_where, typed
from analysis.verdicts import CELL, ORDERS, OUTCOMES, READABLE, WINNERS

REFERENCE = "alone"
ANY = "any"
"""Stands for all conditions together: does a request differ under any of them?"""
COLUMNS: tuple[Column, ...] = (
    Column("study", "text", "name of the study", required=True, identifies=True),
    Column("judge", "text", "name of the judge", required=True, identifies=True),
    Column("dataset", "text", "name of the data set", required=True, identifies=True),
    Column("item", "text", "id of the item", required=True, identifies=True),
    Column("group", "text", "items that a bootstrap resamples together; empty: the item stands alone", neutral=""),
    Column("order", "text", "which answer was shown first", required=True, identifies=True, values=ORDERS),
    Column("format", "text", "output format asked for", neutral=""),
    Column("condition", "text", "how the request was served; `alone` is the reference", required=True, identifies=True),
    Column("batch", "count", "requests served together"),
    Column("winner", "text", "A, B, tie, or null when there is no verdict", required=True, values=WINNERS),
    Column("outcome", "text", "what became of the call", required=True, identifies=True, values=OUTCOMES),
    Column("text_sha", "text", "hash of the text", required=True),
    Column("tokens", "count", "tokens written"),
    Column("first_difference", "number", "position of the first token that differs; -1: none, null: not comparable"),
    Column("differing_tokens", "count", "tokens that differ from the reference, position by position"),
    Column("max_logprob_difference", "number", "largest difference of a token's log-probability, in nats"),
)
KEY = ("study", "judge", "dataset", "item", "order", "format")
"""A request; each condition serves it once."""


def check_serving(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the table with every column present and typed.

    Raises:
        TableError: a required column is missing, a cell has the wrong type, a request was served twice under one
            condition, or none under the reference.
    """
    missing = [c.name for c in COLUMNS if c.required and c.name not in table]
    if missing:
        raise TableError(f"the table of served requests has no column {', '.join(map(repr, missing))}")
    checked = pd.DataFrame({c.name: typed(table, c) for c in COLUMNS})
    again = checked.duplicated([*KEY, "condition"], keep=False)
    if again.any():
        raise TableError(f"a request was served twice under one condition: {rows_where(again)}; keep one of them")
    if not (checked["condition"] == REFERENCE).any():
        raise TableError(f"no row has the condition {REFERENCE!r}, which all others are held against")
    return checked


def requests(table: pd.DataFrame, *, unreadable: str = "drop") -> pd.DataFrame:
    """Every request under every condition but the reference, with what differs from it, one row each.

    Args:
        table: of served requests, see `COLUMNS`.
        unreadable: `drop`, the only rule: no verdict is one of its own here, as the question is what changed.

    Returns:
        The columns of the table and of the cell, then verdict_differs and text_differs (null where the request was not
        served under the reference), differing and written (tokens, null where they were not compared). Further rows
        have the condition `any`: does the request differ, and was it unreadable, under any condition?
    """
    checked = check_serving(table)
    reference = checked.loc[checked["condition"] == REFERENCE, [*KEY, "winner", "text_sha"]]
    others = checked[checked["condition"] != REFERENCE]
    both = others.merge(reference, on=list(KEY), how="left", suffixes=("", "_alone"))
    there = both["text_sha_alone"].notna()
    verdict = both["winner"].fillna("") != both["winner_alone"].fillna("")
    differing = both["differing_tokens"].to_numpy(dtype=float, na_value=np.nan)
    told = both[[c.name for c in COLUMNS]].assign(
        verdict_differs=verdict.astype(float).where(there),
        text_differs=(both["text_sha"] != both["text_sha_alone"]).astype(float).where(there),
        differing=differing,
        written=np.where(np.isnan(differing), np.nan, both["tokens"].to_numpy(dtype=float, na_value=np.nan)),
    )
    flags = ["verdict_differs", "text_differs", "unread"]
    unread = told.assign(unread=~told["outcome"].isin(READABLE))
    worst = unread.groupby([*KEY, "group"], sort=False)[flags].max().reset_index()
    outcome = np.where(worst.pop("unread").astype(bool), "unreadable", "ok")
    found = pd.concat([told, worst.assign(condition=ANY, outcome=outcome)], ignore_index=True)
    neutral = {"temperature": 0.0, "constrained": False}
    return found.assign(**{c: neutral.get(c, "") for c in CELL if c not in found})


def serving(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: str = "drop",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """How much of what a judge says depends on how it was served, by condition, with intervals.

    - verdict_difference, text_difference: share of requests whose verdict, or text, is not that of the reference.
    - token_difference: tokens that differ / tokens written.
    - max_logprob_difference: the largest of all requests; first_difference: median position among texts that differ.
      Neither has an interval.

    Args:
        table: of served requests, see `COLUMNS`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        unreadable: `drop`, the only rule.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`); the slice is the condition, or `any`: the request differs under any
        of them. n counts requests.

    Raises:
        TableError: the table is faulty, or has no condition but the reference.
    """
    units = requests(table)
    if units.empty:
        raise TableError(f"there is no condition but {REFERENCE!r}: nothing to hold against it")
    rates = estimate(design(units), rng=rng, replicates=replicates, interval=interval)
    rates = rates[(rates["slice"] != ANY) | (rates["metric"] != "token_difference")]
    return pd.concat([rates, _extremes(units)], ignore_index=True)


def design(units: pd.DataFrame) -> Design:
    """The requests, as `requests` gives them, and what each adds to the sums behind the metrics."""
    terms = {name: units[name].to_numpy(dtype=float) for name in ("verdict_differs", "text_differs", "written")}
    sums = {name: np.nan_to_num(x) for name, x in terms.items()}
    sums |= {f"{name}_n": (~np.isnan(x)).astype(float) for name, x in terms.items()}
    sums |= {"differing": np.nan_to_num(units["differing"].to_numpy(dtype=float)), "verdicts": np.ones(len(units))}
    sums |= {"unreadable": (~units["outcome"].isin(READABLE)).to_numpy(dtype=float)}
    slices = {str(c): (units["condition"] == c).to_numpy() for c in units["condition"].unique()}
    return Design(units, sums, METRICS, slices)


def _extremes(units: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of a log-probability and the median first difference, by cell and condition."""
    apart = units["first_difference"].where(units["first_difference"] >= 0)
    known = units.assign(apart=apart)[units["condition"] != ANY]
    groups = known.groupby([*CELL, "condition"], sort=True)
    found = {
        "max_logprob_difference": (groups["max_logprob_difference"].agg(["max", "count"]), "log-probabilities"),
        "first_difference": (groups["apart"].agg(["median", "count"]), "a text that differs"),
    }
    parts = [
        numbers.set_axis(["value", "n"], axis=1).reset_index().assign(metric=name, needs=needs)
        for name, (numbers, needs) in found.items()
    ]
    table = pd.concat(parts).rename(columns={"condition": "slice"})
    note = np.where(table["value"].isna(), "undefined: needs " + table["needs"], "")
    return table.assign(ci_low=np.nan, ci_high=np.nan, share_unreadable=0.0, note=note)[list(TIDY)]


_ALONE = f"needs requests that were also served under {REFERENCE!r}"
METRICS: tuple[Metric, ...] = (
    Metric(
        "verdict_difference",
        lambda s: ratio(s["verdict_differs"], s["verdict_differs_n"]),
        "verdict_differs_n",
        "verdicts",
        _ALONE,
    ),
    Metric(
        "text_difference", lambda s: ratio(s["text_differs"], s["text_differs_n"]), "text_differs_n", "verdicts", _ALONE
    ),
    Metric(
        "token_difference",
        lambda s: ratio(s["differing"], s["written"]),
        "written_n",
        "verdicts",
        "needs the tokens of both texts",
    ),
)
