"""trust: is a verdict reproducible, order-invariant and correct? (studies.md, trust)"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from experiments.settings import PairwiseSettings, as_list

Paradigm = Literal["direct", "flask", "geval"]


class Settings(PairwiseSettings):
    """The crossed design, and how a row without a verdict counts.

    Paradigms: `direct`, one pairwise call, in every `format`; `flask`, a pairwise call for each of four criteria and
    their majority; `geval`, one call that scores both answers on four criteria.
    """

    unreadable: Literal["drop", "fail"] = "drop"
    paradigm: Annotated[tuple[Paradigm, ...], BeforeValidator(as_list), Field(min_length=1)] = ("direct",)
    criteria: Literal["auto", "objective", "instruction"] = "auto"
    """The paper's criteria for JudgeBench or for LLMBar; `auto`: the latter for LLMBar, the former elsewhere."""

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """What is asked of every pair: method and format."""
        cells = {"direct": super().asked, "flask": (("flask", "direct"),), "geval": (("geval", "scores_json"),)}
        return tuple(cell for paradigm in self.paradigm for cell in cells[paradigm])


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from experiments.audit import audit  # Brings pandas, which a mistake in the settings need not wait for.

    kind = "instruction" if settings.data.name == "llmbar" else "objective"
    audit(settings, settings.unreadable, kind if settings.criteria == "auto" else settings.criteria)
