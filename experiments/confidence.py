"""confidence: how much is a verdict worth? (studies.md, confidence)"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, PositiveInt

from experiments.settings import FormatName, PairwiseSettings, as_list


class Settings(PairwiseSettings):
    """The design that shows one verdict's signals side by side.

    Every format is asked once at temperature 0, which gives log-probabilities, stated confidence and agreement over
    orders and formats. The formats in `sampled` are asked `repeats` times at every other temperature: the signal of
    agreement over repeats, and the audit that the expected one is held against.
    """

    unreadable: Literal["drop"] = "drop"
    repeats: PositiveInt = 5
    """Calls for each pair and order at each temperature above 0."""
    sampled: Annotated[tuple[FormatName, ...], BeforeValidator(as_list)] = ("direct",)
    """Formats that are sampled. A reasoning-first format is a distribution over rationales: dear, and worth its calls
    where that is what the study is about."""
    logprobs: bool = True

    def repeats_of(self, form: str, temperature: float) -> int:
        """Once at temperature 0; above it `repeats` times, where the format is sampled."""
        if temperature == 0:
            return 1
        return self.repeats if form in self.sampled else 0


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from experiments.audit import audit  # Brings pandas, which a mistake in the settings need not wait for.
    from experiments.console import console

    if not settings.logprobs:
        console.print(
            "note: no log-probabilities are recorded, so there are no signals from them and no expected audit; "
            "the same command with logprobs=true records them (other calls than these)"
        )
    audit(settings, settings.unreadable)
