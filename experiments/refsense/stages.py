"""The stages of refsense: questions, answers to them, other items' answers, verdicts with and without a reference."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from experiments import single
from experiments.pipeline import Stage, Tables
from experiments.refsense import Settings, labels
from experiments.refsense.others import others
from experiments.workshop import Workshop
from judges import prompts
from judges.answering import Answerer
from judges.pointwise import FORMATS, TEMPERATURE, Layout, Single, Way, way
from judges.records import Item, UserError

_SETTINGS: Mapping[str, tuple[Layout, str]] = {
    "NR": ("none", "answers"),
    "RV": ("before", "answers"),
    "RVP": ("after", "answers"),
    "RC": ("before", "compare"),
    "RCP": ("after", "compare"),
}
"""Where the reference stands, and what the verdict is to rest on."""


def stages(settings: Settings, lenders: Sequence[Item] = ()) -> list[Stage]:
    """What refsense is made of; other items' answers only where the judge is calibrated.

    Args:
        settings: of the study.
        lenders: items of the whole data set, whose answers calibrate where the sample has no other of a category.
    """
    answers = Stage(
        "answers", "an answer of a generator", partial(answer, settings),
        needs=("sample",), columns=("item", "generator", "generator_family", "answer"),
        key=("item", "generator"), role="generator",
    )  # fmt: skip
    dealt = Stage(
        "others", "another item's answer", partial(deal, settings, lenders),
        needs=("sample",), columns=("item", "other"), key=("item",),
    )  # fmt: skip
    calibrated = ("others",) if settings.calibration else ()
    people = None if settings.labels is None else labels.read(settings.labels)  # Faults show before a call is made.
    judge = Stage(
        "judge", "a verdict", partial(verdicts, settings, people),
        needs=("answers", "sample", *calibrated), role="judge", final=True,
    )  # fmt: skip
    return [single.SAMPLE, answers, *([dealt] if calibrated else []), judge]


def ways(settings: Settings) -> dict[str, Way]:
    """How the judge is asked, by setting and format: `RC/json`."""
    asked = {*settings.reference, *(("NR",) if settings.calibration else ())}
    found = {}
    for setting, form in product(_SETTINGS, settings.format):
        if setting in asked:
            (layout, basis), (written, samples) = _SETTINGS[setting], FORMATS[form]
            found[f"{setting}/{form}"] = way(
                "refsense", setting, layout, basis, written,
                idk=settings.idk, samples=samples, folder=settings.prompt.path,
            )  # fmt: skip
    return found


def prompts_of(settings: Settings) -> dict[str, str]:
    """sha256 of every template, for the manifest."""
    judging = {f"refsense/{name}": found.prompt.sha256 for name, found in ways(settings).items()}
    return judging | {"answering/answer": prompts.load("answering", "answer", settings.prompt.path).sha256}


def answer(settings: Settings, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question and generator. An empty answer is an answer, too."""
    items = list(single.sampled(workshop, tables).values())
    prompt = prompts.load("answering", "answer", settings.prompt.path)
    made = []
    for player in workshop.players("generator"):
        step = Answerer(player.spec, prompt, "answer", player.model.thinking, player.model.max_tokens)
        written = [a.result for a in workshop.ask(step, items)]
        if cut := sum(w.outcome == "ok" and w.reason != "" for w in written):
            workshop.note(
                f"answers: {cut} of {len(written)} by {player.model.name} were cut off, and are graded as they stand"
            )
        told = {
            "item": [i.id for i in items],
            "question": [i.question for i in items],
            "generator": player.model.name,
            "generator_family": player.model.family,
            "answer": [w.text for w in written],
            "outcome": [w.outcome for w in written],
            "reason": [w.reason for w in written],
        }
        made.append(pd.DataFrame(told))
    return pd.concat(made, ignore_index=True)


def deal(settings: Settings, lenders: Sequence[Item], workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question: the answer of another one, which can't pass for the right one."""
    items = [i for i in single.sampled(workshop, tables).values() if i.answers]
    table = others(items, lenders, np.random.default_rng(settings.seed))
    lacking = table["reason"] != ""
    if lacking.any():
        which = ", ".join(table.loc[lacking, "item"].head(5))
        workshop.note(f"others: {lacking.sum()} of {len(table)} items have no other answer and are left out: {which}")
    if away := int((~table["same_category"] & ~lacking).sum()):
        workshop.note(f"others: {away} of {len(table)} items get an answer of another category than their own")
    return table.assign(outcome=np.where(lacking, "excluded", "ok"))


def verdicts(settings: Settings, people: pd.DataFrame | None, workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a graded answer: right and other answers without a reference, then each generator's in every setting."""
    items = single.sampled(workshop, tables)
    answers = single.of_sample("answers", workshop, tables["answers"], items)
    trials = [*_calibration(settings, items, tables), *_sensitivity(settings, workshop, items, answers)]
    if not trials:
        raise UserError("there is nothing to judge: no question of the sample has an answer")
    if people is not None and (unused := labels.unused(people, answers)):
        workshop.note(f"labels: {unused} of {len(people)} go with no answer that is judged here")
    player = workshop.only("judge")
    step = single.judge(player, ways(settings), seed=settings.seed, logprobs=settings.logprobs)
    table = single.verdicts(settings.study, player, trials, workshop.ask(step, trials))
    families = dict(zip(answers["generator"], answers["generator_family"], strict=True))
    empty = np.array([not t.answer.strip() for t in trials], dtype=bool)
    table = table.assign(
        generator_family=table["generator"].map(families).fillna(""),
        answer_empty=empty,
        invented=empty & table["extracted"].fillna("").str.strip().ne(""),
    )
    _tell_of_empty(workshop, table)
    return table.assign(human=None, human_2=None) if people is None else labels.join(table, people)


def _calibration(settings: Settings, items: Mapping[str, Item], tables: Tables) -> Iterator[Single]:
    if not settings.calibration:
        return
    dealt = dict(zip(tables["others"]["item"], tables["others"]["other"], strict=True))
    for item in items.values():
        shown = {"right": item.answers[0] if item.answers else "", "other": dealt.get(item.id, "")}
        for (candidate, answer), form in product(shown.items(), settings.format):
            if answer:
                truth = "CORRECT" if candidate == "right" else "INCORRECT"
                yield _single(settings, item, truth, "NR", form, answer, candidate=candidate)


def _sensitivity(
    settings: Settings, workshop: Workshop, items: Mapping[str, Item], answers: pd.DataFrame
) -> Iterator[Single]:
    without = [i.id for i in items.values() if not i.answers]
    if without and set(settings.reference) - {"NR"}:
        some = ", ".join(without[:5])
        workshop.note(f"judge: {len(without)} items have no reference and are left out of all settings but NR: {some}")
    for item, generator, text in zip(answers["item"], answers["generator"], answers["answer"], strict=True):
        for setting, form in product(settings.reference, settings.format):
            if items[item].answers or setting == "NR":
                yield _single(settings, items[item], None, setting, form, text, generator=generator)


def _single(
    settings: Settings, item: Item, truth: str | None, setting: str, form: str, answer: str, **factors: str
) -> Single:
    trial = single.trial(
        item,
        truth,
        format=f"{form}_idk" if settings.idk else form,
        reference=setting,
        temperature=TEMPERATURE if FORMATS[form][1] > 1 else 0.0,
        constrained=settings.constrained,
        **factors,
    )
    shown = "" if setting == "NR" else item.answers[0]
    return Single(trial, answer, shown, f"{setting}/{form}")


def _tell_of_empty(workshop: Workshop, table: pd.DataFrame) -> None:
    empty, invented = int(table["answer_empty"].sum()), int(table["invented"].sum())
    if empty:
        workshop.note(
            f"judge: {empty} of {len(table)} verdicts are on an empty answer; in {invented} of them the judge "
            "extracted an answer that is not there, which counts as unreadable"
        )
