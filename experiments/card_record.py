"""The card of a judge as a record: what its JSON holds, field by field; `Card.model_json_schema()` is its schema.

Shares and rates are fractions from 0 to 1; null stands for what is not known or not defined. Links are relative to
the card's file.
"""

from collections.abc import Mapping
from typing import Any, Literal

from experiments.settings import Strict


class Measured(Strict):
    """One run: a study of the judge on a data set."""

    study: str
    data: str
    """The data set's label, as on the command line."""
    dataset: str
    """Its name in the verdicts."""
    date: str | None
    """When the run ended, as 2026-11-30."""
    engine: tuple[str, ...]
    """Who answered the run's calls; empty: not recorded."""
    model: str
    revision: str
    verdicts: int
    """Of this judge, whatever became of them."""
    outcomes: Mapping[str, int]
    rows: str
    """The table of verdicts."""
    browser: str
    """The verdicts to look through, where a report has made them; else empty."""
    command: str
    """What makes the run again; empty: not recorded."""


class Number(Strict):
    """One number of a run."""

    topic: str
    """One of `experiments.card_topics.TOPICS`, or `reading`."""
    study: str
    data: str
    metric: str
    """As in docs/metrics.md."""
    slice: str
    setting: Mapping[str, str | float | bool]
    """The factors that were set (method, format, reference, temperature, generator...), and panel of evalpair."""
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    """Units that the number is a mean of."""
    unreadable: float | None
    """Share of the rows behind it without a verdict."""
    note: str
    """Why there is no value, or how it is to be read."""
    date: str | None
    engine: tuple[str, ...]
    rows: str


class Cost(Strict):
    """What the verdicts of one run took: totals, of which a verdict has its share."""

    study: str
    data: str
    verdicts: int
    calls: int
    """Distinct calls; 0: the verdicts name none."""
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    seconds: float | None
    """Added up over calls, which overlap."""
    usd: float | None
    """At list prices; null: the judge has no price."""
    priced: str | None
    """The day of the price list."""

    def each(self, total: float | None) -> float | None:
        """A total's share of one verdict."""
        return None if total is None or not self.verdicts else total / self.verdicts


class Untested(Strict):
    """Something that nothing under the root says of the judge."""

    topic: str
    study: str
    what: str
    """Metrics, or kinds of them."""
    why: str
    command: str
    """What would tell; empty: nothing can."""


class Limit(Strict):
    """Something that limits what the numbers say."""

    studies: tuple[str, ...]
    says: str
    where: tuple[str, ...]


class Intervals(Strict):
    """How intervals were found."""

    method: str = "cluster bootstrap over groups of items, percentile"
    level: float = 0.95
    replicates: int
    """0: there are none."""


class Card(Strict):
    """All that the studies under one root found about one judge, and what they did not look for."""

    format: Literal["voirdire judge card 1"] = "voirdire judge card 1"
    """Changes with the meaning of a field."""
    judge: str
    family: str
    software: str
    intervals: Intervals
    rules: Mapping[str, str]
    """How verdicts that can't be read count, by study."""
    runs: tuple[Measured, ...]
    numbers: tuple[Number, ...]
    costs: tuple[Cost, ...]
    not_tested: tuple[Untested, ...]
    limits: tuple[Limit, ...]

    def as_json(self) -> str:
        """The card's file."""
        return self.model_dump_json(indent=1) + "\n"


def schema() -> dict[str, Any]:
    """The JSON schema of a card."""
    return Card.model_json_schema()
