"""serving: do the same greedy requests get the same verdicts however they are served? (studies.md, confidence)"""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from experiments.conditions import CONDITIONS, Condition, ConditionName, engine_for, why_not
from experiments.settings import PairwiseSettings, as_list

if TYPE_CHECKING:
    from experiments.roster import Player
    from judges.ask import Answered, Step
    from judges.engines import OnDemand
    from judges.records import Request, Trial, Verdict
    from judges.store import Store


class Settings(PairwiseSettings):
    """Greedy calls, each made anew under every condition."""

    conditions: Annotated[tuple[ConditionName, ...], BeforeValidator(as_list), Field(min_length=1)] = tuple(CONDITIONS)
    """`alone` is made whether it is named or not: all others are held against it."""
    length: PositiveInt = 64
    """Tokens of a reply at most: noise grows along a reply, and so do the minutes that calls made alone take."""
    logprobs: bool = True

    @model_validator(mode="after")
    def _nothing_is_drawn(self) -> "Settings":
        if any(self.temperature) or self.repeats > 1:
            raise ValueError(
                "serving noise is what greedy calls show: leave temperature at 0 and repeats at 1 "
                "(what sampling does, experiment=confidence tells)"
            )
        return self

    @model_validator(mode="after")
    def _in_one_process(self) -> "Settings":
        if self.workers > 1 or self.shard:
            raise ValueError(
                "serving noise depends on which calls are served together: leave out workers= and shard=, which would "
                "part them"
            )
        return self

    @property
    def wanted(self) -> tuple[ConditionName, ...]:
        """The conditions asked for and those that they are held against, in the order of `CONDITIONS`."""
        needed = {*self.conditions, "alone", *(CONDITIONS[name].reference for name in self.conditions)}
        return tuple(name for name in CONDITIONS if name in needed)


def run(settings: Settings) -> None:
    """Serves one judge's calls on one data set under every condition."""
    from experiments.console import console, show
    from experiments.design import cross
    from experiments.manifest import calls, manifest
    from experiments.panel import panel
    from experiments.rehearsal import Rehearsed
    from experiments.roster import player
    from experiments.serving_files import publish
    from judges.data import load

    begun = datetime.now(UTC)
    limit = min(settings.length, settings.model.max_tokens or settings.length)
    settings = settings.model_copy(update={"model": settings.model.model_copy(update={"max_tokens": limit})})
    data = load(**settings.data.model_dump(exclude={"label"}))
    judged_by = player(settings.model, settings)
    judge = panel(settings, judged_by.spec)
    trials = cross(data.items, settings)
    folder = settings.root / settings.study / settings.data.label / settings.model.label
    skipped = {name: why for name in settings.wanted if (why := why_not(CONDITIONS[name], settings.engine))}
    for name, why in skipped.items():
        console.print(f"no condition {name}: {why}", markup=False, soft_wrap=True)
    done = [name for name in settings.wanted if name not in skipped]
    if settings.dry_run:
        raise Rehearsed(_rehearsed(done, judge, trials, judged_by, folder / "calls"))
    answers, made = _serve(done, judge, trials, judged_by, settings, folder / "calls")

    note = manifest(
        settings=settings.model_dump(mode="json"),
        command=sys.argv,
        data=data.provenance,
        prompts=judge.prompts,
        model=asdict(judged_by.spec),
        calls=calls([c for found in answers.values() for a in found for c in a.completions], sum(made.values())),
        begun=begun,
    ) | {"conditions": done, "skipped": skipped}
    # That several engines answered is what is studied here; what may surprise is a condition made in two goes.
    note["caveats"] = [
        f"{name} was broken off and gone on with, from an empty prefix cache, {n} calls before its end"
        for name, n in made.items()
        if 0 < n < len(trials)
    ]
    for caveat in note["caveats"]:
        console.print(f"note: {caveat}", markup=False, soft_wrap=True)
    show(publish(trials, answers, judged_by, settings, note, folder), f"serving: {settings.model.name}", folder)


def _rehearsed(
    names: Sequence[ConditionName], judge: "Step[Trial, Verdict]", trials: "Sequence[Trial]", judged_by: "Player",
    calls: Path,
) -> str:  # fmt: skip
    """What a dry run says: the calls of all conditions that are not stored yet."""
    from experiments.rehearsal import estimate
    from judges.store import Store

    requests = [judge.ask(trial, ())[0] for trial in trials]
    missing: list[Request] = []
    for name in names:
        if (calls / name).is_dir():
            with Store(calls / name) as store:
                lacking = set(store.missing([r.key for r in requests]))
            missing += [r for r in requests if r.key in lacking]
        else:
            missing += requests
    said = estimate(missing, judged_by.spec.name, judged_by.model.price)
    return f"dry run: {said}, under {len(names)} conditions; nothing was asked"


def _serve(
    names: Sequence[ConditionName], judge: "Step[Trial, Verdict]", trials: "Sequence[Trial]", judged_by: "Player",
    settings: Settings, calls: Path,
) -> "tuple[dict[ConditionName, list[Answered[Verdict]]], dict[ConditionName, int]]":  # fmt: skip
    """Every condition's answers, in the order of the trials, and how many calls were made for each now.

    Each condition keeps its calls in a store of its own: they differ in nothing that a request's key knows.
    Conditions with equal engines follow each other on one that stays loaded.
    """
    from experiments.console import console
    from experiments.roster import engines
    from judges.ask import carry_out
    from judges.store import Store

    answers: dict[ConditionName, list[Answered[Verdict]]] = {}
    made: dict[ConditionName, int] = {}
    loaded: tuple[object, OnDemand] | None = None
    try:
        for name in names:
            condition = CONDITIONS[name]
            wanted = engine_for(condition, settings.engine)
            if loaded is None or loaded[0] != wanted:
                if loaded:
                    loaded[1].close()
                loaded = wanted, engines([replace(judged_by, engine=wanted)], settings)
            with Store(calls / name) as store:
                began = time.monotonic()
                made[name] = _ask(condition, [judge.ask(t, ())[0] for t in trials], loaded[1], store, settings.seed)
                answers[name] = carry_out(judge, trials, loaded[1], store)
            seconds = f" in {time.monotonic() - began:.0f} s, start of the engine included" if made[name] else ""
            console.print(f"{name}: {len(trials)} calls, {made[name]} made now{seconds}", markup=False)
    finally:
        if loaded:
            loaded[1].close()
    return answers, made


def _ask(condition: Condition, requests: "Sequence[Request]", engine: "OnDemand", store: "Store", seed: int) -> int:
    """Makes a condition's calls, batch after batch; returns how many were missing.

    A batch that was broken off is made whole again, so that its calls keep their company; what was stored stands.
    """
    order = np.random.default_rng(seed).permutation(len(requests)) if condition.shuffled else range(len(requests))
    size = condition.batch or -(-len(requests) // 2)
    queue = [requests[i] for i in order]
    missing = 0
    engine.forget()
    for number, start in enumerate(range(0, len(queue), size)):
        batch = queue[start : start + size]
        if not (lacking := store.missing([r.key for r in batch])):
            continue
        if number and condition.restarted:
            engine.close()
        for request, completion in engine.generate(batch):
            store.put(request, completion)
        missing += len(lacking)
    return missing
