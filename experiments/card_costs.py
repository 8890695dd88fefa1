"""What a judge's verdicts took, in calls, tokens and money, and how many of them can't be read."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.bootstrap import Array, bootstrap
from analysis.cells import OVERALL, clusters, ratio
from analysis.study import Options
from analysis.verdicts import READABLE
from experiments.card_record import Cost
from experiments.runs import Run
from judges.engines import Price

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens")


def cost(run: Run, judge: str) -> Cost:
    """Totals of a judge's rows; a call behind several of them counts once."""
    rows = run.verdicts[run.verdicts["judge"] == judge]
    asked = rows[(rows["requests"] == "") | ~rows["requests"].duplicated()]
    keys = asked["requests"].str.split().explode().dropna()
    totals = {name: _sum(asked[name]) for name in TOKENS}
    price = _price(run, judge)
    usd = None
    if price and totals["prompt_tokens"] is not None and totals["completion_tokens"] is not None:
        usd = price.of(totals["prompt_tokens"], totals["cached_tokens"] or 0, totals["completion_tokens"])
    seconds = _sum(asked["seconds"])
    return Cost(
        study=run.study,
        data=run.data,
        verdicts=len(rows),
        calls=int(keys.nunique()),
        seconds=None if seconds is None else round(seconds, 3),
        usd=None if usd is None else round(usd, 6),
        priced=price.as_of if price and usd is not None else None,
        **{name: None if total is None else int(total) for name, total in totals.items()},
    )


def unread(rows: pd.DataFrame, options: Options) -> dict[str, Any]:
    """Share of a judge's rows without a verdict, as a row of tidy metrics."""
    lost = (~rows["outcome"].isin(READABLE)).to_numpy(dtype=float)
    group, groups = pd.factorize(clusters(rows), sort=True)
    sums = np.column_stack([np.bincount(group, w, len(groups)) for w in (lost, np.ones(len(rows)))]).astype(np.float64)

    def share(s: Array) -> Array:
        return ratio(s[:1], s[1:])

    found = bootstrap(share, sums, rng=options.rng, replicates=options.replicates, interval=options.interval)
    ends = {"value": found.value[0], "ci_low": found.low[0], "ci_high": found.high[0]}
    return {"metric": "unreadable", "slice": OVERALL, "n": len(rows), "share_unreadable": found.value[0], **ends}


def _sum(column: "pd.Series[Any]") -> float | None:
    known = column.dropna()
    return float(known.sum()) if len(known) else None


def _price(run: Run, judge: str) -> Price | None:
    settings = run.manifest.get("settings", {})
    models = [*(settings.get("judges") or ()), settings.get("model") or {}]
    told = next((m["price"] for m in models if m.get("name") == judge and m.get("price")), None)
    return Price(**told) if told else None
