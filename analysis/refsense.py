"""Is a judge too generous where it sees no reference? (study `refsense`)

Source: 001_1ea9d04442e7600e.txt, sections 3 and 5. What a judge said is laid out in `analysis.refsense_units`,
agreement with people is in `analysis.refsense_people`.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import refsense_people as people
from analysis.bootstrap import Array, Interval
from analysis.cells import OVERALL, Design, Metric, Sums, estimate, ratio
from analysis.columns import TableError
from analysis.matched import By, matched
from analysis.reference import ABSENT, CORRECT, INCORRECT, UNKNOWN, UNREAD, graded
from analysis.refsense_extracts import exact, normalised, same
from analysis.refsense_people import Partial
from analysis.refsense_units import named, units
from analysis.verdicts import CELL

Unreadable = Literal["drop", "reject"]
MATCHES = {"EAS_VS": (True, True), "EAS_VC": (True, False), "EAC_VS": (False, True), "EAC_VC": (False, False)}
"""Extracted answer same or changed, verdict same or changed."""


def items(table: pd.DataFrame, *, unreadable: Unreadable = "drop", partial: Partial = "incorrect") -> pd.DataFrame:
    """All units with their grades as words, see `analysis.refsense_units.units`; no rule changes them."""
    return named(units(table))


def refsense(
    table: pd.DataFrame,
    *,
    rng: np.random.Generator,
    replicates: int = 10_000,
    unreadable: Unreadable = "drop",
    partial: Partial = "incorrect",
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """Calibration, correctness in every setting, flips between settings, agreement with people, with intervals.

    Calibration, with an empty `reference`, over the items whose two answers both count:

    - C1, C2: share of right answers, and of other items' answers, that the judge accepts; CGP = C1 - C2. C1_worst and
      the like are what the unreadable verdicts allow at worst and at best.

    On models' answers in one setting, which `reference` names:

    - share_correct: share that the judge accepts. agreement, kappa: with the first person who labelled the answers,
      agreement_2, kappa_2 with the second, over answers with label and verdict.
    - same_model_delta, same_family_delta, with judge `*`: see `analysis.matched.matched`.

    Between two settings, `NR->RV`, over the answers read in both (n; the note counts the others):

    - flip_rate: share whose verdict differs. over_credit, under_credit, unknown_credit: share of the flips from CORRECT
      to INCORRECT, from INCORRECT to CORRECT, and from or to UNKNOWN.
    - EAS_VS EAS_VC EAC_VS EAC_VC: share with extracted answer same or changed, verdict same or changed; exactly the
      same, or, with `_norm`, once case, punctuation and the like are gone.

    share_unknown is the share of UNKNOWN among readable verdicts; share_invented, that of empty answers from which the
    judge copied something. C C I I in NR and I C C I in RV: flip_rate 2/4,
    over_credit 1/2, under_credit 1/2.

    Args:
        table: a verdict table, see `analysis.refsense_units.units`.
        rng: equal generators give equal intervals.
        replicates: bootstrap resamples of the groups; 0 for none.
        unreadable: `drop` leaves a verdict that cannot be read out (of a calibration both), `reject` counts it as not
            accepting the answer. Flips and agreement are over readable verdicts under either rule.
        partial: how a person's P counts: as `incorrect`, as `correct`, or not (`drop`).
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`): overall, by language and by category (the column source).

    Raises:
        TableError: the table is faulty, or its rows are no such trials.
    """
    made = design(table, unreadable=unreadable, partial=partial)
    found = estimate(made, rng=rng, replicates=replicates, interval=interval)
    rows = _shared(graded(table))
    if rows.empty:
        return found
    said = (rows["grade"] == "CORRECT").astype(float).mask(rows["grade"].isna() & (unreadable == "drop"))
    parts = {name: pd.Series(mask, rows.index) for name, mask in slices(rows).items() if name != OVERALL}
    for by in get_args(By):
        own = matched(rows, said, rng=rng, by=by, slices=parts, replicates=replicates, interval=interval)
        found = pd.concat([found, own[own["n"] > 0]], ignore_index=True)
    return found


def design(table: pd.DataFrame, *, unreadable: Unreadable = "drop", partial: Partial = "incorrect") -> Design:
    """Calibrations, answers in a setting and changes, and what each adds to the sums behind the metrics.

    Raises:
        TableError: the table is faulty, or its rows are no such trials.
    """
    if unreadable not in get_args(Unreadable):
        raise TableError(f"unreadable={unreadable!r}: choose {', '.join(get_args(Unreadable))}")
    found = units(table)
    flags = _calibration(found, unreadable) | _setting(found, unreadable) | _change(found)
    terms = {name: values.astype(float) for name, values in flags.items()} | people.terms(found, partial)
    return Design(found, terms, METRICS, slices(found), kinds=KINDS)


def slices(found: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """The whole, each language, and each category of the data sets that have two or more.

    Categories that only say the language again, as those of TyDi QA do, are none.
    """
    masks = {OVERALL: np.ones(len(found), dtype=bool)}
    masks |= {x: (found["language"] == x).to_numpy(dtype=bool) for x in sorted(set(found["language"]) - {"", OVERALL})}
    source = found["source"].mask(found["source"] == "")
    told = found[["dataset", "language"]].assign(source=source).dropna().drop_duplicates()
    twice = told["dataset"][told.duplicated(["dataset", "language"]) | told.duplicated(["dataset", "source"])]
    several = (source.groupby(found["dataset"]).transform("nunique") > 1) & found["dataset"].isin(twice)
    for category in sorted(source[several].dropna().unique()):
        name = f"category {category}" if category in masks else str(category)
        masks[name] = (several & (source == category)).to_numpy(dtype=bool)
    return masks


Flags = dict[str, NDArray[np.bool_]]


def _calibration(found: pd.DataFrame, unreadable: Unreadable) -> Flags:
    right, other = found["grade_1"].to_numpy(), found["grade_2"].to_numpy()
    calibration = (found["kind"] == "calibration").to_numpy()
    asked = calibration & (right != ABSENT) & (other != ABSENT)
    paired = asked & (right != UNREAD) & (other != UNREAD) if unreadable == "drop" else asked
    flags = {"calibrations": calibration, "asked": asked, "paired": paired}
    for name, grade in (("right", right), ("other", other)):
        accepted, unread = grade == CORRECT, grade == UNREAD
        ends = {name: paired & accepted, f"{name}_low": asked & accepted, f"{name}_high": asked & (accepted | unread)}
        flags |= ends
    return flags


def _setting(found: pd.DataFrame, unreadable: Unreadable) -> dict[str, NDArray[np.bool_] | NDArray[np.int64]]:
    grades, change = found[["grade_1", "grade_2"]].to_numpy(), (found["kind"] == "change").to_numpy()
    setting = (found["kind"] == "setting").to_numpy()
    return {
        "answers": setting,
        "graded": setting & ((grades[:, 0] != UNREAD) | (unreadable == "reject")),
        "accepted": setting & (grades[:, 0] == CORRECT),
        "empty": setting & _flag(found, "answer_empty"),
        "invented": setting & _flag(found, "answer_empty") & _flag(found, "invented"),
        "once": (grades != ABSENT).sum(axis=1) * ~change,
        "read_once": (grades >= 0).sum(axis=1) * ~change,
        "unknown": (grades == UNKNOWN).sum(axis=1) * ~change,
        "verdicts": (grades != ABSENT).sum(axis=1),
        "unreadable": (grades == UNREAD).sum(axis=1),
    }


def _flag(found: pd.DataFrame, name: str) -> NDArray[np.bool_]:
    column = found[name] if name in found else pd.Series(False, found.index)
    flags: NDArray[np.bool_] = (column == True).to_numpy(dtype=bool)  # noqa: E712  Null is not true.
    return flags


def _change(found: pd.DataFrame) -> Flags:
    one, other = found["grade_1"].to_numpy(), found["grade_2"].to_numpy()
    change = (found["kind"] == "change").to_numpy()
    both = change & (one >= 0) & (other >= 0)
    over, under = both & (one == CORRECT) & (other == INCORRECT), both & (one == INCORRECT) & (other == CORRECT)
    flips = both & (one != other)
    flags = {"changes": change, "both": both, "flips": flips, "over": over, "under": under}
    flags |= {"third": flips & ~over & ~under}
    if "extracted_1" not in found:
        found = found.assign(extracted_1=None, extracted_2=None)
    texts = found["extracted_1"], found["extracted_2"]
    known = [text.notna().to_numpy() for text in texts]
    flags |= {"extracts": both & known[0] & known[1], "any_extract": both & (known[0] | known[1])}
    for end, reduce in (("", exact), ("_norm", normalised)):
        alike = same(*texts, reduce)
        for name, (text_same, verdict_same) in MATCHES.items():
            flags[name + end] = flags["extracts"] & (alike == text_same) & (flips != verdict_same)
    return flags


def _shared(table: pd.DataFrame) -> pd.DataFrame:
    """The rows on models' answers in those settings that two or more judges have."""
    rows = table[(table["candidate"] == "") & (table["generator"] != "")]
    setting = [c for c in CELL if c not in ("judge", "generator")]
    cell = rows.groupby(setting, dropna=False).ngroup()
    return rows[rows["judge"].groupby(cell).transform("nunique") > 1]


def _share(name: str, part: str, whole: str, of: str, undefined: str) -> Metric:
    return Metric(name, lambda s: ratio(s[part], s[whole]), whole, of, undefined)


def _gap(name: str, right: str, other: str, whole: str) -> Metric:
    def value(s: Sums) -> Array:
        return ratio(s[right], s[whole]) - ratio(s[other], s[whole])

    return Metric(name, value, whole, "calibrations", _PAIRED)


_PAIRED = "needs an item with a verdict on its right and on another answer"
_BOTH = "needs an answer with a readable verdict in both settings"
_FLIPS = "no verdict differs between the settings"
_EXTRACTS = "needs an answer that was extracted in both settings"

METRICS: tuple[Metric, ...] = (
    _share("C1", "right", "paired", "calibrations", _PAIRED),
    _share("C2", "other", "paired", "calibrations", _PAIRED),
    _gap("CGP", "right", "other", "paired"),
    _share("C1_worst", "right_low", "asked", "calibrations", _PAIRED),
    _share("C2_worst", "other_high", "asked", "calibrations", _PAIRED),
    _gap("CGP_worst", "right_low", "other_high", "asked"),
    _share("C1_best", "right_high", "asked", "calibrations", _PAIRED),
    _share("C2_best", "other_low", "asked", "calibrations", _PAIRED),
    _gap("CGP_best", "right_high", "other_low", "asked"),
    _share("share_correct", "accepted", "graded", "answers", "needs a readable verdict"),
    _share("share_unknown", "unknown", "read_once", "once", "needs a readable verdict"),
    _share("share_invented", "invented", "empty", "empty", "needs an empty answer"),
    *people.metrics(),
    _share("flip_rate", "flips", "both", "changes", _BOTH),
    _share("over_credit", "over", "flips", "flips", _FLIPS),
    _share("under_credit", "under", "flips", "flips", _FLIPS),
    _share("unknown_credit", "third", "flips", "flips", _FLIPS),
    *(
        _share(f"{name}{end}", f"{name}{end}", "extracts", "any_extract", _EXTRACTS)
        for end in ("", "_norm")
        for name in MATCHES
    ),
)

KINDS = {m.name: m.of for m in METRICS} | dict.fromkeys(("over_credit", "under_credit", "unknown_credit"), "changes")
