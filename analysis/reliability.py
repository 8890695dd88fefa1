"""How far a verdict on a pair can be trusted: is it reproducible, order-invariant and correct? (study `trust`)

Source: 004_e1840bb43771aeee.txt, sections on the problem setting, the accuracy bound and the trustworthy
verdict rate. The indications N, P, R of a pair are read in `analysis.repeats`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.bootstrap import Array, Interval
from analysis.cells import Design, Metric, Sums, estimate, ratio, slices_by
from analysis.repeats import Unreadable, items


def trust(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "drop",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Reproducibility, order-invariance, correctness and their product in every cell, with intervals.

    With means over pairs and orders, orders weighted equally: C = mean N, phi = 1 - mean P, A = mean R, A_dec and
    q = mean R where P = 1 and P = 0, A-phi/2 as it says, T = C (A - phi/2), T_general = C (A - phi q), T_joint =
    mean N P R, T_joint_pair = share of pairs with N = P = R = 1 in both orders, gap = T - T_joint, bound =
    1 - phi/2 (A does not exceed it under forced choice), capability_gap = bound - A. delta_T_fmt = range of T over
    formats. Forced choice holds q at 1/2, where both forms of T are equal; in cells where ties or counted failures
    free it, T and A-phi/2 have phi q for phi/2 and the note says so. A_worst, T_worst, T_joint_worst and _best
    bound what A, T and T_joint would be, had all verdicts been readable: T is C times the mean of P R.

    C = 0.86, phi = 0.11, A = 0.645 give T = 0.86 (0.645 - 0.055) = 0.507.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        unreadable: `drop` or `fail`, see `items`.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`), overall and by source. n counts pairs and orders for C, A,
        A_AB, A_BA, A_dec, q, T_joint and gap, pairs for the others.

    Raises:
        TableError: the table is faulty, or its rows are not verdicts on pairs.
    """
    units = items(table, unreadable=unreadable)
    return estimate(design(units, unreadable=unreadable), rng=rng, replicates=replicates, interval=interval)


def design(units: pd.DataFrame, *, unreadable: Unreadable = "drop") -> Design:
    """The pairs, as `items` gives them under the same rule, and what each adds to the sums behind the metrics."""
    return Design(units, _terms(units, unreadable), METRICS, slices_by(units, units["source"]), {"delta_T_fmt": "T"})


def _terms(units: pd.DataFrame, unreadable: Unreadable) -> dict[str, Array]:
    """What each pair adds to the sums behind the metrics, (pairs,); `x_n` counts where x is defined."""
    n, r = units[["N_AB", "N_BA"]].to_numpy(), units[["R_AB", "R_BA"]].to_numpy()
    p = units["P"].to_numpy()[:, None]
    repeats, readable = (units[[f"{c}_AB", f"{c}_BA"]].to_numpy(dtype=float) for c in ("repeats", "readable"))
    failures = repeats - readable
    joint = n * p * r
    values = {"N": n, "P": p, "R": r, "R_AB": r[:, :1], "R_BA": r[:, 1:], "joint": joint}
    values |= {"R_dec": np.where(p == 1, r, np.nan), "R_flip": np.where(p == 0, r, np.nan)}
    values |= {"joint_pair": joint.prod(axis=1, keepdims=True)}
    free = (units["ties"] > 0) | (units["gold"] == "tie") | ((failures > 0).any(axis=1) & (unreadable == "fail"))
    return {
        **_sums(values | _possible(units)),
        "pairs": np.ones(len(units)),
        "places": (repeats > 0).sum(axis=1).astype(float),
        "free": free.to_numpy(dtype=float),
        "verdicts": repeats.sum(axis=1),
        "unreadable": failures.sum(axis=1),
    }


def _possible(units: pd.DataFrame) -> dict[str, Array]:
    """N, R, P R and N P R at their least and their most, were all verdicts readable; P R = 1 where R is 1 twice."""
    values: dict[str, Array] = {}
    for end in ("low", "high"):
        n, r = (units[[f"{x}_{end}_AB", f"{x}_{end}_BA"]].to_numpy() for x in "NR")
        both = r.prod(axis=1, keepdims=True)
        values |= {f"N_{end}": n, f"R_{end}_AB": r[:, :1], f"R_{end}_BA": r[:, 1:]}
        values |= {f"PR_{end}": both, f"joint_{end}": n * both}
    return values


def _sums(values: Mapping[str, Array]) -> dict[str, Array]:
    """Each value summed over a pair's orders, and, as `x_n`, the number of orders in which it is defined."""
    return {name: np.nansum(x, axis=1) for name, x in values.items()} | {
        f"{name}_n": (~np.isnan(x)).sum(axis=1).astype(float) for name, x in values.items()
    }


def _mean(term: str, s: Sums) -> Array:
    return ratio(s[term], s[f"{term}_n"])


def reproducible(s: Sums) -> Array:
    """C = mean N."""
    return _mean("N", s)


def flip_rate(s: Sums) -> Array:
    """Phi = 1 - mean P."""
    return 1 - _mean("P", s)


def accuracy(s: Sums, right: str = "R") -> Array:
    """A = mean of the accuracies in the two orders."""
    both: Array = _mean(f"{right}_AB", s) + _mean(f"{right}_BA", s)
    return both / 2


def decisive(s: Sums) -> Array:
    """A - phi q = (1 - phi) A_dec: what is right in both orders; nothing is taken off where no verdict flips."""
    flips = flip_rate(s)
    undecided: Array = np.where(flips == 0, 0.0, flips * _mean("R_flip", s))
    return accuracy(s) - undecided


def net_accuracy(s: Sums) -> Array:
    """A - phi/2, or A - phi q where q is not held at 1/2."""
    return np.where(s["free"] > 0, decisive(s), accuracy(s) - flip_rate(s) / 2)


def trust_rate(s: Sums) -> Array:
    """T = C (A - phi/2), or its general form where q is not held at 1/2."""
    return reproducible(s) * net_accuracy(s)


def bound(s: Sums) -> Array:
    """1 - phi/2, which A cannot exceed under forced choice."""
    return 1 - flip_rate(s) / 2


_REPEATS = "needs two readable repeats of a pair in one order"
_ORDERS = "needs a readable verdict on a pair in both orders"
_GOLD = "needs a gold label and a readable verdict in both orders"
_DESIGN = "needs a gold label, both orders and two repeats"
_FREE: Mapping[str, str] = {"free": "C (A - phi q), as ties or counted failures free q from 1/2"}
_NO_BOUND: Mapping[str, str] = {"free": "no bound on A, as ties or counted failures free q from 1/2"}


def _at_the_ends(case: str, end: str) -> tuple[Metric, ...]:
    """A, T = C mean(P R) and T_joint, were all verdicts readable and as bad, or as good, as they can be."""
    pairs, places = f"PR_{end}_n", f"joint_{end}_n"
    return (
        Metric(f"A_{case}", lambda s: accuracy(s, f"R_{end}"), pairs, pairs, "needs a gold label and both orders"),
        Metric(f"T_{case}", lambda s: _mean(f"N_{end}", s) * _mean(f"PR_{end}", s), pairs, pairs, _DESIGN),
        Metric(f"T_joint_{case}", lambda s: _mean(f"joint_{end}", s), places, places, _DESIGN),
    )


METRICS: tuple[Metric, ...] = (
    Metric("C", reproducible, "N_n", "places", _REPEATS),
    Metric("phi", flip_rate, "P_n", "pairs", _ORDERS),
    Metric("A", accuracy, "R_n", "places", _GOLD),
    Metric("A_AB", lambda s: _mean("R_AB", s), "R_AB_n", "R_AB_n", "needs a gold label and a readable verdict in AB"),
    Metric("A_BA", lambda s: _mean("R_BA", s), "R_BA_n", "R_BA_n", "needs a gold label and a readable verdict in BA"),
    Metric("A_dec", lambda s: _mean("R_dec", s), "R_dec_n", "R_dec_n", "no verdict is the same in both orders"),
    Metric("q", lambda s: _mean("R_flip", s), "R_flip_n", "R_flip_n", "no verdict differs between the orders"),
    Metric("A-phi/2", net_accuracy, "P_n", "pairs", _GOLD, _FREE),
    Metric("T", trust_rate, "pairs", "pairs", f"C {_REPEATS}; A {_GOLD}", _FREE),
    Metric("T_general", lambda s: reproducible(s) * decisive(s), "pairs", "pairs", f"C {_REPEATS}; A {_GOLD}"),
    Metric("T_joint", lambda s: _mean("joint", s), "joint_n", "places", f"N {_REPEATS}; P and R: {_GOLD}"),
    Metric("T_joint_pair", lambda s: _mean("joint_pair", s), "joint_pair_n", "pairs", f"N {_REPEATS}; R {_GOLD}"),
    Metric("gap", lambda s: trust_rate(s) - _mean("joint", s), "joint_n", "places", f"C {_REPEATS}; A {_GOLD}", _FREE),
    Metric("bound", bound, "P_n", "pairs", _ORDERS, _NO_BOUND),
    Metric("capability_gap", lambda s: bound(s) - accuracy(s), "P_n", "pairs", _GOLD, _NO_BOUND),
    *_at_the_ends("worst", "low"),
    *_at_the_ends("best", "high"),
)
