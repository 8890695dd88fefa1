"""trust: is a verdict reproducible, order-invariant and correct? (studies.md, trust)"""

from typing import Literal

from experiments.settings import PairwiseSettings


class Settings(PairwiseSettings):
    """The crossed design, and how a row without a verdict counts."""

    unreadable: Literal["drop", "fail"] = "drop"


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from experiments.audit import audit  # Brings pandas, which a mistake in the settings need not wait for.

    audit(settings, settings.unreadable)
