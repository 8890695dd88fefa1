"""The material of swapref: types of answers, the judge's own answers, swaps, and sentences that give an answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd

from analysis.cells import OVERALL
from experiments import single
from experiments.pipeline import Tables
from experiments.swapref import Settings, Swap, swaps
from experiments.swapref.persons import Visits, visits
from experiments.workshop import Workshop
from judges import prompts
from judges.answering import Answerer, Written
from judges.construction import Claim, Typer, Writer, fault
from judges.entity_types import by_rule
from judges.prompts import Prompt, fill
from judges.records import Item, UserError

SIDES = ("original", "swapped")
_KINDS = get_args(Swap)


def prompts_used(settings: Settings) -> list[tuple[str, str]]:
    """The templates, as method and name."""
    names = [
        *([] if settings.typer == "rules" else ["entity_type"]),
        "plain" if settings.writer == "template" else "sentence",
    ]
    return [("answering", "belief"), *(("construction", name) for name in names)]


def entity_types(settings: Settings, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question: the type of its primary answer, from the data set, from rules or from the typer."""
    items = single.sampled(workshop, tables)
    untyped = [Claim(i, i.answers[0]) for i in items.values() if i.answers and not i.entity_type]
    typed = dict(zip([c.item.id for c in untyped], _typed(settings, workshop, untyped), strict=True))
    found = [typed.get(i.id, Written(i.entity_type)) for i in items.values()]
    return _rows(items.values(), found).rename(columns={"text": "entity_type"})


def beliefs(settings: Settings, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question: what the judge answers without any help."""
    items = single.sampled(workshop, tables)
    player = workshop.only("judge")
    prompt = _prompt(settings, "answering", "belief")
    step = Answerer(player.spec, prompt, "belief", player.model.thinking, player.model.max_tokens)
    answered = workshop.ask(step, items.values())
    return _rows(items.values(), [a.result for a in answered]).rename(columns={"text": "belief"})


def swap(settings: Settings, lenders: Sequence[Item], workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question and swap: the answer that takes the place of the right one, and the item it was taken from."""
    sampled = single.sampled(workshop, tables)
    items = [i for i in sampled.values() if i.answers]
    if without := [name for name, item in sampled.items() if not item.answers]:
        workshop.note(f"swap: {len(without)} of {len(sampled)} items have no accepted answer: {without[0]}, ...")
    types = dict(zip(tables["entity_type"]["item"], tables["entity_type"]["entity_type"], strict=True))
    if settings.typer == "rules":
        lenders = [i if i.entity_type or not i.answers else _by_rule(i) for i in lenders]
    lent = swaps.pool(items, lenders, types)
    made = []
    for kind in settings.swap:
        found = _swapped(settings, kind, items, types, lent, tables)
        _tell(workshop, kind, found, len(items))
        made.append(found.assign(swap=kind, outcome=np.where(found["reason"] == "", "ok", "excluded")))
    table = pd.concat(made, ignore_index=True)
    told = {i.id: i for i in items}
    table = table.assign(
        question=[told[str(item)].question for item in table["item"]],
        original=[told[str(item)].answers[0] for item in table["item"]],
    )
    return table[["item", "question", "original", "swap", "swapped", "taken_from", "outcome", "reason"]]


def candidates(settings: Settings, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """Two rows a swap: a sentence that gives the original answer and one that gives the swapped one, checked."""
    items = single.sampled(workshop, tables)
    table = _sides(swapped(workshop, tables["swap"], items))
    entities = [items[i].answers[0] if side == "original" else swapped for i, side, swapped in _each(table)]
    claims = [Claim(items[item], entity) for item, entity in zip(table["item"], entities, strict=True)]
    written = _write(settings, workshop, claims)
    faults = [_fault(items[i], side, swapped, w) for (i, side, swapped), w in zip(_each(table), written, strict=True)]
    outcomes = [
        "unreadable" if reason and w.outcome == "ok" else w.outcome for w, reason in zip(written, faults, strict=True)
    ]
    return table[["item", "swap", "side"]].assign(
        entity=entities, text=[w.text for w in written], outcome=outcomes, reason=faults
    )


def swapped(workshop: Workshop, table: pd.DataFrame, items: Mapping[str, Item]) -> pd.DataFrame:
    """The table of swaps, which a person may have edited, without those of items that can't be swapped.

    Raises:
        UserError: a swap has a name that metrics can't go by, or no swapped answer.
    """
    table = single.of_sample("swap", workshop, table, {name: item for name, item in items.items() if item.answers})
    if (wrong := table["swap"].str.contains("/") | (table["swap"] == OVERALL)).any():
        raise UserError(f"the table of stage swap has a swap called {table.loc[wrong, 'swap'].iloc[0]!r}: rename it")
    if (lacking := table["swapped"].str.strip() == "").any():
        item, kind = table.loc[lacking, ["item", "swap"]].iloc[0]
        raise UserError(f"the table of stage swap has no swapped answer for item {item}, swap {kind}: delete the row")
    return table


def _typed(settings: Settings, workshop: Workshop, claims: Sequence[Claim]) -> list[Written]:
    if not claims:
        return []
    if not (typers := workshop.players("typer")):
        return [Written(_by_rule(claim.item).entity_type) for claim in claims]
    (typer,) = typers
    step = Typer(typer.spec, _prompt(settings, "construction", "entity_type"), typer.model.thinking)
    return [a.result for a in workshop.ask(step, claims)]


def _by_rule(item: Item) -> Item:
    return replace(item, entity_type=by_rule(item.question, item.answers[0]))


def _swapped(
    settings: Settings, kind: Swap, items: Sequence[Item], types: Mapping[str, str], lent: swaps.Pool, tables: Tables
) -> pd.DataFrame:
    """One kind of swap. Each draws from a generator of its own, so that no kind depends on which others are made."""
    rng = np.random.default_rng([settings.seed, _KINDS.index(kind)])
    if kind == "evaluator_knowledge":
        return swaps.by_belief(items, dict(zip(tables["beliefs"]["item"], tables["beliefs"]["belief"], strict=True)))
    if kind.startswith("popularity"):
        return _by_popularity([i for i in items if types.get(i.id) == swaps.PERSON], kind, visits(settings), rng)
    return swaps.by_type(items, types, lent, rng, preserve=kind == "type_preserving")


def _by_popularity(items: Sequence[Item], kind: str, known: Visits, rng: np.random.Generator) -> pd.DataFrame:
    """One of the most or the least visited persons, named in the item's language."""
    parts = []
    for language in sorted({i.language for i in items}):
        most, least = swaps.extremes(known.get(language, {}))
        own = [i for i in items if i.language == language]
        parts.append(swaps.by_name(own, most if kind == "popularity_high" else least, rng))
    return swaps.ordered(parts, items)


def _tell(workshop: Workshop, kind: str, found: pd.DataFrame, items: int) -> None:
    """Which items a swap leaves out, and why."""
    excluded = found.loc[found["reason"] != ""]
    if len(excluded):
        reasons = ", ".join(f"{reason} ({n})" for reason, n in excluded["reason"].value_counts().items())
        workshop.note(
            f"swap {kind}: {len(excluded)} of {len(found)} items left out, {reasons}: {_some(excluded['item'])}"
        )
    if kind == "evaluator_knowledge":
        workshop.note(f"swap {kind}: {len(found)} of {items} items, where the judge's own answer is another")
    elif kind.startswith("popularity"):
        workshop.note(f"swap {kind}: {len(found)} of {items} items, whose answer is a person")


def _sides(table: pd.DataFrame) -> pd.DataFrame:
    return table.loc[table.index.repeat(len(SIDES))].assign(side=list(SIDES) * len(table)).reset_index(drop=True)


def _each(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(zip(table["item"], table["side"], table["swapped"], strict=True))


def _write(settings: Settings, workshop: Workshop, claims: Sequence[Claim]) -> list[Written]:
    writers = workshop.players("writer")
    prompt = _prompt(settings, "construction", "sentence" if writers else "plain")
    if not writers:
        return [Written(fill(prompt.instruction, {"answer": claim.answer})) for claim in claims]
    (writer,) = writers
    step = Writer(writer.spec, prompt, writer.model.thinking)
    return [a.result for a in workshop.ask(step, claims)]


def _fault(item: Item, side: str, swapped: str, written: Written) -> str:
    if written.outcome != "ok":
        return written.reason
    own, other = (item.answers, (swapped,)) if side == "original" else ((swapped,), item.answers)
    return fault(written.text, own, other)


def _prompt(settings: Settings, method: str, name: str) -> Prompt:
    return prompts.load(method, name, settings.prompt.path)


def _rows(items: Iterable[Item], written: Sequence[Written]) -> pd.DataFrame:
    items = list(items)
    return pd.DataFrame(
        {
            "item": [i.id for i in items],
            "question": [i.question for i in items],
            "answer": [i.answers[0] if i.answers else "" for i in items],
            "text": [w.text for w in written],
            "outcome": [w.outcome for w in written],
            "reason": [w.reason for w in written],
        }
    )


def _some(ids: "pd.Series[str]", shown: int = 5) -> str:
    more = f" and {len(ids) - shown} more (all are in the table of stage swap)" if len(ids) > shown else ""
    return ", ".join(ids.iloc[:shown]) + more
