"""judgebench: two orders, one verdict; how often is it the right one? (studies.md, judgebench)"""

from typing import Literal

from experiments.settings import PairwiseSettings


class Settings(PairwiseSettings):
    """The crossed design, and how a pair without a verdict counts."""

    unreadable: Literal["tie", "wrong", "drop"] = "tie"


def run(settings: Settings) -> None:
    """Audits one judge on one data set."""
    from analysis import accuracy
    from experiments.audit import Analysis, audit

    audit(
        settings,
        Analysis(
            lambda table, options: accuracy.judgebench(table, unreadable=settings.unreadable, **options),
            lambda table: accuracy.items(table, unreadable=settings.unreadable),
            columns=("accuracy", "accuracy_AB", "accuracy_BA", "inconsistent", "tie", "first_position"),
        ),
    )
