"""A judge's rate corrected by few gold labels: the true rate from many verdicts, with an interval that carries both.

Verdicts are numbers from 0 to 1: the share of a judge's verdicts on an item that are positive (CORRECT; A wins). Gold
labels are 0 or 1. Items without a label are the many, items with one the few; labelled items must be a random sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.bootstrap import Array

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its interval: NaN from 0 to 1 where nothing can be said of it, and `note` says why."""

    value: float
    low: float
    high: float
    note: str = ""


def judged(verdicts: Array, level: float = LEVEL) -> Rate:
    """What the judge says, uncorrected, (n,) verdicts: its interval knows nothing of the judge's errors."""
    return _about(float(verdicts.mean()), float(verdicts.var(ddof=1) / len(verdicts)), np.inf, level)


def labelled(gold: Array, level: float = LEVEL) -> Rate:
    """The gold labels alone, (n,), with Wilson's interval.

    >>> rate = labelled(np.array([1.0] * 7 + [0.0] * 3))
    >>> [round(x, 3) for x in (rate.value, rate.low, rate.high)]
    [0.7, 0.397, 0.892]
    """
    z, n, p = _z(level), len(gold), float(gold.mean())
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Rate(p, float(middle - reach), float(middle + reach))


def rogan_gladen(verdicts: Array, labelled_verdicts: Array, gold: Array, level: float = LEVEL) -> Rate:
    """Rate corrected by the judge's sensitivity and specificity (Rogan & Gladen 1978), clipped to 0 and 1.

    rate = (m - f) / (s - f): m the mean verdict without labels, s its mean on items whose label is 1 (sensitivity),
    f on those whose label is 0 (1 - specificity). m = 0.5, s = 0.8, f = 0.2 give (0.5 - 0.2) / 0.6 = 0.5. The interval
    holds all rates x for which m - f - x (s - f) is no farther from 0 than chance lets it be (Fieller 1954), s and f
    being estimated with one positive and one negative verdict more (Agresti & Coull 1998).

    >>> many, few = np.tile([1.0, 0.0], 500), np.repeat([1.0, 0.0, 1.0, 0.0], [40, 10, 10, 40])
    >>> rate = rogan_gladen(many, few, np.repeat([1.0, 0.0], 50))
    >>> [round(x, 3) for x in (rate.value, rate.low, rate.high)]
    [0.5, 0.348, 0.652]

    Args:
        verdicts: of the items without a label, (N,).
        labelled_verdicts: of those with one, (n,).
        gold: their labels, (n,).
        level: of the interval.
    """
    if not 0 < gold.mean() < 1:
        return _unknown(f"needs labels of both kinds; all {len(gold)} are {'positive' if gold.all() else 'negative'}")
    if not len(verdicts):
        return _unknown("needs verdicts on items without a label")
    hits, alarms = labelled_verdicts[gold == 1], labelled_verdicts[gold == 0]
    m, s, f = verdicts.mean(), hits.mean(), alarms.mean()
    if s <= f:
        return _unknown("the judge's positive verdicts are no more frequent where the label is positive")
    (s_, var_s), (f_, var_f) = _smoothed(hits), _smoothed(alarms)
    var_m = verdicts.var() / len(verdicts)
    low, high = _fieller(m - f_, s_ - f_, var_m + var_f, var_s + var_f, var_f, _z(level))
    return Rate(float(np.clip((m - f) / (s - f), 0, 1)), max(low, 0.0), min(high, 1.0))


def prediction_powered(verdicts: Array, labelled_verdicts: Array, gold: Array, level: float = LEVEL) -> Rate:
    """Rate by prediction-powered inference with power tuning (PPI++; Angelopoulos, Duchi & Zrnic 2023, section 6).

    rate = mean(gold - w f) over the labelled + w mean(f) over the others, the weight w = cov(gold, f) / ((1 + n / N)
    var(f)), held between 0 and 1, making its variance least. Verdicts that say nothing get the weight 0, which leaves
    the labels alone. So that few labels get no interval too short, it is computed with four labelled items more, one of
    each kind of label and verdict (Agresti & Coull 1998), and with Student's t of n - 1 degrees of freedom.

    Verdicts that are always positive: w = 0, rate = 3/4, as the labels say.

    >>> prediction_powered(np.ones(9), np.ones(4), np.array([1.0, 1.0, 1.0, 0.0])).value
    0.75

    Args:
        verdicts: of the items without a label, (N,).
        labelled_verdicts: of those with one, (n,).
        gold: their labels, (n,).
        level: of the interval.
    """
    n = len(gold)
    if n < 2:
        return _unknown("needs two labels or more")
    value, _ = _powered(verdicts, labelled_verdicts, gold)
    more = np.concatenate([labelled_verdicts, [1, 0, 1, 0]]), np.concatenate([gold, [1, 0, 0, 1]])
    rate = _about(*_powered(verdicts, *more), n - 1, level)
    return Rate(float(np.clip(value, 0, 1)), max(rate.low, 0.0), min(rate.high, 1.0))


def _powered(verdicts: Array, labelled_verdicts: Array, gold: Array) -> tuple[float, float]:
    """The rate and its variance."""
    weight, many = tuned(verdicts, labelled_verdicts, gold), len(verdicts)
    rest = gold - weight * labelled_verdicts
    value, variance = rest.mean(), rest.var(ddof=1) / len(gold)
    if many:
        value, variance = value + weight * verdicts.mean(), variance + weight**2 * verdicts.var() / many
    return float(value), float(variance)


def tuned(verdicts: Array, labelled_verdicts: Array, gold: Array) -> float:
    """The weight of the verdicts in `prediction_powered`, from 0 to 1."""
    n, many = len(gold), len(verdicts)
    variance = np.concatenate([verdicts, labelled_verdicts]).var()
    if not many or variance == 0:
        return 0.0
    covariance = np.cov(gold, labelled_verdicts, ddof=0)[0, 1]
    return float(np.clip(covariance / ((1 + n / many) * variance), 0, 1))


def labels_needed(verdicts: Array, labelled_verdicts: Array, gold: Array, width: float, level: float = LEVEL) -> int:
    """How many of the items need a label so that the PPI++ interval is no wider than `width`; 0: not even all do.

    Variances and the covariance are those seen so far. Of n labelled and N other items, N + n as now, the variance at
    the best weight is var(gold) / n - cov^2 / (var(f) n (1 + n / N)).

    Labels of variance 1/4 and useless verdicts: 4 1.96^2 / 4 / 0.2^2 = 96.04, so 97 labels for a width of 0.2;
    Student's t makes it 99.

    >>> noise, gold = np.tile([1.0, 0.0], 500), np.repeat([1.0, 0.0], 500)
    >>> labels_needed(noise, noise, gold, width=0.2)
    99
    """
    from scipy.special import stdtrit

    total = len(verdicts) + len(gold)
    n = np.arange(2, total + 1)
    f = np.concatenate([verdicts, labelled_verdicts])
    covariance, spread = np.cov(gold, labelled_verdicts)[0, 1], f.var(ddof=1)
    explained = max(covariance, 0.0) ** 2 / spread if spread > 0 else 0.0
    # n (1 + n / N) is n total / N.
    variance = gold.var() / n - min(explained, gold.var()) * (total - n) / (n * total)
    enough = 2 * stdtrit(n - 1.0, (1 + level) / 2) * np.sqrt(np.maximum(variance, 0)) <= width
    return int(n[enough.argmax()]) if enough.any() else 0


def _smoothed(verdicts: Array) -> tuple[float, float]:
    """Mean and its variance with one positive and one negative verdict more."""
    more = np.concatenate([verdicts, [1.0, 0.0]])
    return float(more.mean()), float(more.var() / len(more))


def _fieller(
    above: float, below: float, var_above: float, var_below: float, shared: float, z: float
) -> tuple[float, float]:
    """All x with (above - x below)^2 <= z^2 var(above - x below), where the two have the covariance `shared`."""
    a = below**2 - z**2 * var_below
    b = above * below - z**2 * shared
    c = above**2 - z**2 * var_above
    root = b**2 - a * c
    if a <= 0 or root < 0:
        # The judge is too near to guessing: no rate can be ruled out.
        return 0.0, 1.0
    return float((b - np.sqrt(root)) / a), float((b + np.sqrt(root)) / a)


def _about(value: float, variance: float, freedom: float, level: float) -> Rate:
    from scipy.special import stdtrit

    quantile = _z(level) if np.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
    return Rate(value, value - quantile * np.sqrt(variance), value + quantile * np.sqrt(variance))


def _z(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _unknown(why: str) -> Rate:
    return Rate(np.nan, 0.0, 1.0, f"undefined: {why}")
