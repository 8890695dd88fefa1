"""All judges together by how the answer behaves; how generators behave, and how records were perturbed.

Source: 003_79504d017c0b1582.txt, tables 1, 4, 9, 10, 13 and 22, figures 3, 4, 7, 8 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Interval, Weights
from analysis.cells import OVERALL
from analysis.confusion import Parts, counts, rates, unreadable
from analysis.grounded import BEHAVIOURS, DIAGNOSTIC, UNLABELLED, VALIDATED, behaviours
from analysis.matched import Panel
from analysis.ratios import POOLED, Key, Ratio, estimates, ruled

TYPE, PERTURBER, MODIFIED = "type:", "perturber:", "modified:"
"""How the slices of a type of perturbation, a perturber and a number of rewritten passages begin."""
NUMBERS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 8), (9, np.inf))
"""Numbers of rewritten passages that table 10 counts together."""
PUSHBACK = ("memory_override", "conflict_aware")
LABELLED = "a labelled answer"


def strata(panel: Panel, parts: Parts, weights: Weights, interval: Interval = "percentile") -> pd.DataFrame:
    """Rates and counts of all judges and generators together in every slice, with how many answers have a verdict.

    Returns:
        One number a row: the columns of `analysis.confusion.matrix`. Where a rate is 0 or 1 its interval is the rule
        of three's, over records.
    """
    judged = panel.terms["rows"] > 0
    at = {name: mask[:, None] & judged for name, mask in parts.items()}
    keys = {name: Key(POOLED, POOLED, name, "") for name in parts}
    numbers = estimates((r for s in parts for r in rates(panel, at[s], keys[s])), panel.groups, weights, interval)
    heard = (panel.terms["known"] > 0).any(axis=1)
    answers = _counted([(POOLED, name, "answers", int((mask & heard).sum())) for name, mask in parts.items()])
    tally = pd.concat([counts(panel, at[s], keys[s]) for s in parts]).replace({"metric": {"n": "verdicts"}})
    share = {name: unreadable(panel, verdicts) for name, verdicts in at.items()}
    found = pd.concat([ruled(numbers), answers, tally], ignore_index=True)
    return found.assign(share_unreadable=found["slice"].map(share))


def generation(panel: Panel, weights: Weights, interval: Interval = "percentile") -> pd.DataFrame:
    """What generators do with the perturbed evidence: shares and counts of labelled answers, whoever judged them.

    - share, n: of each behaviour (the slice), for each generator and all.
    - context_follow_rate: overall, of validated and diagnostic records, and by perturber.
    - memory_override_rate, conflict_aware_rate: by type of perturbation.
    - llm_labeled_refusals, self_flagged_refusals, context_follow_citing_modified, context_follow_total: counts.
    """
    behaviour = behaviours(panel.answers)
    if (behaviour == UNLABELLED).all():
        return pd.DataFrame()
    of = _by_generator(panel)
    ratios = [ratio for g, mask in of.items() for ratio in _ratios(panel, g, mask, behaviour)]
    tallies = [row for g, mask in of.items() for row in _tallies(panel, g, mask, behaviour)]
    return pd.concat([ruled(estimates(ratios, panel.groups, weights, interval)), _counted(tallies)], ignore_index=True)


def records(panel: Panel) -> pd.DataFrame:
    """How many records there are of each status, type, perturber and number of rewritten passages; rows as before."""
    answers = panel.answers.drop_duplicates("item")
    status = {OVERALL: np.ones(len(answers), dtype=bool)}
    known = [name for name in (VALIDATED, DIAGNOSTIC) if (answers["status"] == name).any()]
    status |= {name: (answers["status"] == name).to_numpy() for name in known}
    kinds, perturbers = _labels(answers["perturbation_type"], TYPE), _labels(answers["perturber"], PERTURBER)
    slices = status | {f"{s}/{t}" if s != OVERALL else t: a & b for s, a in status.items() for t, b in kinds.items()}
    slices |= perturbers | {f"{p}/{t}": a & b for p, a in perturbers.items() for t, b in kinds.items()}
    rows = [(POOLED, name, "records", float(mask.sum())) for name, mask in slices.items()]
    return _counted([*rows, *_modified(answers["modified_passages"])])


def _by_generator(panel: Panel) -> dict[str, NDArray[np.bool_]]:
    generator = panel.answers["generator"].to_numpy(dtype=object)
    return {POOLED: np.ones(len(generator), dtype=bool), **{g: generator == g for g in sorted(set(generator))}}


def _ratios(panel: Panel, generator: str, mask: NDArray[np.bool_], behaviour: NDArray[np.object_]) -> Iterator[Ratio]:
    """Shares of one generator's labelled answers."""
    labelled = mask & (behaviour != UNLABELLED)
    for name in BEHAVIOURS:
        yield _share(generator, name, "share", behaviour == name, labelled)
    status = panel.answers["status"].to_numpy(dtype=object)
    slices = {OVERALL: labelled, VALIDATED: status == VALIDATED, DIAGNOSTIC: status == DIAGNOSTIC}
    for name, part in (slices | _labels(panel.answers["perturber"], PERTURBER)).items():
        if (part & labelled).any():
            yield _share(generator, name, "context_follow_rate", behaviour == "context_follow", part & labelled)
    for name, part in _labels(panel.answers["perturbation_type"], TYPE).items():
        for response in PUSHBACK if (part & labelled).any() else ():
            yield _share(generator, name, f"{response}_rate", behaviour == response, part & labelled)


def _tallies(
    panel: Panel, generator: str, mask: NDArray[np.bool_], behaviour: NDArray[np.object_]
) -> Iterator[tuple[str, str, str, int]]:
    for name in BEHAVIOURS:
        yield generator, name, "n", int((mask & (behaviour == name)).sum())
    follows = mask & (behaviour == "context_follow")
    yield generator, OVERALL, "llm_labeled_refusals", int((mask & (behaviour == "refusal")).sum())
    yield generator, OVERALL, "context_follow_total", int(follows.sum())
    for column, name, of in (
        ("answer_refused", "self_flagged_refusals", mask),
        ("answer_cites_modified", "context_follow_citing_modified", follows),
    ):
        if panel.answers.loc[of, column].notna().any():
            yield generator, OVERALL, name, int((panel.answers[column].eq(True).to_numpy(dtype=bool) & of).sum())


def _modified(passages: pd.Series[float]) -> Iterator[tuple[str, str, str, float]]:
    known = passages.dropna().astype(float)
    for low, high in NUMBERS if len(known) else ():
        name = f"{low}" if low == high else f"{low}+" if np.isinf(high) else f"{low}-{int(high)}"
        yield POOLED, MODIFIED + name, "records", int(known.between(low, high).sum())
    for name in ("median", "mean", "max") if len(known) else ():
        yield POOLED, OVERALL, f"modified_passages_{name}", float(getattr(known, name)())


def _labels(column: pd.Series[str], prefix: str) -> dict[str, NDArray[np.bool_]]:
    return {prefix + name: (column == name).to_numpy(dtype=bool) for name in sorted(set(column) - {""})}


def _share(generator: str, slice_: str, metric: str, part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> Ratio:
    return Ratio(Key(POOLED, generator, slice_, metric), (part & whole).astype(float), whole.astype(float), LABELLED)


def _counted(rows: Sequence[tuple[str, str, str, float]]) -> pd.DataFrame:
    """Numbers without an interval, from generator, slice, metric and value."""
    table = pd.DataFrame(rows, columns=["generator", "slice", "metric", "value"])
    value = table["value"].astype(float)
    return table.assign(judge=POOLED, value=value, ci_low=np.nan, ci_high=np.nan, n=value.astype("int64"), note="")
