"""Who plays which role in a study of several models: each with its identity and the engine that serves it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, model_validator

from experiments import configuration
from experiments.rehearsal import Rehearsal
from experiments.settings import EngineSettings, Model, Settings, Strict, as_list
from judges.engines import ApiSettings, Budget, OnDemand, OpenEngine, ScriptedSettings, open_engine
from judges.engines.models import resolve_revision
from judges.engines.oracles import fingerprint
from judges.records import ModelSpec


def _named(value: Any) -> Any:
    return configuration.judge(value) if isinstance(value, str) else value


Named = Annotated[Model, BeforeValidator(_named)]
"""A model in a role, given by the name of its YAML in `conf/judge`, or in full."""
Cast = Annotated[tuple[Named, ...], BeforeValidator(as_list)]
"""Several of them; one stands for a list of it."""


class StageChoice(Strict):
    """Which stage of a pipeline to run; all of them where none is named."""

    name: str = ""
    input: Path | None = None
    """A table to use in place of the first one that the stage needs."""
    model: Named | None = None
    """Who plays the stage's role, whatever the study's settings say."""


class PipelineSettings(Settings):
    """A study made of stages."""

    stage: StageChoice = StageChoice()

    @model_validator(mode="after")
    def _one_stage(self) -> "PipelineSettings":
        if not self.stage.name and (self.stage.input or self.stage.model):
            raise ValueError("stage.input= and stage.model= speak of one stage; name it: stage=NAME")
        return self


@dataclass(frozen=True)
class Player:
    """A model that can be asked."""

    model: Model
    spec: ModelSpec
    """Its identity, with the revision resolved."""
    engine: EngineSettings


def player(model: Model, settings: Settings) -> Player:
    """A model with its revision resolved and the engine that serves it.

    Where it is the study's own judge, what the command line says of that one (`model.path=...`) holds.
    """
    if model.name == settings.model.name:
        model = settings.model
    engine = engine_of(model, settings)
    if isinstance(engine, ScriptedSettings):
        return Player(model, model.spec(f"scripted:{engine.script}", fingerprint(engine.knowledge)), engine)
    if isinstance(engine, ApiSettings):  # What stands behind a name there, each completion says.
        return Player(model, model.spec(model.weights or model.name, ""), engine)
    name = model.name if model.path else model.weights
    return Player(model, model.spec(name, resolve_revision(model.placement(), model.revision)), engine)


def players(models: Iterable[Model], settings: Settings) -> tuple[Player, ...]:
    """Those models, each once, in their order."""
    return tuple({model.name: player(model, settings) for model in models}.values())


def engine_of(model: Model, settings: Settings) -> EngineSettings:
    """The study's engine, or that which alone can serve this model, as its YAML has it."""
    engine = settings.engine
    if model.engine == "api" and engine.kind != "api":
        engine = settings.api
    elif model.engine not in ("", engine.kind):
        engine = TypeAdapter[EngineSettings](EngineSettings).validate_python(configuration.engine(model.engine))
    if isinstance(engine, ScriptedSettings) and model.script:
        return replace(engine, script=model.script)
    return engine


def engines(cast: Sequence[Player], settings: Settings) -> OnDemand:
    """Opens the engine of whichever of them is asked, one with weights at a time, under one budget; none in a dry run.

    Raises:
        UserError: the budget is in dollars, and one of them is behind an API and has no price.
    """
    budget = Budget(settings.budget.usd, settings.budget.calls)
    for one in cast:
        if isinstance(one.engine, ApiSettings) and not settings.dry_run:
            budget.check(one.model.price, one.spec.name)

    def opened(spec: ModelSpec) -> OpenEngine:
        found = next(p for p in cast if p.spec == spec)
        if settings.dry_run:
            return Rehearsal(spec.name, found.model.price)
        return open_engine(spec, found.model.placement(), found.engine, budget)

    light = [one.spec for one in cast if isinstance(one.engine, ApiSettings | ScriptedSettings)]
    return OnDemand(opened, light=lambda spec: spec in light)
