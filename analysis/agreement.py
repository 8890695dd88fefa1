"""How far raters agree on labels, beyond chance; knows neither judges nor verdict tables.

A missing label (null) is left out, never counted as a disagreement or as a label of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Labels = Sequence[Hashable | None] | pd.Series
TIE = "tie"


def percent_agreement(a: Labels, b: Labels) -> float:
    """Share of the cases labelled by both raters that they label alike.

    >>> percent_agreement(["A", "A", "B", None], ["A", "B", "B", "A"])
    0.6666666666666666

    Args:
        a: labels of one rater, (cases,).
        b: labels of the other on the same cases, (cases,).

    Returns:
        A share from 0 to 1; NaN if no case has both labels.
    """
    table = _table(a, b)
    return _ratio(float(np.trace(table)), float(table.sum()))


def cohen_kappa(a: Labels, b: Labels) -> float:
    """Cohen's kappa: agreement beyond what the two raters' own label shares make by chance.

    kappa = (p_o - p_e) / (1 - p_e), p_e = sum over labels of the product of the raters' shares.

    AABB against ABBB: p_o = 3/4, p_e = 2/4 * 1/4 + 2/4 * 3/4 = 1/2, kappa = 1/2.

    >>> cohen_kappa(list("AABB"), list("ABBB"))
    0.5

    Args:
        a: labels of one rater, (cases,).
        b: labels of the other on the same cases, (cases,).

    Returns:
        At most 1; NaN if no case has both labels, or both raters use one label throughout.

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    shares = _shares(a, b)
    expected = float(shares.sum(axis=1) @ shares.sum(axis=0))
    return _beyond(float(np.trace(shares)), expected)


def gwet_ac1(a: Labels, b: Labels) -> float:
    """Gwet's AC1: as kappa, but chance agreement does not grow as one label comes to prevail.

    p_e = sum over the q labels of pi (1 - pi) / (q - 1), pi = the label's share averaged over the raters.

    AABB against ABBB: pi_A = 3/8, p_e = 2 * 3/8 * 5/8 = 15/32, AC1 = (3/4 - 15/32) / (17/32) = 9/17.

    >>> round(gwet_ac1(list("AABB"), list("ABBB")) * 17, 9)
    9.0

    Args:
        a: labels of one rater, (cases,).
        b: labels of the other on the same cases, (cases,).

    Returns:
        At most 1; NaN if no case has both labels, or only one label is ever used.

    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement.
    """
    shares = _shares(a, b)
    if len(shares) < 2:
        return float("nan")
    pi = (shares.sum(axis=1) + shares.sum(axis=0)) / 2
    return _beyond(float(np.trace(shares)), float((pi * (1 - pi)).sum()) / (len(shares) - 1))


def krippendorff_alpha(units: Labels, labels: Labels) -> float:
    """Krippendorff's alpha for nominal labels by any number of raters, some of them missing.

    alpha = 1 - D_o / D_e over pairs of labels of one unit; a unit with one label has no pair and is left out.

    Units x: A A, y: A B, z: B B: D_o = 2/6 of the coincidences differ, D_e = 2 * 3 * 3 / (6 * 5) = 3/5, alpha = 4/9.

    >>> round(krippendorff_alpha(list("xxyyzz"), list("AAABBB")) * 9, 9)
    4.0

    Args:
        units: what each label is about, (labels,).
        labels: one label each, whoever gave it, (labels,).

    Returns:
        At most 1; NaN if no unit has two labels, or only one label is ever used.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability, C.
    """
    counts = _counts(units, labels).to_numpy(dtype=float)
    paired = counts[counts.sum(axis=1) > 1]
    m, of_label = paired.sum(axis=1), paired.sum(axis=0)
    n = float(of_label.sum())
    observed = float(((m**2 - (paired**2).sum(axis=1)) / (m - 1)).sum())
    expected = (n**2 - float((of_label**2).sum())) / (n - 1) if n else 0.0
    return 1 - _ratio(observed, expected)


def majority(units: Labels, labels: Labels) -> pd.Series[str]:
    """The label that most raters give each unit; a unit on which several lead is a `tie`.

    >>> majority(list("xxxyy"), ["A", "A", "B", "A", "B"]).to_dict()
    {'x': 'A', 'y': 'tie'}
    """
    counts = _counts(units, labels)
    most = counts.max(axis=1)
    leads = counts.eq(most, axis=0).sum(axis=1)
    return counts.idxmax(axis=1).where(leads == 1, TIE)


def _counts(units: Labels, labels: Labels) -> pd.DataFrame:
    """How often each unit was given each label, (units, labels)."""
    found = pd.DataFrame({"unit": list(units), "label": list(labels)}).dropna()
    return pd.crosstab(found["unit"], found["label"])


def _table(a: Labels, b: Labels) -> NDArray[np.int64]:
    """Cases by the two raters' labels, (labels, labels); only those that both labelled."""
    if len(a) != len(b):
        raise ValueError(f"the raters must label the same cases: {len(a)} and {len(b)} labels")
    both = pd.DataFrame({"a": list(a), "b": list(b)}).dropna()
    codes, names = pd.factorize(pd.concat([both["a"], both["b"]]))
    rows, columns = codes[: len(both)], codes[len(both) :]
    table = np.bincount(rows * len(names) + columns, minlength=len(names) ** 2)
    return table.reshape(len(names), len(names)).astype(np.int64)


def _shares(a: Labels, b: Labels) -> NDArray[np.float64]:
    table = _table(a, b)
    shares: NDArray[np.float64] = table / max(int(table.sum()), 1)
    return shares


def _beyond(observed: float, expected: float) -> float:
    # Shares that sum to 1 only up to rounding must not turn the undefined 0 / 0 into a number.
    return float("nan") if expected == 0 or 1 - expected < 1e-12 else (observed - expected) / (1 - expected)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
