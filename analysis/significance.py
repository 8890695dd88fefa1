"""Tests for two judges on the same pairs: exact McNemar, Holm's adjustment, and what a test could detect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

from analysis.bootstrap import Array

LEVEL = 0.05
POWER = 0.8


def mcnemar(only_one: int, only_other: int) -> float:
    """Exact two-sided p of McNemar's test; 1 where the two never differ.

    Of 6 pairs on which two judges differ, one judge is right on 5: p = 2 (6 + 1) / 2^6 = 0.219.
    """
    both = only_one + only_other
    return float(binomtest(only_one, both).pvalue) if both else 1.0


def holm(p: Sequence[float] | Array | pd.Series[float]) -> Array:
    """P values adjusted for how many there are (Holm 1979); NaNs stay and do not count.

    0.01, 0.04, 0.03 give 0.03, 0.06, 0.06.
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)[: int((~np.isnan(values)).sum())]
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def two_sided(difference: Array, error: Array) -> Array:
    """P of a normal difference with a standard error: 0.0196 with 0.01 gives 0.05; NaN with none, unless it is 0."""
    z = np.divide(np.abs(difference), error, out=np.full(np.shape(error), np.nan), where=error > 0)
    return np.where(difference == 0, np.where(np.isnan(error), np.nan, 1.0), 2 * ndtr(-z))


def detectable(error: Array, items: Array, planned: Array | int) -> Array:
    """Smallest difference that a 5 % test finds with 80 % power on `planned` items, from the error on `items`.

    An error of 0.02 on 400 items is one of 0.04 on 100, where (1.960 + 0.842) 0.04 = 0.112 can be found.
    """
    reach: Array = (ndtri(1 - LEVEL / 2) + ndtri(POWER)) * error * np.sqrt(items / np.asarray(planned))
    return reach
