"""The confusion of every judge with every generator: rates of cells, their means, and the raw diagonal contrast.

Source: 003_79504d017c0b1582.txt, tables 2, 14 and 18, appendix E.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Interval, Weights
from analysis.cells import OVERALL, Metric, Sums, ratio
from analysis.matched import Panel
from analysis.ratios import POOLED, Key, Mean, Ratio, estimates, ruled

Parts = Mapping[str, NDArray[np.bool_]]
"""Which answers each slice holds, (answers,) each."""
RAW = {"raw_recall_delta": "recall", "raw_avoided_delta": "false_positive_rate", "raw_all_delta": "flag_rate"}
"""The raw diagonal contrast of these rates: a judge's diagonal cell less the mean of its other cells."""
COUNTS = {"n": "known", "adopted": "adopted", "TP": "TP", "FP": "FP", "FN": "FN", "TN": "TN"}
"""Counts of verdicts, and the terms that hold them."""
_ADOPTED, _AVOIDED = "an answer that adopted the induced claim", "an answer that avoided the induced claim"


class Rate(NamedTuple):
    """One rate of a cell: sums of terms over sums of terms."""

    name: str
    part: tuple[str, ...]
    whole: tuple[str, ...]
    of: str
    """Term that counts what the whole would be if every verdict could be read and every answer were labelled."""
    needs: str


RATES: tuple[Rate, ...] = (
    Rate("precision", ("TP",), ("flagged",), "said", "a flag on a labelled answer"),
    Rate("recall", ("TP",), ("adopted",), "adopted_rows", _ADOPTED),
    # The harmonic mean of precision and recall: 134 TP, 9 FP, 39 FN give 268/316 = 0.848.
    Rate("f1", ("TP", "TP"), ("flagged", "adopted"), "", f"a flag on a labelled answer, or {_ADOPTED}"),
    Rate("false_positive_rate", ("FP",), ("avoided",), "avoided_rows", _AVOIDED),
    Rate("flag_rate", ("said",), ("known",), "rows", "a verdict"),
    Rate("citation_locality", ("local",), ("local_known",), "TP", "a true positive that cites a passage"),
    Rate("wrong_claim_contains_replacement", ("replaced",), ("replaced_known",), "TP", "a true positive with a claim"),
)
BOUNDS: tuple[Rate, ...] = (
    Rate("recall_worst", ("TP",), ("adopted_rows",), "", _ADOPTED),
    Rate("recall_best", ("TP", "adopted_unread"), ("adopted_rows",), "", _ADOPTED),
    Rate("false_positive_rate_worst", ("FP", "avoided_unread"), ("avoided_rows",), "", _AVOIDED),
    Rate("false_positive_rate_best", ("FP",), ("avoided_rows",), "", _AVOIDED),
)
"""What rates would be if every unreadable verdict had been wrong, or right."""


def _metric(rate: Rate) -> Metric:
    def value(sums: Sums) -> Array:
        return ratio(np.sum([sums[t] for t in rate.part], axis=0), np.sum([sums[t] for t in rate.whole], axis=0))

    return Metric(rate.name, value, rate.whole[-1], rate.of or rate.whole[-1], f"needs {rate.needs}")


METRICS = tuple(_metric(rate) for rate in (*RATES, *BOUNDS))


def matrix(panel: Panel, parts: Parts, weights: Weights, interval: Interval = "percentile") -> pd.DataFrame:
    """Rates and counts of every cell in every slice, means of F1 over cells, and raw diagonal contrasts.

    A mean over cells is undefined where F1 is in one of them; cells that have no verdicts don't count. Generator or
    judge `*` of a mean stands for all. Rates of 0 and 1 have intervals by the rule of three.

    Args:
        panel: answers and judges.
        parts: which answers each slice holds.
        weights: resamples of the panel's groups.
        interval: `percentile` or `bca`.

    Returns:
        One number a row: the columns of `analysis.ratios.estimates`, and share_unreadable of the row's verdicts.
    """
    cells = [(slice_, *cell) for slice_, mask in parts.items() for cell in _cells(panel, mask)]
    of = {slice_: (*RATES, *BOUNDS) if slice_ == OVERALL else RATES for slice_ in parts}
    ratios = (r for slice_, j, g, at in cells for r in rates(panel, at, Key(j, g, slice_, ""), of[slice_]))
    keys = [Key(j, g, slice_, "") for slice_, j, g, _ in cells]
    means = [m for slice_ in parts for m in (*_means(keys, slice_), *_raw(keys, slice_))]
    no_shares = {"f1", *(mean.key.metric for mean in means)}
    found = ruled(estimates(ratios, panel.groups, weights, interval, means), [*no_shares])
    tallies = [counts(panel, at, Key(j, g, slice_, "")) for slice_, j, g, at in cells]
    unread = {key: unreadable(panel, at) for key, (*_, at) in zip(keys, cells, strict=True)}
    found = pd.concat([found, *tallies], ignore_index=True)
    share = [unread.get(Key(j, g, s, ""), np.nan) for j, g, s in found[["judge", "generator", "slice"]].to_numpy()]
    return found.assign(share_unreadable=share)


def rates(panel: Panel, at: NDArray[np.bool_], key: Key, of: Sequence[Rate] = RATES) -> Iterator[Ratio]:
    """Rates of some verdicts, `at`, (answers, judges)."""
    sums = {name: np.einsum("aj,aj->a", panel.terms[name], at) for name in _terms(of)}
    for rate in of:
        part, whole = (np.sum([sums[t] for t in terms], axis=0) for terms in (rate.part, rate.whole))
        n = None if len(rate.whole) == 1 else sums["labelled"].sum()
        yield Ratio(key._replace(metric=rate.name), part, whole, rate.needs, n)


def _terms(of: Sequence[Rate]) -> list[str]:
    return ["labelled", *dict.fromkeys(term for rate in of for term in (*rate.part, *rate.whole))]


def counts(panel: Panel, at: NDArray[np.bool_], key: Key) -> pd.DataFrame:
    """The counts of some verdicts, `at`, (answers, judges); numbers without an interval."""
    values = [float((panel.terms[term] * at).sum()) for term in COUNTS.values()]
    rows = pd.DataFrame([key._replace(metric=name) for name in COUNTS], columns=list(Key._fields))
    return rows.assign(value=values, ci_low=np.nan, ci_high=np.nan, n=int(values[0]), note="")


def unreadable(panel: Panel, at: NDArray[np.bool_]) -> float:
    """Share of some verdicts, `at`, (answers, judges), that could not be read."""
    rows = float((panel.terms["rows"] * at).sum())
    return float((panel.terms["unreadable"] * at).sum()) / rows if rows else float("nan")


def _cells(panel: Panel, mask: NDArray[np.bool_]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Judge, generator and verdicts, (answers, judges), of every cell that has any."""
    generator = panel.answers["generator"].to_numpy(dtype=object)
    judges = panel.judges["judge"].to_numpy(dtype=object)
    for g in sorted(set(generator)):
        of_g = (mask & (generator == g))[:, None] & (panel.terms["rows"] > 0)
        for j in judges[of_g.any(axis=0)]:
            yield j, g, of_g & (judges == j)[None]


def _means(keys: Sequence[Key], slice_: str) -> Iterator[Mean]:
    """Means of F1 over rows, columns, the diagonal and the rest; each over the cells that there are."""
    cells = [key._replace(metric="f1") for key in keys if key.slice == slice_]
    for j in dict.fromkeys(key.judge for key in cells):
        yield Mean(Key(j, POOLED, slice_, "f1_row_mean"), [k for k in cells if k.judge == j])
    for g in dict.fromkeys(key.generator for key in cells):
        yield Mean(Key(POOLED, g, slice_, "f1_column_mean"), [k for k in cells if k.generator == g])
    for name, on in (("f1_diagonal_mean", True), ("f1_off_diagonal_mean", False)):
        if chosen := [k for k in cells if (k.judge == k.generator) is on]:
            yield Mean(Key(POOLED, POOLED, slice_, name), chosen)


def _raw(keys: Sequence[Key], slice_: str) -> Iterator[Mean]:
    """The raw diagonal contrasts of every judge that judged its own answers and others', and that of all of them."""
    cells = [key for key in keys if key.slice == slice_]
    sides = {j: ([k for k in cells if k[:2] == (j, j)], [k for k in cells if k[0] == j != k[1]]) for j, *_ in cells}
    sides = {j: both for j, both in sides.items() if all(both)}
    for name, rate in RAW.items():
        named = {j: tuple([k._replace(metric=rate) for k in side] for side in both) for j, both in sides.items()}
        for j, (own, others) in named.items():
            yield Mean(Key(j, POOLED, slice_, name), own, others)
        if named:
            whole = [[k for both in named.values() for k in both[side]] for side in (0, 1)]
            yield Mean(Key(POOLED, POOLED, slice_, name), *whole)
