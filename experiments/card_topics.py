"""What a card tells: topics, their metrics, the rows that speak of one judge, and what would measure them."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from analysis.cells import OVERALL
from analysis.confidence import SIGNALS
from analysis.grounded import VALIDATED
from analysis.ratios import POOLED
from analysis.serving import ANY

Choose = Callable[[pd.DataFrame, str], pd.DataFrame]
"""(tidy metrics of a run, judge) -> the rows that the topic shows of that judge."""


@dataclass(frozen=True)
class Topic:
    """One thing to know about a judge."""

    name: str
    study: str
    title: str
    metrics: tuple[str, ...]
    chosen: Choose
    command: str
    """What measures it, with `{who}` for the judge in a command and `{name}` for its name alone."""
    wordless: bool = False
    """Can a reward model, which has no words, be asked this?"""
    needs: str = "runs of this study are there, and none measured it"
    """Why runs of the study may say nothing of it."""


def _own(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    return metrics[(metrics["judge"] == judge) & (metrics["slice"] == OVERALL)]


def _by_swap(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    return metrics[(metrics["judge"] == judge) & ~metrics["slice"].str.contains("/", regex=False)]


def _by_signal(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    return metrics[(metrics["judge"] == judge) & metrics["slice"].isin(list(SIGNALS)) & (metrics["n"] > 0)]


def _any(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    return metrics[(metrics["judge"] == judge) & (metrics["slice"] == ANY)]


def _primary(metrics: pd.DataFrame) -> pd.DataFrame:
    """The validated records; all, where none has a status."""
    return metrics[metrics["slice"] == (VALIDATED if (metrics["slice"] == VALIDATED).any() else OVERALL)]


def _cells(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    found = _primary(metrics)
    return found[(found["judge"] == judge) & (found["generator"] != POOLED)]


def _on_itself(metrics: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Effects on the answers that the judge's own model wrote."""
    found = _primary(metrics)
    return found[(found["judge"] == POOLED) & (found["generator"] == judge)]


_OWN = "needs answers of its own model that another judge has judged, too"
_PAIR = "generators=[{name},OTHER]"
TOPICS: tuple[Topic, ...] = (
    Topic(
        "trust", "trust", "Reproducibility, order flips, accuracy and trustworthy verdict rate",
        ("C", "phi", "A", "T"), _own, "experiment=trust {who} data=verifiable", wordless=True,
    ),
    Topic(
        "both_orders", "judgebench", "Accuracy when both orders have a say",
        ("accuracy", "inconsistent", "first_position"), _own, "experiment=judgebench {who} data=judgebench",
        wordless=True,
    ),
    Topic(
        "reference", "swapref", "Does it follow the reference that it is given?",
        ("ACC_o", "ACC_s", "RPAG"), _by_swap, "experiment=swapref {who} data=verifiable_qa",
    ),
    Topic(
        "calibration", "refsense", "Does it tell right from wrong without a reference?",
        ("C1", "C2", "CGP"), _own, "experiment=refsense {who} data=verifiable_qa",
    ),
    Topic(
        "over_credit", "refsense", "Is it too generous without a reference?",
        ("flip_rate", "over_credit"), _own, "experiment=refsense {who} data=verifiable_qa",
    ),
    Topic(
        "own_answers", "refsense", "Is it kinder to answers of its own model? (short answers)",
        ("same_model_delta",), _on_itself, f"experiment=refsense {{who}} data=verifiable_qa {_PAIR}",
        needs=_OWN,
    ),
    Topic(
        "grounded", "evalpair", "Does it find a false claim in an answer?",
        ("recall", "false_positive_rate"), _cells,
        f"experiment=evalpair {{who}} data=grounded_demo {_PAIR} judges=[{{name}},OTHER]",
    ),
    Topic(
        "own_model", "evalpair", "Is it kinder to answers of its own model? (grounded answers)",
        ("recall_delta", "avoided_delta", "all_delta"), _on_itself,
        f"experiment=evalpair {{who}} data=grounded_demo {_PAIR} judges=[{{name}},OTHER]",
        needs=_OWN,
    ),
    Topic(
        "confidence", "confidence", "Does its confidence tell right verdicts from wrong ones?",
        ("auroc",), _by_signal, "experiment=confidence {who} data=verifiable logprobs=true",
    ),
    Topic(
        "serving", "serving", "Does its verdict depend on how it is served?",
        ("verdict_difference", "text_difference"), _any, "experiment=serving {who} data=verifiable data.limit=40",
    ),
)  # fmt: skip
"""In the order of the page."""
