"""One judge audited on one data set: from items to the files of a run folder."""

import sys
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from experiments.console import ProgressBar, console
from experiments.design import cross, tabulate
from experiments.manifest import calls, manifest
from experiments.panel import panel
from experiments.plans import Keeper, noted
from experiments.rehearsal import cost
from experiments.roster import engines, player
from experiments.runfolder import publish
from experiments.settings import PairwiseSettings
from experiments.shards import shared
from judges.ask import carry_out
from judges.data import load
from judges.store import Store


def audit(settings: PairwiseSettings, unreadable: str, criteria: str = "objective") -> Path:
    """Asks, reads, measures and writes; returns the run folder.

    What is asked is stored call by call under `<root>/store`; all else is made anew from there by every run.

    Args:
        settings: of the study.
        unreadable: how rows without a verdict count in the study's metrics.
        criteria: what methods that judge by criteria go by.
    """
    begun = datetime.now(UTC)
    data = load(**settings.data.model_dump(exclude={"label"}))
    for warning in data.warnings:
        console.print(f"note: {warning}", markup=False)
    judged_by = player(settings.model, settings)
    judge = panel(settings, judged_by.spec, criteria)
    trials = cross(data.items, settings)
    folder = settings.root / settings.study / settings.data.label / settings.model.label
    with (
        Store(settings.root / "store") as store,
        engines([judged_by], settings) as engine,
        closing(ProgressBar()) as bar,
    ):
        keeper = Keeper(folder, settings, bar)
        answers = carry_out(noted(judge, keeper), trials, shared(engine, settings), store, keeper)

    table = tabulate(settings.study, settings.model, trials, answers)
    made = {k: c for a in answers for k, c in zip(a.keys, a.completions, strict=True)}
    note = manifest(
        settings=settings.model_dump(mode="json"),
        command=sys.argv,
        data=data.provenance,
        prompts=judge.prompts,
        model=asdict(judged_by.spec),
        calls=calls(made.values(), bar.asked),
        begun=begun,
    ) | cost(settings.model, made.values())
    publish(table, note, settings, unreadable, folder, f"{settings.model.name} on {settings.data.label}")
    return folder
