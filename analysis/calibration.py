"""Is a confidence of 0.8 right eight times in ten? Calibration errors over bins of confidence.

Everything is a function of sums over bins: how many verdicts, their confidences, how many are right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.bootstrap import Array
from analysis.cells import ratio

BINS = 10


def by_width(confidence: Array, bins: int = BINS) -> NDArray[np.intp]:
    """The bin of each confidence, (n,), all bins being equally wide: [0, 0.1), [0.1, 0.2), ... [0.9, 1].

    >>> by_width(np.array([0.0, 0.05, 0.3, 0.7, 1.0])).tolist()
    [0, 0, 3, 7, 9]
    """
    # 0.3 * 10 and 0.7 * 10 are a hair beside 3 and 7.
    return np.clip((confidence * bins + 1e-9).astype(np.intp), 0, bins - 1)


def by_mass(confidence: Array, bins: int = BINS) -> NDArray[np.intp]:
    """The bin of each confidence, (n,), all bins holding about equally many; equal confidences share a bin.

    >>> by_mass(np.array([0.1, 0.2, 0.2, 0.9]), bins=2).tolist()
    [0, 0, 0, 1]
    """
    ordered = np.sort(confidence)
    below = np.searchsorted(ordered, confidence, side="left")
    return (below * bins // max(len(ordered), 1)).astype(np.intp)


def ece(n: Array, confidence: Array, right: Array) -> Array:
    """Expected calibration error: mean distance between confidence and share right, bins weighted by their size.

    Two bins, 3 verdicts of mean confidence 0.6 with 1 right and 1 of 0.9 that is right:
    3/4 |1/3 - 0.6| + 1/4 |1 - 0.9| = 0.225.

    >>> ece(np.array([[3.0], [1.0]]), np.array([[1.8], [0.9]]), np.array([[1.0], [1.0]])).round(4).tolist()
    [0.225]

    Args:
        n: verdicts of each bin, (bins, R).
        confidence: their confidences summed, (bins, R).
        right: those that are right, (bins, R).
    """
    return ratio(np.abs(right - confidence).sum(axis=0), n.sum(axis=0))


def ece_debiased(n: Array, confidence: Array, right: Array) -> Array:
    """Root of the mean squared calibration error, less what chance alone puts into it; never below 0.

    From each bin's squared distance the estimated variance y (1 - y) / (n - 1) of its share right is taken off (Kumar,
    Liang & Ma 2019, Verified uncertainty calibration, section 4). Verdicts of a bin are taken to be independent.

    Four verdicts of confidence 0.5, one of them right: (1/4 - 1/2)^2 - 1/4 3/4 / 3 = 0. Three right of four with 0.25:
    1/4 - 1/16 = 0.1875, whose root is 0.433.

    >>> four = np.array([[4.0]])
    >>> [ece_debiased(four, np.array([[c]]), np.array([[y]])).round(3).item() for c, y in ((2, 1), (1, 3))]
    [0.0, 0.433]
    """
    share = np.nan_to_num(ratio(right, n))
    squared = np.nan_to_num(ratio(right - confidence, n)) ** 2
    chance = np.where(n > 1, share * (1 - share) / np.maximum(n - 1, 1), 0.0)
    error: Array = np.sqrt(np.maximum(ratio((n * (squared - chance)).sum(axis=0), n.sum(axis=0)), 0))
    return error
