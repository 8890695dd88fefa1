"""Cards as pages: one judge alone, or several side by side; puts records into tables and fills the template."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.report import Cell, Grid, grid, render
from analysis.symbols import glossary
from analysis.tables import DASH
from analysis.tables import cell as shown
from experiments.card_numbers import READING
from experiments.card_record import Card, Cost, Number
from experiments.card_topics import TOPICS

ROWS = "rows"
"""The column that leads to the verdicts."""
NONE = "not tested"
KINDS = ("html", "json")
TITLES: Mapping[str, str] = {topic.name: topic.title for topic in TOPICS} | {
    READING: "How many of its replies hold no verdict?"
}


def alone(card: Card, stem: str) -> str:
    """The page of one judge; `stem` names its JSON file."""
    sections = [(topic, TITLES[topic], _topic(topic, card)) for topic in TITLES]
    there = [section for section in sections if section[2].rows]
    return render(
        "card.html",
        title=f"Judge card: {card.judge}",
        lead=_lead(card),
        facts=_facts(card),
        sections=there,
        words=glossary(dict.fromkeys(n.metric for n in card.numbers)),
        costs=_costs(card.costs) if card.costs else None,
        untested=_untested(card),
        limits=card.limits,
        runs=_runs(card),
        files=[(f"{stem}.json", "this card as JSON")],
        footer=_footer(card),
    )


def together(cards: Mapping[str, Card]) -> str:
    """The page of several judges side by side, by the stems of their own files."""
    sections = [(topic, TITLES[topic], _beside(topic, list(cards.values()))) for topic in TITLES]
    return render(
        "card.html",
        title=f"Judge cards: {', '.join(card.judge for card in cards.values())}",
        lead="The same numbers of several judges side by side. Each comes from that judge's own runs: where the items "
        "differ, so do the questions; python -m experiments.report compares judges pair by pair on shared items.",
        facts=[],
        sections=[section for section in sections if section[2].rows],
        words=glossary(dict.fromkeys(n.metric for card in cards.values() for n in card.numbers)),
        costs=_costs_beside(list(cards.values())),
        untested=_untested_beside(list(cards.values())),
        limits=(),
        runs=None,
        files=[
            (f"{stem}.{kind}", f"{card.judge}, {kind}") for stem, card in cards.items() for kind in ("html", "json")
        ],
        footer=_footer(next(iter(cards.values()))),
    )


def _lead(card: Card) -> str:
    data: dict[str, list[str]] = {}
    for run in card.runs:
        data.setdefault(run.study, []).append(run.data)
    tested = "; ".join(f"{study} on {', '.join(dict.fromkeys(names))}" for study, names in data.items())
    lacking = list(dict.fromkeys(gap.study for gap in card.not_tested if gap.study not in data))
    return f"Tested: {tested}. " + (f"Not tested: {', '.join(lacking)}." if lacking else "Every study has a run.")


def _facts(card: Card) -> list[tuple[str, str]]:
    models = dict.fromkeys(f"{r.model}{f', revision {r.revision}' if r.revision else ''}" for r in card.runs if r.model)
    dates = sorted(r.date for r in card.runs if r.date)
    found = [
        ("family", card.family),
        ("model", "; ".join(models)),
        ("engine", "; ".join(dict.fromkeys(e for r in card.runs for e in r.engine))),
        ("tested", f"{dates[0]} to {dates[-1]}" if dates else "on no recorded day"),
        ("verdicts", f"{sum(r.verdicts for r in card.runs):,} in {len(card.runs)} runs"),
    ]
    return [(name, value) for name, value in found if value]


def _topic(topic: str, card: Card) -> Grid:
    """One row a cell and slice, one column a metric."""
    found = [number for number in card.numbers if number.topic == topic]
    browsers = {run.rows: run.browser for run in card.runs if run.browser}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number in found:
        row = rows.setdefault(_key(number), _told(number))
        row[number.metric] = shown(*_ends(number))
        row.setdefault("n", []).append(f"{number.n:,}")
        row |= {"unreadable": _share(number), "date": number.date or DASH}
        row |= {"engine": ", ".join(number.engine) or DASH, ROWS: browsers.get(number.rows, number.rows)}
    metrics = list(dict.fromkeys(number.metric for number in found))
    told = [row | {"n": ", ".join(row["n"] if len(set(row["n"])) > 1 else row["n"][:1])} for row in rows.values()]
    table = _arranged(told, list(dict.fromkeys([*metrics, "n", "unreadable", "date", ROWS, "engine"])))
    if topic == READING and len(table):
        table = table.assign(unreadable=[shown(*_ends(number)) for number in found])
    return _linked(table, topic, ", ".join(metrics))


def _beside(topic: str, cards: Sequence[Card]) -> Grid:
    """One row a number, one column a judge."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for card in cards:
        for number in (number for number in card.numbers if number.topic == topic):
            row = rows.setdefault((*_key(number, itself=card.judge), number.metric), _told(number, itself=card.judge))
            text = shown(*_ends(number)) + f" (n {number.n:,})" if number.value is not None else "undefined"
            row |= {"metric": number.metric, card.judge: text}
    table = _arranged(list(rows.values()), ["metric", *(card.judge for card in cards)])
    metrics = dict.fromkeys(n.metric for card in cards for n in card.numbers if n.topic == topic)
    return grid(table.where(table.notna(), NONE), topic, ", ".join(metrics), unfolded=True, most=2000)


def _key(number: Number, itself: str = "") -> tuple[Any, ...]:
    return (number.study, number.data, number.slice, *sorted(_setting(number, itself).items(), key=str))


def _told(number: Number, itself: str = "") -> dict[str, Any]:
    return {"study": number.study, "data": number.data, **_setting(number, itself), "slice": number.slice}


def _setting(number: Number, itself: str) -> dict[str, Any]:
    """The factors; whose generator is the judge itself has that in common with other such judges."""
    return {k: "its own model" if itself and v == itself and k == "generator" else v for k, v in number.setting.items()}


def _arranged(rows: Sequence[Mapping[str, Any]], last: Sequence[str]) -> pd.DataFrame:
    """Settings that tell rows apart, then the other columns, whether any row has them or not."""
    table = pd.DataFrame(rows).astype(object)
    if table.empty:
        return table
    keys = [str(c) for c in table if c not in last]
    kept = [c for c in keys if c == "data" or table[c].nunique(dropna=False) > 1]
    table[keys] = table[keys].where(table[keys].notna(), DASH)
    return table.reindex(columns=[*kept, *last]).astype(object)


def _linked(table: pd.DataFrame, name: str, caption: str) -> Grid:
    """A table whose column `rows` holds addresses, as links."""
    made = grid(table, name, caption, most=2000, unfolded=True)
    if ROWS not in made.columns:
        return made
    at = made.columns.index(ROWS)
    links = (tuple(Cell("verdicts", link=c.text) if i == at else c for i, c in enumerate(cells)) for cells in made.rows)
    return replace(made, rows=tuple(links))


def _costs(costs: Sequence[Cost]) -> Grid:
    rows = [{"study": cost.study, "data": cost.data, **_each(cost)} for cost in costs]
    return grid(pd.DataFrame(rows), "costs", "What one verdict takes", unfolded=True)


def _each(cost: Cost) -> dict[str, Any]:
    usd = cost.each(cost.usd)
    return {
        "verdicts": cost.verdicts,
        "calls each": _number(cost.each(cost.calls)),
        "prompt tokens each": _number(cost.each(cost.prompt_tokens)),
        "of them cached": _number(cost.each(cost.cached_tokens)),
        "tokens written each": _number(cost.each(cost.completion_tokens)),
        "dollars per 1,000": "no price" if usd is None else f"{1000 * usd:.2f}",
        "prices of": cost.priced or DASH,
    }


def _costs_beside(cards: Sequence[Card]) -> Grid | None:
    rows = [{"judge": card.judge, "study": c.study, "data": c.data, **_each(c)} for card in cards for c in card.costs]
    return grid(pd.DataFrame(rows), "costs", "What one verdict takes", unfolded=True, most=2000) if rows else None


def _untested(card: Card) -> Grid:
    rows = [
        {
            "question": TITLES.get(g.topic, g.topic),
            "numbers": g.what,
            "why there are none": g.why,
            "command": g.command or DASH,
        }
        for g in card.not_tested
    ]
    return grid(pd.DataFrame(rows), "untested", "What was not tested, and what would test it", unfolded=True)


def _untested_beside(cards: Sequence[Card]) -> Grid:
    """One row a question, one column a judge: what it lacks."""
    rows: dict[str, dict[str, str]] = {}
    for card in cards:
        for gap in card.not_tested:
            row = rows.setdefault(gap.topic, {"question": TITLES.get(gap.topic, gap.topic)})
            row[card.judge] = f"{row[card.judge]}; {gap.what}" if card.judge in row else f"not tested: {gap.what}"
    table = pd.DataFrame(list(rows.values()), columns=["question", *(card.judge for card in cards)])
    return grid(table.where(table.notna(), "tested"), "untested", "What was not tested", unfolded=True)


def _runs(card: Card) -> Grid:
    rows = [
        {
            "study": run.study,
            "data": run.data,
            "date": run.date or DASH,
            ROWS: run.browser or run.rows,
            "verdicts": run.verdicts,
            "outcomes": ", ".join(f"{n:,} {name}" for name, n in run.outcomes.items()),
            "engine": ", ".join(run.engine) or DASH,
            "made by": run.command or "not recorded",
        }
        for run in card.runs
    ]
    return _linked(pd.DataFrame(rows), "runs", "The runs behind this card")


def _footer(card: Card) -> str:
    how = card.intervals
    ends = (
        f"{how.level:.0%} intervals: {how.method}, {how.replicates:,} replicates" if how.replicates else "No intervals"
    )
    rules = ", ".join(f"{study} {rule}" for study, rule in card.rules.items())
    return f"Made by {card.software} from verdicts and manifests alone. {ends}. Replies without a verdict: {rules}."


def _ends(number: Number) -> tuple[float, float, float]:
    low, high = (float("nan") if end is None else end for end in (number.ci_low, number.ci_high))
    return (float("nan") if number.value is None else number.value, low, high)


def _share(number: Number) -> str:
    return DASH if number.unreadable is None else f"{number.unreadable:.3f}"


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"
