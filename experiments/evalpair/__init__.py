"""evalpair: on the same answer, is a judge kinder to its own model? (studies.md, evalpair)"""

from typing import Literal

from pydantic import NonNegativeInt

from experiments.roster import Cast, Named, PipelineSettings
from experiments.settings import Model


class Settings(PipelineSettings):
    """Who plays which role, and how much is asked of them. A role that names nobody is played by the study's judge."""

    perturbers: Cast = ()
    validators: Cast = ()
    """Where nobody is named, the labeller; of several, all must pass a gate."""
    generators: Cast = ()
    judges: Cast = ()
    labeller: Named | None = None
    constrained: bool = False
    """Holds every reply to its JSON schema."""
    again: NonNegativeInt = 0
    """How often a reply that the length limit cut off is asked for again, each time with twice the room."""
    panel: str = "matrix"
    """Names the run folder: another cast on the same data goes into another one."""
    unreadable: Literal["drop", "miss"] = "drop"

    @property
    def roles(self) -> dict[str, tuple[Model, ...]]:
        """Who plays what."""
        own = (self.model,)
        labeller = (self.labeller,) if self.labeller else own
        return {
            "perturber": self.perturbers or own,
            "validator": self.validators or labeller,
            "generator": self.generators or own,
            "labeller": labeller,
            "judge": self.judges or own,
        }


def run(settings: Settings) -> None:
    """Runs the stages on one data set."""
    from experiments.evalpair.study import study  # Brings pandas, which a mistake in the settings need not wait for.

    study(settings)
