"""How far a judge agrees with people, and people with each other, on a model's answer (study `refsense`).

Source: 001_1ea9d04442e7600e.txt, section 5.3 and appendix A.3.4. People also say `P`, partially correct; the source
does not tell how that enters an agreement of two labels, so it is a choice.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.agreement import cohen_kappa, percent_agreement
from analysis.bootstrap import Array
from analysis.cells import Metric, Sums, ratio
from analysis.columns import TableError
from analysis.reference import CORRECT, INCORRECT, UNKNOWN, codes
from analysis.refsense_units import HUMANS, LABELS

Partial = Literal["incorrect", "correct", "drop"]
SAID = {"c": CORRECT, "i": INCORRECT, "u": UNKNOWN}
"""What a judge can say; UNKNOWN agrees with nobody."""


def two_labels(labels: pd.Series[str], partial: Partial) -> NDArray[np.int64]:
    """CORRECT, INCORRECT or -1: nobody labelled the answer, or partially correct ones are dropped."""
    if partial not in get_args(Partial):
        raise TableError(f"partial={partial!r}: choose {', '.join(get_args(Partial))}")
    places = codes(labels, LABELS)
    partly = {"correct": CORRECT, "incorrect": INCORRECT, "drop": -1}[partial]
    return np.where(places == LABELS.index("P"), partly, places)


def terms(found: pd.DataFrame, partial: Partial) -> dict[str, Array]:
    """What each unit adds to the sums behind agreement: answers by what the judge and the person said."""
    grade, setting = found["grade_1"].to_numpy(), (found["kind"] == "setting").to_numpy()
    sums: dict[str, NDArray[np.bool_]] = {}
    for human in HUMANS:
        label = two_labels(found[human], partial) if human in found else np.full(len(found), -1)
        labelled = setting & (label >= 0)
        sums |= {f"{human}_labelled": labelled, f"{human}_read": labelled & (grade >= 0)}
        for said, code in SAID.items():
            sums |= {f"{human}_{said}{x}": labelled & (grade == code) & (label == SAID[x]) for x in "ci"}
    return {name: flags.astype(float) for name, flags in sums.items()}


def agreement(s: Sums, human: str = "human") -> Array:
    """Share of answers on which judge and person say the same."""
    return ratio(s[f"{human}_cc"] + s[f"{human}_ii"], s[f"{human}_read"])


def kappa(s: Sums, human: str = "human") -> Array:
    """Cohen's kappa of judge and person; NaN where both say one thing throughout.

    Judge C C I I, person C I I I: agreement 3/4, by chance 2/4 * 1/4 + 2/4 * 3/4 = 1/2, kappa 1/2.
    """
    n = s[f"{human}_read"]
    judge = {said: s[f"{human}_{said}c"] + s[f"{human}_{said}i"] for said in "ci"}
    person = {x: s[f"{human}_c{x}"] + s[f"{human}_i{x}"] + s[f"{human}_u{x}"] for x in "ci"}
    chance = ratio(judge["c"] * person["c"] + judge["i"] * person["i"], n * n)
    beyond = np.where((chance > 0) & (chance < 1 - 1e-12), 1 - chance, 0.0)
    return ratio(agreement(s, human) - chance, beyond)


def metrics() -> tuple[Metric, ...]:
    """agreement and kappa with the first person, agreement_2 and kappa_2 with the second."""
    undefined = "needs an answer that a person labelled and the judge's verdict on it"
    one = "needs a second label: judge and person say one thing throughout"
    found: list[Metric] = []
    for human, end in zip(HUMANS, ("", "_2"), strict=True):
        n, of = f"{human}_read", f"{human}_labelled"
        found += [
            Metric(f"agreement{end}", lambda s, human=human: agreement(s, human), n, of, undefined),  # type: ignore[misc]
            Metric(f"kappa{end}", lambda s, human=human: kappa(s, human), n, of, one),  # type: ignore[misc]
        ]
    return tuple(found)


def annotators(found: pd.DataFrame) -> pd.DataFrame:
    """What people said of each model's answers, and how far they agree on C, I and P (table 8 of the source).

    Args:
        found: units, see `analysis.refsense_units.units`; an answer that several judges saw counts once.

    Returns:
        One row a data set, category and generator: the share of C, I, P by each person, agreement and kappa of the two
        where both labelled, and n, the answers that both did.

    Raises:
        TableError: nobody labelled an answer; two rows on one answer have different labels.
    """
    answer = ["dataset", "language", "source", "generator", "item", "repeat"]
    labelled = found.reindex(columns=[*answer, "kind", *HUMANS]).query("kind == 'setting'")
    labelled = labelled.dropna(subset=list(HUMANS), how="all")
    if labelled.empty:
        raise TableError("no answer has a label in 'human' or 'human_2'")
    labels = labelled[[*answer, *HUMANS]].drop_duplicates()
    twice = labels.duplicated(answer)
    if twice.any():
        one = labels[twice].iloc[0]
        raise TableError(f"answers of one generator to item {one['item']} have several labels; keep one of them")
    rows = []
    for keys, part in labels.groupby(answer[:4], dropna=False, sort=True):
        shares = {f"{h} {x}": (part[h].dropna() == x).mean() for h in HUMANS for x in LABELS}
        both = part.dropna(subset=list(HUMANS))
        pair = both["human"], both["human_2"]
        agreed = {"agreement": percent_agreement(*pair), "kappa": cohen_kappa(*pair), "n": len(both)}
        rows.append(dict(zip(answer[:4], keys, strict=True)) | shares | agreed)
    return pd.DataFrame(rows)
