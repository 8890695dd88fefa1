"""The metrics of the study `evalpair`: a matrix of judges and generators, and what pairing on the answer changes.

Source: 003_79504d017c0b1582.txt, sections 4.2 and 5, appendices C to E.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Interval, Weights
from analysis.cells import OVERALL, TIDY, Design
from analysis.confusion import METRICS, Parts, matrix
from analysis.grounded import (
    DIAGNOSTIC,
    UNLABELLED,
    VALIDATED,
    Unreadable,
    adopted,
    answer_key,
    behaviours,
    grounded,
    primary,
)
from analysis.matched import By, Contrast, Pairing, Panel, contrast, deltas, with_note
from analysis.ratios import estimates
from analysis.strata import generation, records, strata
from analysis.verdicts import CELL

EFFECTS = ("recall_delta", "avoided_delta", "all_delta")
WHOLE = (OVERALL, VALIDATED, DIAGNOSTIC)
SLICES = {
    "context_follow": ("context_follow",),
    "context_and_both": ("context_follow", "both_claims"),
    "without_refusal_conflict_unrelated": ("context_follow", "both_claims", "memory_override"),
}
"""Parts of the primary answers, by their behaviours: the checks of table 20."""
WAYS: tuple[tuple[By, str], ...] = (("model", ""), ("family", "family_"))
"""How judge and generator are matched, and how the names of such effects begin."""


def evalpair(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "drop",
    pairing: Pairing = "complete",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """The matrix, the paired effects, the strata and what generators do, with intervals.

    - precision, recall, f1, false_positive_rate, accuracy of each judge on each generator's answers, against whether
      the answer adopts the induced claim; their counts; f1_row_mean, f1_column_mean, f1_diagonal_mean,
      f1_off_diagonal_mean over cells. citation_locality and wrong_claim_contains_replacement are shares of true
      positives.
    - recall_delta, avoided_delta, all_delta: flag of the matching judge less the mean flag of the others on the same
      answer, over answers that adopted the claim, avoided it, and all. family_...: by families.
    - raw_recall_delta and the like: a judge's diagonal cell less the mean of its other cells. It compares different
      answers and is shown to be distrusted.
    - by behaviour, type of perturbation and perturber: shares of answers, and rates of all judges together.

    Judge or generator `*` stands for all of them. A share of 0 or 1 has a bound by the rule of three.

    Args:
        table: a verdict table with the columns of `analysis.grounded.EXTRA` as far as there are any.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the records; 0 for none.
        unreadable: `drop` leaves unreadable verdicts out, and with them their answers out of paired effects; `miss`
            counts them as not flagging.
        pairing: `complete` or `available`, see `analysis.matched.contrast`.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`). Slices: overall, validated and diagnostic records; of the validated
        ones (all, where no record has a status) those of `SLICES` and every behaviour; `type:...`, `perturber:...`.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on grounded answers.
    """
    seed = int(rng.integers(2**63))
    found = []
    for panel in grounded(table, unreadable):
        parts = _parts(panel)
        weights = panel.weights(replicates, seed)
        rows = [
            matrix(panel, {name: mask for name, mask in parts.items() if name in WHOLE}, weights, interval),
            _paired(panel, parts, weights, pairing, interval),
            strata(panel, parts, weights, interval),
            generation(panel, weights, interval),
            records(panel),
        ]
        told = pd.concat(rows, ignore_index=True).assign(**panel.setting)
        found.append(told.reindex(columns=list(TIDY)).fillna({"note": ""}))
    return pd.concat(found, ignore_index=True)


def items(table: pd.DataFrame, *, unreadable: Unreadable = "drop", pairing: Pairing = "complete") -> pd.DataFrame:
    """What became of every answer, one row each.

    Returns:
        The columns of the setting, the answer, behaviour, status, adopted, judges (that gave a verdict that counts),
        flags (among them), own, others and delta (see `analysis.matched.contrast`), and left_out: why there is none.
    """
    found = []
    for panel in grounded(table, unreadable):
        pairs = _contrast(panel, pairing)
        one = answer_key(panel.answers).assign(
            behaviour=panel.answers["behaviour"],
            status=panel.answers["status"],
            adopted=adopted(panel.answers),
            judges=(panel.terms["known"] > 0).sum(axis=1),
            flags=(panel.terms["said"] > 0).sum(axis=1),
            **{"own": pairs.own, "others": pairs.others, "delta": pairs.delta},
            left_out=np.where(pairs.unmatched, "no match", np.where(pairs.incomplete, "incomplete", "")),
        )
        found.append(one.assign(**{k: v for k, v in panel.setting.items() if k in ("study", "dataset")}))
    return pd.concat(found, ignore_index=True)


def design(table: pd.DataFrame, *, unreadable: Unreadable = "drop", pairing: Pairing = "complete") -> Design:
    """Every answer before every judge, and what it adds to the sums behind cells; pairing is nothing to them.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on grounded answers.
    """
    units, terms, validated = [], [], []
    for panel in grounded(table, unreadable):
        answer, judge = np.nonzero(panel.terms["rows"])
        one = panel.answers.iloc[answer].reset_index(drop=True)
        units.append(one.assign(judge=panel.judges["judge"].to_numpy()[judge], **panel.setting))
        terms.append(pd.DataFrame({name: values[answer, judge] for name, values in panel.terms.items()}))
        validated.append(primary(one))
    sums = pd.concat(terms, ignore_index=True)
    masks = {OVERALL: np.ones(len(sums), dtype=bool), VALIDATED: np.concatenate(validated)}
    by_name = {str(name): sums[name].to_numpy(dtype=float) for name in sums}
    keys = [*CELL, "item", "group"]
    return Design(pd.concat(units, ignore_index=True)[keys], by_name | {"verdicts": by_name["rows"]}, METRICS, masks)


def _parts(panel: Panel) -> Parts:
    """Which answers each slice holds; none that is empty."""
    answers, main = panel.answers, primary(panel.answers)
    behaviour, status = behaviours(answers), answers["status"].to_numpy(dtype=object)
    named = {OVERALL: np.ones(len(answers), dtype=bool), VALIDATED: status == VALIDATED}
    named |= {DIAGNOSTIC: status == DIAGNOSTIC}
    named |= {name: main & np.isin(behaviour, of) for name, of in SLICES.items()}
    if (behaviour != UNLABELLED).any():
        named |= {name: main & (behaviour == name) for name in sorted(set(behaviour))}
    return {name: mask for name, mask in named.items() if mask.any()}


def _paired(panel: Panel, parts: Parts, weights: Weights, pairing: Pairing, interval: Interval) -> pd.DataFrame:
    """Paired effects by models and by families; none with a single judge."""
    found = []
    for by, prefix in WAYS if len(panel.judges) > 1 else ():
        pairs = contrast(panel, by, pairing=pairing)
        ratios = deltas(panel, pairs, _effects(panel, parts, prefix))
        found.append(with_note(estimates(ratios, panel.groups, weights, interval), pairs.note))
    share = panel.terms["unreadable"].sum() / panel.terms["rows"].sum()
    return pd.concat(found, ignore_index=True).assign(share_unreadable=share) if found else pd.DataFrame()


def _effects(panel: Panel, parts: Parts, prefix: str) -> dict[tuple[str, str], NDArray[np.bool_]]:
    label = adopted(panel.answers)
    about = dict(zip(EFFECTS, (label == 1, label == 0, np.ones(len(label), dtype=bool)), strict=True))
    slices = {name: mask for name, mask in parts.items() if name in WHOLE or name in SLICES}
    return {(name, prefix + effect): mask & of for name, mask in slices.items() for effect, of in about.items()}


def _contrast(panel: Panel, pairing: Pairing) -> Contrast:
    """The contrast by models; of a single judge, one that leaves out every answer."""
    if len(panel.judges) > 1:
        return contrast(panel, pairing=pairing)
    nowhere = np.full(len(panel.answers), np.nan)
    return Contrast(nowhere, nowhere, np.zeros(len(nowhere), dtype=bool), np.ones(len(nowhere), dtype=bool))
