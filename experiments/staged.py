"""A study made of stages, carried out: from what the data set holds to the files of a run folder."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.console import ProgressBar, console
from experiments.manifest import calls, manifest
from experiments.pipeline import Choice, Stage, run
from experiments.plans import Keeper
from experiments.rehearsal import cost
from experiments.roster import PipelineSettings, Player, engines, players
from experiments.runfolder import publish
from experiments.settings import Model
from experiments.shards import shared
from experiments.workshop import Workshop
from judges.records import UserError
from judges.store import Store


def conduct(
    stages: Sequence[Stage],
    settings: PipelineSettings,
    roles: Mapping[str, Sequence[Model]],
    items: Sequence[Any],
    *,
    provenance: Mapping[str, Any],
    prompts: Mapping[str, str],
    unreadable: str,
    folder: Path,
    title: str,
) -> None:
    """Runs the stages that the settings choose; after the final one, writes verdicts, metrics and manifest, too.

    Args:
        stages: of the study, in order; the final one makes its verdicts.
        settings: of the study.
        roles: who plays each role; `stage.model=` recasts that of the stage chosen.
        items: what the data set holds.
        provenance: of the items, for the manifest.
        prompts: sha256 of the templates, by name.
        unreadable: how rows without a verdict count in the study's metrics.
        folder: the run folder.
        title: what was asked of whom, for the table that is shown.
    """
    begun = datetime.now(UTC)
    choice = Choice(settings.stage.name, settings.stage.input)
    cast = {role: players(models, settings) for role, models in _recast(stages, settings, roles).items()}
    everyone = [p for found in cast.values() for p in found]
    with (
        Store(settings.root / "store") as store,
        engines(everyone, settings) as engine,
        closing(ProgressBar()) as bar,
    ):
        keeper = Keeper(folder, settings, bar)
        workshop = Workshop(items, cast, shared(engine, settings, more=True), store, keeper)
        made = run(stages, workshop, choice, folder)
    final = next(stage.name for stage in stages if stage.final)
    if final not in made:
        console.print(f"the table of stage {choice.name} is in {folder / 'stages'}", markup=False, soft_wrap=True)
        return
    note = manifest(
        settings=settings.model_dump(mode="json"),
        command=sys.argv,
        data=provenance,
        prompts=prompts,
        model={role: [asdict(p.spec) for p in found] for role, found in cast.items()},
        calls=calls(workshop.completions.values(), bar.asked),
        begun=begun,
        asked=len({p.spec for p in everyone}),
    )
    note |= {"notes": workshop.notes} | _cost(everyone, workshop)
    publish(made[final], note, settings, unreadable, folder, title)


def _cost(cast: Sequence[Player], workshop: Workshop) -> dict[str, Any]:
    """What the calls of each model have cost, and all together; empty where none has a price."""
    spent: dict[str, Any] = {}
    for player in {p.spec: p for p in cast}.values():
        made = [c for key, c in workshop.completions.items() if workshop.asked[key] == player.spec]
        if made and (found := cost(player.model, made)):
            spent[player.model.name] = found["cost"]
    if not spent:
        return {}
    dates = ", ".join(sorted({one["price"]["as_of"] for one in spent.values()}))
    total = round(sum(one["usd"] for one in spent.values()), 6)
    return {"cost": {"usd": total, "price": {"as_of": dates}, "models": spent}}


def _recast(
    stages: Sequence[Stage], settings: PipelineSettings, roles: Mapping[str, Sequence[Model]]
) -> Mapping[str, Sequence[Model]]:
    if settings.stage.model is None:
        return roles
    role = next((stage.role for stage in stages if stage.name == settings.stage.name), None)
    if role == "":
        raise UserError(
            f"stage {settings.stage.name} asks no model, so leave out stage.model={settings.stage.model.name}"
        )
    return {**roles, role: (settings.stage.model,)} if role else roles
