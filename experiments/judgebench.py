"""judgebench: two orders, one verdict; how often is it the right one? (studies.md, judgebench)"""

from typing import Literal

from experiments.settings import PairwiseSettings


class Settings(PairwiseSettings):
    """The crossed design, and how a pair without a verdict counts."""

    unreadable: Literal["tie", "wrong", "drop"] = "tie"


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from experiments.audit import audit  # Brings pandas, which a mistake in the settings need not wait for.

    audit(settings, settings.unreadable)
