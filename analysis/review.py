"""People's second look at verdicts: a queue of cases, outcomes by a codebook, agreement, and summaries with bounds.

Source: 003_79504d017c0b1582.txt, section 5.4, appendices D.1 and E.3 (tables 5, 15, 16 and 21).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.agreement import cohen_kappa, percent_agreement
from analysis.bootstrap import Array
from analysis.cells import told
from analysis.grounded import BEHAVIOURS, ERROR, UNLABELLED, checked
from analysis.verdicts import READABLE, ROW_KEY

CELLS = ("TP", "FP", "FN", "TN")
PER_STRATUM = 12
SEED = 20_260_627
ANSWERS = ("yes", "no", "unclear")
UNCLEAR, DISPUTED, PENDING = "unclear", "disputed", ""
"""Outcomes that no rule gives: of answers that fit none, of reviewers who differ, and of unfinished cases."""
LABEL_MISTAKE = {("TP", "no"): "adoption-label mistake"}
"""The source counts such a case (table 21) for which its codebook (table 15) has no rule."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Cases to review, in the order in which they are shown; one row each."""

    cases: pd.DataFrame
    """case, then what says which verdict it is: dataset, item, generator, judge, factors that differ; flagged,
    extracted (the wrong claim) and confidence. Nothing of the automatic label."""
    labels: pd.DataFrame
    """case behaviour cell adopted: what a reviewer sees only afterwards."""


def queue(table: pd.DataFrame, *, per_stratum: int = PER_STRATUM, rng: np.random.Generator | None = None) -> Queue:
    """Draws at most so many cases of each behaviour and cell of the confusion, shuffled.

    A case's id is made from what says which verdict it is, so that it stays the same in a longer table.

    Args:
        table: a verdict table of the study `evalpair`. Verdicts that are unreadable, or on answers without a label, are
            in no cell and so in no queue.
        per_stratum: the most cases of a behaviour and cell.
        rng: equal generators give equal queues, whatever the order of the rows; None: the source's seed.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on grounded answers.
    """
    rows = checked(table)
    rows = rows[rows["outcome"].isin(READABLE) & rows["gold"].notna()]
    rows = rows.sort_values(list(ROW_KEY), ignore_index=True)
    order = (rng or np.random.default_rng(SEED)).permutation(len(rows))
    rows = rows.iloc[order].reset_index(drop=True)
    flagged, adopted = rows["grade"] == ERROR, rows["gold"] == ERROR
    behaviour = rows["behaviour"].where(rows["behaviour"] != "", UNLABELLED)
    rows = rows.assign(flagged=flagged, adopted=adopted, behaviour=behaviour, cell=_cells(flagged, adopted))
    chosen = rows[rows.groupby(["behaviour", "cell"]).cumcount() < per_stratum].reset_index(drop=True)
    chosen = chosen.assign(case=_ids(chosen))
    shown = told(chosen, ["case", "item", "flagged", "extracted", "confidence"])
    if "generator" not in shown:
        shown = shown.assign(generator=chosen["generator"])
    first = ["case", "dataset", "item", "generator", "judge"]
    return Queue(
        shown[[*first, *(c for c in shown if c not in first)]], chosen[["case", "behaviour", "cell", "adopted"]]
    )


@cache
def rules() -> Mapping[tuple[str, str, str], str]:
    """The outcome by (cell, label ok, judge ok), the codebook's `any` written out; an empty answer is any, too."""
    with (files("analysis") / "published" / "evalpair_human_rules.csv").open(encoding="utf-8") as text:
        rows = pd.read_csv(text, dtype=str)
    written = rows[["cell", "label_ok", "judge_ok", "derived_outcome"]].to_numpy().tolist()
    written += [[*pattern, "any", outcome] for pattern, outcome in LABEL_MISTAKE.items()]
    anything = (*ANSWERS, "")
    return {
        (cell, label, judge): outcome
        for cell, label_ok, judge_ok, outcome in written
        for label in (anything if label_ok == "any" else (label_ok,))
        for judge in (anything if judge_ok == "any" else (judge_ok,))
    }


def outcome(cell: str, label_ok: str, judge_ok: str) -> str:
    """What a reviewed case comes to.

    >>> outcome("FP", "yes", "yes"), outcome("FP", "no", ""), outcome("FN", "yes", "yes"), outcome("TP", "yes", "")
    ('alternate source error', 'adoption-label mistake', 'unclear', '')

    Args:
        cell: of the confusion, one of `CELLS`.
        label_ok: is the automatic label right? yes, no, unclear, or empty where nobody has said.
        judge_ok: is the judge's decision right against the original passages? Likewise.

    Returns:
        The codebook's outcome; `unclear` where two answers fit no rule, empty where one is still missing.
    """
    found = rules().get((cell, label_ok, judge_ok))
    return found or (UNCLEAR if label_ok and judge_ok else PENDING)


def outcomes(reviews: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """What every reviewer made of every case.

    Args:
        reviews: case reviewer label_ok judge_ok (yes, no, unclear or empty), see `analysis.review_files.parse`.
        labels: of the queue.

    Returns:
        The reviews with behaviour, cell and outcome; unfinished ones have an empty outcome.
    """
    both = reviews.merge(labels[["case", "behaviour", "cell"]], on="case", how="inner", validate="many_to_one")
    said = [outcome(*answers) for answers in both[["cell", "label_ok", "judge_ok"]].to_numpy()]
    return both.assign(outcome=pd.Series(said, index=both.index, dtype=object))


def settled(found: pd.DataFrame) -> pd.DataFrame:
    """One row a finished case: behaviour, cell and its outcome, `disputed` where reviewers differ."""
    done = found[found["outcome"] != PENDING]
    cases = done.groupby("case", sort=False).agg(
        behaviour=("behaviour", "first"), cell=("cell", "first"), outcome=("outcome", "first"), n=("outcome", "nunique")
    )
    return cases.assign(outcome=cases["outcome"].mask(cases.pop("n") > 1, DISPUTED)).reset_index()


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """How often each outcome was found in each cell, with 95 % bounds.

    Args:
        found: from `outcomes`.

    Returns:
        One row a cell and outcome, those of the codebook even where nothing was found: cell outcome count reviewed
        share low high. The bounds are Wilson's; where the count is 0 or all, the rule of three's: 0 of 25, below 3/25.
    """
    cases = settled(found)
    pairs = [(cell, said) for (cell, *_), said in rules().items()]
    pairs += [(cell, said) for cell, said in cases[["cell", "outcome"]].to_numpy()]
    table = pd.DataFrame([*dict.fromkeys(pairs)], columns=["cell", "outcome"])
    table = table.sort_values("cell", key=lambda s: s.map(CELLS.index), kind="stable", ignore_index=True)
    counted = cases.groupby(["cell", "outcome"]).size().rename("count")
    table = table.join(counted, on=["cell", "outcome"]).fillna({"count": 0}).astype({"count": "int64"})
    reviewed = table["cell"].map(cases["cell"].value_counts()).fillna(0).astype("int64")
    low, high = bounds(table["count"].to_numpy(), reviewed.to_numpy())
    share = table["count"].where(reviewed > 0) / reviewed.where(reviewed > 0)
    return table.assign(reviewed=reviewed, share=share, low=low, high=high)


def bounds(count: NDArray[Any], of: NDArray[Any]) -> tuple[Array, Array]:
    """95 % bounds on shares: Wilson's, and the rule of three where there is none, or no other; NaN of nothing.

    >>> [x.round(2).tolist() for x in bounds(np.array([0, 31, 6]), np.array([25, 31, 9]))]
    [[0.0, 0.9, 0.35], [0.12, 1.0, 0.88]]
    """
    n = np.where(of > 0, of, np.nan)
    share, z = count / n, 1.959964
    middle, spread = (share + z**2 / (2 * n)) / (1 + z**2 / n), z / (1 + z**2 / n)
    half = spread * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    reach = np.minimum(3 / n, 1)
    low = np.where(share == 0, 0.0, np.where(share == 1, 1 - reach, middle - half))
    high = np.where(share == 0, reach, np.where(share == 1, 1.0, middle + half))
    return low, high


def coverage(labels: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """How many of the sampled cases are finished, by behaviour (row) and cell: `8/12`, a dash where there are none."""
    done = labels["case"].isin(settled(found)["case"])
    counts = labels.assign(done=done).groupby(["behaviour", "cell"])["done"].agg(["sum", "size"])
    text = counts["sum"].astype(str) + "/" + counts["size"].astype(str)
    order = [b for b in (*BEHAVIOURS, UNLABELLED) if b in set(labels["behaviour"])]
    wide = text.unstack("cell").reindex(index=order, columns=list(CELLS)).astype(object).fillna("–")
    return wide.rename_axis(columns=None).reset_index()


def agreement(found: pd.DataFrame) -> pd.DataFrame:
    """How far every two reviewers agree on the cases that both have finished.

    Returns:
        One row two reviewers and a question (label_ok, judge_ok, outcome): reviewer_1 reviewer_2 question n agreement
        kappa (Cohen's).
    """
    done = found[found["outcome"] != PENDING]
    rows = []
    for question in ("label_ok", "judge_ok", "outcome"):
        by = done.assign(said=done[question].replace("", None)).pivot(index="case", columns="reviewer", values="said")
        for one, other in combinations(by.columns, 2):
            both = by[[one, other]].dropna()
            values = percent_agreement(both[one], both[other]), cohen_kappa(both[one], both[other])
            rows.append((one, other, question, len(both), *values))
    return pd.DataFrame(rows, columns=["reviewer_1", "reviewer_2", "question", "n", "agreement", "kappa"])


def _ids(rows: pd.DataFrame) -> list[str]:
    keys = (chr(31).join(map(str, key)) for key in rows[list(ROW_KEY)].to_numpy(dtype=object))
    return [f"case-{sha256(key.encode()).hexdigest()[:12]}" for key in keys]


def _cells(flagged: pd.Series[bool], adopted: pd.Series[bool]) -> NDArray[np.str_]:
    return np.where(flagged, np.where(adopted, "TP", "FP"), np.where(adopted, "FN", "TN"))
