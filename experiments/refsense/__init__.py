"""refsense: is a judge too generous where it sees no reference? (studies.md, refsense)"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from experiments.roster import Cast, PipelineSettings
from experiments.settings import Model, as_list

Setting = Literal["NR", "RV", "RVP", "RC", "RCP"]
Form = Literal["json", "word", "cot", "self_consistency", "cot_self_consistency"]


class Settings(PipelineSettings):
    """The settings and formats in which the judge is asked, and whose answers it grades."""

    reference: Annotated[tuple[Setting, ...], BeforeValidator(as_list), Field(min_length=1)]
    format: Annotated[tuple[Form, ...], BeforeValidator(as_list), Field(min_length=1)] = ("json", "word")
    generators: Cast = ()
    """Whose answers are graded; empty: the judge's own."""
    calibration: bool = True
    """Also grade the right answers and other items' answers, without a reference."""
    idk: bool = False
    """Offer the judge the grade UNKNOWN; formats are then called `json_idk` and so on."""
    labels: Path | None = None
    """People's grades of the same answers: a table with item, generator, human and perhaps human_2; C, I or P."""
    constrained: bool = False
    logprobs: bool = False
    partial: Literal["incorrect", "correct", "drop"] = "incorrect"
    """How a person's P counts."""
    unreadable: Literal["drop", "reject"] = "drop"

    @property
    def roles(self) -> dict[str, tuple[Model, ...]]:
        """Who plays which role."""
        return {"judge": (self.model,), "generator": self.generators or (self.model,)}

    @property
    def judged_by(self) -> Model:
        """The judge, whom `stage.model=` may recast."""
        return self.stage.model if self.stage.model and self.stage.name == "judge" else self.model


def run(settings: Settings) -> None:
    """Has questions answered, and audits one judge on the answers."""
    from experiments.refsense.stages import prompts_of, stages  # These bring pandas, which a mistake need not wait for.
    from experiments.single import questions
    from experiments.staged import conduct

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
