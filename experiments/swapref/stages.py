"""The stages of swapref: questions, types of their answers, swaps, sentences that give them, verdicts."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from experiments import single
from experiments.pipeline import Stage, Tables
from experiments.swapref import Settings, material
from experiments.workshop import Workshop
from judges import prompts
from judges.pointwise import SAMPLES, TEMPERATURE, Single, Way, way
from judges.records import Item, UserError

_STRATEGIES: Mapping[str, tuple[str, str, int]] = {
    "standard": ("reference", "word", 1),
    "direct": ("only_reference", "word", 1),
    "cot": ("reference", "cot", 1),
    "self_consistency": ("reference", "word", SAMPLES),
    "cot_self_consistency": ("reference", "cot", SAMPLES),
}
"""From a strategy to what the verdict is to rest on, what is written, and how often it is asked."""
TRUTH = {True: "CORRECT", False: "INCORRECT"}


def stages(settings: Settings, lenders: Sequence[Item] = ()) -> list[Stage]:
    """What swapref is made of; the judge's own answers only where a swap takes them.

    Args:
        settings: of the study.
        lenders: items of the whole data set, whose answers may be swapped in where it says of what type they are.
    """
    types = Stage(
        "entity_type", "the type of an answer", partial(material.entity_types, settings),
        needs=("sample",), columns=("item", "entity_type"), key=("item",), role="typer",
    )  # fmt: skip
    beliefs = Stage(
        "beliefs", "the judge's own answer", partial(material.beliefs, settings),
        needs=("sample",), columns=("item", "belief"), key=("item",), role="judge",
    )  # fmt: skip
    believed = ("beliefs",) if "evaluator_knowledge" in settings.swap else ()
    swap = Stage(
        "swap", "a swapped answer", partial(material.swap, settings, lenders),
        needs=("entity_type", "sample", *believed), columns=("item", "swap", "swapped"),
        key=("item", "swap"), role="judge",
    )  # fmt: skip
    candidates = Stage(
        "candidates", "a sentence that gives an answer", partial(material.candidates, settings),
        needs=("swap", "sample"), columns=("item", "swap", "side", "entity", "text"),
        key=("item", "swap", "side"), role="writer",
    )  # fmt: skip
    judge = Stage(
        "judge", "a verdict", partial(verdicts, settings),
        needs=("candidates", "swap", "sample"), role="judge", final=True,
    )  # fmt: skip
    return [single.SAMPLE, types, *([beliefs] if believed else []), swap, candidates, judge]


def ways(settings: Settings) -> dict[str, Way]:
    """How the judge is asked, by strategy."""
    asked = {name: _STRATEGIES[name] for name in settings.format}
    return {
        name: way("swapref", name, "before", basis, form, samples=samples, folder=settings.prompt.path)
        for name, (basis, form, samples) in asked.items()
    }


def prompts_of(settings: Settings) -> dict[str, str]:
    """sha256 of every template, for the manifest."""
    judging = {f"swapref/{name}": found.prompt.sha256 for name, found in ways(settings).items()}
    return judging | {
        f"{method}/{name}": prompts.load(method, name, settings.prompt.path).sha256
        for method, name in material.prompts_used(settings)
    }


def verdicts(settings: Settings, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a triplet and strategy: references and candidates of both sides, crossed."""
    items = single.sampled(workshop, tables)
    sides = material.SIDES
    swaps = material.swapped(workshop, tables["swap"], items)
    pairs = swaps.merge(_sentences(tables["candidates"], swaps, items), on=["item", "swap"]).to_dict("records")
    if lacking := len(swaps) - len(pairs):
        workshop.note(f"judge: {lacking} of {len(swaps)} swaps lack a sentence for one of their answers")
    if not pairs:
        raise UserError("there is nothing to judge: no swap with a sentence for each of its answers is left")
    trials = [
        _triplet(settings, items[pair["item"]], pair, strategy, reference, candidate)
        for pair in pairs
        for strategy, reference, candidate in product(settings.format, sides, sides)
    ]
    player = workshop.only("judge")
    step = single.judge(player, ways(settings), seed=settings.seed, logprobs=settings.logprobs)
    table = single.verdicts(settings.study, player, trials, workshop.ask(step, trials))
    judged = [t.trial.item for t in trials]
    return table.assign(
        freshness=[i.source if i.dataset == "freshqa" else "" for i in judged],
        popularity=pd.Series([i.popularity for i in judged], dtype="float64"),
    )


def _sentences(table: pd.DataFrame, swaps: pd.DataFrame, items: Mapping[str, Item]) -> pd.DataFrame:
    """The sentences of both sides of each swap that has both, one row a swap.

    Raises:
        UserError: a row is of neither side, or gives another answer than the table of swaps says.
    """
    if (neither := ~table["side"].isin(material.SIDES)).any():
        raise UserError(
            f"the table of stage candidates has the side {table.loc[neither, 'side'].iloc[0]!r}; it is one of "
            f"{', '.join(material.SIDES)}"
        )
    known = table.merge(swaps[["item", "swap", "swapped"]], on=["item", "swap"])
    own = [items[item].answers[0] for item in known["item"]]
    due = known["swapped"].where(known["side"] == "swapped", own)
    if (other := known["entity"] != due).any():
        first = known[other].iloc[0]
        raise UserError(
            f"the tables of stages swap and candidates don't belong together: for item {first['item']}, swap "
            f"{first['swap']}, side {first['side']}, the one has {due[other].iloc[0]!r}, the other a sentence on "
            f"{first['entity']!r}. Run stage=candidates on the table of swaps that is in the run folder"
        )
    told = known[known["text"].str.strip() != ""]
    wide = told.pivot(index=["item", "swap"], columns="side", values="text").reindex(columns=material.SIDES)
    return wide.dropna().add_prefix("says_").reset_index()


def _triplet(
    settings: Settings, item: Item, pair: Mapping[Hashable, Any], strategy: str, reference: str, candidate: str
) -> Single:
    trial = single.trial(
        item,
        TRUTH[reference == candidate],
        format=strategy,
        reference=reference,
        candidate=candidate,
        swap=pair["swap"],
        temperature=TEMPERATURE if _STRATEGIES[strategy][2] > 1 else 0.0,
        constrained=settings.constrained,
    )
    return Single(
        trial, pair[f"says_{candidate}"], item.answers[0] if reference == "original" else pair["swapped"], strategy
    )
