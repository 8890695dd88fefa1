"""trust: is a verdict reproducible, order-invariant and correct? (studies.md, trust)"""

from typing import Literal

from experiments.settings import PairwiseSettings


class Settings(PairwiseSettings):
    """The crossed design, and how a row without a verdict counts."""

    unreadable: Literal["drop", "fail"] = "drop"


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from analysis import reliability, repeats
    from experiments.audit import Analysis, audit

    audit(
        settings,
        Analysis(
            lambda table, options: reliability.trust(table, unreadable=settings.unreadable, **options),
            lambda table: repeats.items(table, unreadable=settings.unreadable),
            columns=("C", "phi", "A", "bound", "T", "T_joint"),
        ),
    )
