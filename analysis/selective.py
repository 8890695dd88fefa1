"""Ranking verdicts by confidence: does it tell right from wrong, and what does leaving out the least sure ones gain?

Everything is a function of two counts at each level of confidence, from the highest down: verdicts so far, and right
ones among them. Verdicts with equal confidence form one level and are kept or left out together.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.cells import ratio


def levels(scores: Array, most: int | None = None) -> NDArray[np.intp]:
    """The level of each score, (n,), 0 for the highest; at most `most` levels, of about equally many scores each.

    >>> levels(np.array([0.9, 0.5, 0.9, 0.7])).tolist()
    [0, 2, 0, 1]
    """
    codes = pd.factorize(-scores, sort=True)[0].astype(np.intp)
    if most is None or codes.size == 0 or codes.max() < most:
        return codes
    before = np.cumsum(np.bincount(codes)) - np.bincount(codes)
    return pd.factorize(before * most // len(codes), sort=True)[0].astype(np.intp)[codes]


def auroc(kept: Array, right: Array) -> Array:
    """Chance that a right verdict has more confidence than a wrong one, equal confidence counting half.

    >>> curve = cumulated(np.array([0.9, 0.8, 0.7, 0.7]), np.array([1, 0, 1, 0]))
    >>> auroc(*curve).tolist()  # of 2 x 2 (right, wrong): 0.9 beats both, 0.7 loses one and ties one
    [0.625]

    Args:
        kept: verdicts at or above each level, (levels, R).
        right: those of them that are right, (levels, R).

    Returns:
        (R,); NaN where all verdicts are right or all wrong.
    """
    wrong = kept - right
    between = right.copy()
    between[1:] += right[:-1]
    drops = np.diff(wrong, axis=0, prepend=0.0)
    return ratio(np.einsum("lr,lr->r", between, drops) / 2, right[-1] * wrong[-1])


def aurc(kept: Array, right: Array) -> Array:
    """Area under the risk-coverage curve: the share of wrong verdicts among those kept, averaged over coverages.

    Each verdict adds the risk of keeping all that are as sure as it is, or surer (Geifman & El-Yaniv 2017).

    >>> aurc(*cumulated(np.array([0.9, 0.8, 0.7]), np.array([1, 0, 1]))).round(4).tolist()  # (0 + 1/2 + 1/3) / 3
    [0.2778]

    Args:
        kept: verdicts at or above each level, (levels, R).
        right: those of them that are right, (levels, R).
    """
    added = np.diff(kept, axis=0, prepend=0.0)
    share = np.divide(right, kept, out=np.zeros_like(kept), where=kept > 0)
    return 1 - ratio(np.einsum("lr,lr->r", added, share), kept[-1])


def accuracy_at(kept: Array, right: Array, coverage: float) -> Array:
    """Share right among the surest verdicts, so many levels as are needed to keep at least this share of all.

    >>> accuracy_at(*cumulated(np.array([0.9, 0.8, 0.7]), np.array([1, 0, 1])), coverage=0.5).tolist()
    [0.5]
    """
    # Sums of weights are whole numbers: what is left to rounding is less than a thousandth of a verdict.
    short = kept < coverage * kept[-1] - 1e-3
    below = np.add.reduce(short, axis=0, dtype=np.uint8 if len(kept) < 256 else np.intp)
    at = np.minimum(below, len(kept) - 1), np.arange(kept.shape[1])
    return ratio(right[at], kept[at])


def coverage_at(kept: Array, right: Array, risk: float) -> Array:
    """Largest share of verdicts that can be kept with no more than this share wrong among them; 0 if there is none.

    >>> coverage_at(*cumulated(np.array([0.9, 0.8, 0.7]), np.array([1, 0, 1])), risk=0.4).tolist()
    [1.0]
    """
    allowed = kept - right <= risk * kept + 1e-9
    return ratio((kept * allowed).max(axis=0), kept[-1])


def cumulated(scores: Array, right: Array) -> tuple[Array, Array]:
    """Verdicts at or above each level and those of them that are right, (levels, 1)."""
    at = levels(scores)
    kept, correct = (np.cumsum(np.bincount(at, weights))[:, None].astype(float) for weights in (None, right))
    return kept, correct
