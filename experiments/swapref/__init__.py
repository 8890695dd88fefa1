"""swapref: does a judge follow the reference it is given, even against what it believes? (studies.md, swapref)"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from experiments import configuration
from experiments.roster import PipelineSettings
from experiments.settings import Model, as_list

Swap = Literal["type_preserving", "type_changing", "popularity_high", "popularity_low", "evaluator_knowledge"]
Strategy = Literal["standard", "direct", "cot", "self_consistency", "cot_self_consistency"]


def _model(value: Any) -> Any:
    return configuration.judge(value) if isinstance(value, str) and value not in ("rules", "template") else value


Maker = BeforeValidator(_model)
"""A judge by name, or plain code in its place."""


class Settings(PipelineSettings):
    """The swaps, how the judge is asked, and who makes the material."""

    swap: Annotated[tuple[Swap, ...], BeforeValidator(as_list), Field(min_length=1)]
    format: Annotated[tuple[Strategy, ...], BeforeValidator(as_list), Field(min_length=1)] = ("standard",)
    typer: Annotated[Literal["rules"] | Model, Maker] = "rules"
    """Says what kind of thing an answer is, where the data set doesn't; `rules`: `judges.entity_types.by_rule`."""
    writer: Annotated[Literal["template"] | Model, Maker] = "template"
    """Puts answers into sentences; `template`: the one sentence of `construction/plain.txt`, without a model."""
    persons: Path | None = None
    """PopQA in its upstream format, whose most and least visited persons stand in under popularity_high and _low."""
    constrained: bool = False
    logprobs: bool = False
    unreadable: Literal["wrong", "drop"] = "wrong"

    @property
    def roles(self) -> dict[str, tuple[Model, ...]]:
        """Who plays which role."""
        makers = {"typer": self.typer, "writer": self.writer}
        return {"judge": (self.model,), **{k: (m,) if isinstance(m, Model) else () for k, m in makers.items()}}

    @property
    def judged_by(self) -> Model:
        """The judge, whom `stage.model=` may recast."""
        recast = self.stage.model if self.stage.name in ("beliefs", "swap", "judge") else None
        return recast or self.model


def run(settings: Settings) -> None:
    """Makes the material, and audits one judge on it."""
    from experiments.single import questions  # These bring pandas, which a mistake in the settings need not wait for.
    from experiments.staged import conduct
    from experiments.swapref.stages import prompts_of, stages

    data, whole = questions(settings)
    judged_by = settings.judged_by
    conduct(
        stages(settings, whole),
        settings,
        settings.roles,
        data.items,
        provenance=data.provenance,
        prompts=prompts_of(settings),
        unreadable=settings.unreadable,
        folder=settings.root / settings.study / settings.data.label / judged_by.label,
        title=f"{judged_by.name} on {settings.data.label}",
    )
