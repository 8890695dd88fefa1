"""The same answer before several judges: how far the judge that wrote it differs from the others; knows no study.

Judges are compared on one answer, so what makes an answer hard, long or well written is the same on both sides. How
strict each judge is, is not: over all generators, each of which judges, it cancels; within one generator's answers
it is part of the difference.

Source: 003_79504d017c0b1582.txt, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bootstrap import Array, Interval, Weights, resample
from analysis.cells import OVERALL, TIDY, clusters, ratio, settings
from analysis.columns import Column, TableError, rows_where, typed
from analysis.ratios import POOLED, Key, Ratio, estimates
from analysis.verdicts import check

By = Literal["model", "family"]
Pairing = Literal["complete", "available"]
ANSWER = ("item", "generator", "candidate", "swap")
"""What tells one answer from another within a setting."""
NEEDS = "an answer that a matching judge and another one have judged, and all others"
FAMILY = Column("generator_family", "text", "family of models that wrote the answer", neutral="")


@dataclass(frozen=True, slots=True)
class Panel:
    """All judges of one data set in one setting of the factors, and what they said of every answer."""

    setting: Mapping[str, Any]
    """The columns of the cell but judge and generator."""
    answers: pd.DataFrame
    """One row an answer: `ANSWER`, group, generator_family and what else was carried."""
    judges: pd.DataFrame
    """judge, judge_family; in the order of the terms' second axis."""
    terms: Mapping[str, Array]
    """Sums over an answer's rows, such as repeats, by name; (answers, judges). 0 where there is no row."""

    @property
    def groups(self) -> NDArray[np.intp]:
        """What a bootstrap resamples together, as codes; (answers,)."""
        codes: NDArray[np.intp] = pd.factorize(clusters(self.answers), sort=True)[0]
        return codes

    def weights(self, replicates: int, seed: int) -> Weights:
        """Resamples of the groups; settings of one data set share them, and no other data set changes them."""
        draws = np.random.default_rng([seed, crc32(str(self.setting["dataset"]).encode())])
        return resample(np.zeros(int(self.groups.max()) + 1, dtype=np.int64), replicates, draws)


@dataclass(frozen=True, slots=True)
class Contrast:
    """The matching judges against the others on each answer, arrays of shape (answers,)."""

    own: Array
    """Mean of the matching judges; NaN where an answer is left out."""
    others: Array
    """Mean of the other judges; NaN likewise."""
    incomplete: NDArray[np.bool_]
    """A verdict is missing, or could not be read, that the pairing needs."""
    unmatched: NDArray[np.bool_]
    """No judge of the panel matches the generator, or all do."""

    @property
    def delta(self) -> Array:
        """`own - others`."""
        return self.own - self.others

    @property
    def note(self) -> str:
        """How many answers are left out, and why; empty if none."""
        lost = self.incomplete & ~self.unmatched
        reasons = {
            "without the verdicts to pair": int(lost.sum()),
            "without both a matching and another judge": int(self.unmatched.sum()),
        }
        return "; ".join(f"{n:,} of {len(lost):,} answers left out, {why}" for why, n in reasons.items() if n)


def panels(table: pd.DataFrame, terms: Mapping[str, pd.Series[float]], carried: Sequence[str] = ()) -> Iterator[Panel]:
    """Lays out a table's rows by answer and judge, one panel for each data set and setting of the factors.

    Args:
        table: a checked verdict table with the column generator_family.
        terms: numbers to be added up over the rows of each answer and judge, (rows,) each.
        carried: columns that say something of the answer.

    Raises:
        TableError: rows of one answer disagree about a carried column; names them.
    """
    rows = table.assign(**{f"term {name}": values for name, values in terms.items()})
    for setting, part in settings(rows, ("judge", "generator")):
        keys = part.groupby(list(ANSWER), dropna=False, sort=True).ngroup().to_numpy(dtype=np.int64)
        told = list(dict.fromkeys([*ANSWER, "group", FAMILY.name, *carried]))
        _check_told(part, keys, told)
        answers = part.iloc[np.unique(keys, return_index=True)[1]][told].reset_index(drop=True)
        judge, names = pd.factorize(part["judge"], sort=True)
        judges = pd.DataFrame({"judge": names, "judge_family": part.groupby("judge")["judge_family"].first()[names]})
        at, cells = keys * len(names) + judge, len(answers) * len(names)
        numbers = {name: part[f"term {name}"].to_numpy(dtype=float) for name in terms}
        sums = {name: np.bincount(at, of, cells).astype(float).reshape(-1, len(names)) for name, of in numbers.items()}
        yield Panel(setting, answers, judges.reset_index(drop=True), sums)


def contrast(
    panel: Panel, by: By = "model", *, pairing: Pairing = "complete", said: str = "said", known: str = "known"
) -> Contrast:
    """The mean of the judges that match an answer's generator less the mean of those that don't.

    Judges x, y, z flag (1, 0, 1) an answer of x: own 1, others 1/2, delta 1/2.

    Args:
        panel: answers and judges.
        by: whether judge and generator match by their names or by their families.
        pairing: `complete` compares only answers that every judge of the panel has judged readably; `available` those
            with a verdict on either side, by whoever gave one. The source's counts give its numbers under the latter.
        said: the term that sums what is contrasted.
        known: the term that counts how many rows were summed.

    Raises:
        TableError: there is but one judge.
    """
    if len(panel.judges) < 2:
        raise TableError(
            f"a paired effect needs at least two judges; {panel.setting['dataset']} has only "
            f"{', '.join(panel.judges['judge'])}"
        )
    judge, generator = ("judge", "generator") if by == "model" else ("judge_family", FAMILY.name)
    names = panel.answers[generator].to_numpy(dtype=object)[:, None]
    same = (names == panel.judges[judge].to_numpy(dtype=object)[None]) & (names != "")
    there = panel.terms[known] > 0
    unmatched: NDArray[np.bool_] = np.isin(same.sum(axis=1), (0, len(panel.judges)))
    either = (there & same).any(axis=1) & (there & ~same).any(axis=1)
    enough: NDArray[np.bool_] = np.asarray(there.all(axis=1) if pairing == "complete" else either)
    values = np.nan_to_num(ratio(panel.terms[said], panel.terms[known]))
    out = ~enough | unmatched
    sides = (same & there, ~same & there)
    own, others = (np.where(out, np.nan, ratio((values * side).sum(axis=1), side.sum(axis=1))) for side in sides)
    return Contrast(own, others, ~enough, unmatched)


def deltas(panel: Panel, found: Contrast, parts: Mapping[tuple[str, str], NDArray[np.bool_]]) -> Iterator[Ratio]:
    """Mean deltas over parts of the answers, over all generators and for each that is matched.

    Args:
        panel: answers and judges.
        found: their contrast.
        parts: which answers each (slice, metric) is about, (answers,) each.
    """
    usable = ~np.isnan(found.delta)
    delta = np.where(usable, found.delta, 0.0)
    generator = panel.answers["generator"].to_numpy(dtype=object)
    for (slice_, metric), part in parts.items():
        for name in (POOLED, *sorted(set(generator[usable]))):
            mask = usable & part & ((generator == name) | (name == POOLED))
            yield Ratio(Key(POOLED, name, slice_, metric), delta * mask, mask.astype(float), NEEDS)


def matched(
    table: pd.DataFrame,
    response: pd.Series[float],
    *,
    rng: np.random.Generator,
    by: By = "model",
    slices: Mapping[str, pd.Series[bool]] | None = None,
    replicates: int = 10_000,
    interval: Interval = "percentile",
) -> pd.DataFrame:
    """How much higher a response is where judge and generator match, on the same answers; for any study.

    Args:
        table: a verdict table with generators (see `analysis.verdicts`); generator_family for families.
        response: what a verdict says as a number, such as 1 for CORRECT and 0 for INCORRECT; NaN: not readable.
            One a row of the table.
        rng: equal generators give equal intervals.
        by: whether judge and generator match by their names or by their families.
        slices: parts of the rows, besides the whole; the rows of one answer belong to the same.
        replicates: bootstrap resamples of the groups; 0 for none.
        interval: `percentile` or `bca`.

    Returns:
        One number a row (`analysis.cells.TIDY`) with metric `same_model_delta` or `same_family_delta` and judge `*`;
        generator `*` is the mean over all answers. n counts answers.

    Raises:
        TableError: the table is faulty or has no generators, or a panel has but one judge.
    """
    rows = with_generators(check(table))
    masks = {name: mask.to_numpy(dtype=bool) for name, mask in (slices or {}).items()}
    rows = rows.assign(**{f"slice {name}": mask for name, mask in masks.items()})
    known = response.notna().astype(float)
    terms = {"said": response.fillna(0.0), "known": known, "rows": known * 0 + 1, "unreadable": 1 - known}
    seed, found = int(rng.integers(2**63)), []
    for panel in panels(rows, terms, [f"slice {name}" for name in masks]):
        pairs = contrast(panel, by)
        whole = np.ones(len(panel.answers), dtype=bool)
        parts = {(name, f"same_{by}_delta"): panel.answers[f"slice {name}"].to_numpy(dtype=bool) for name in masks}
        ratios = deltas(panel, pairs, {(OVERALL, f"same_{by}_delta"): whole, **parts})
        numbers = estimates(ratios, panel.groups, panel.weights(replicates, seed), interval)
        share = panel.terms["unreadable"].sum() / panel.terms["rows"].sum()
        found.append(with_note(numbers, pairs.note).assign(**panel.setting, share_unreadable=share))
    return pd.concat(found, ignore_index=True)[list(TIDY)]


def with_note(numbers: pd.DataFrame, also: str) -> pd.DataFrame:
    """The numbers with something more in each note."""
    return numbers.assign(note=["; ".join(filter(None, (note, also))) for note in numbers["note"]])


def with_generators(table: pd.DataFrame) -> pd.DataFrame:
    """The table with its column generator_family; refuses one without rows, or whose rows name no generator."""
    if table.empty:
        raise TableError("the verdict table has no rows")
    if (table["generator"] == "").all():
        raise TableError("column 'generator' is empty everywhere; the study needs to know who wrote each answer")
    return table.assign(generator_family=typed(table, FAMILY))


def _check_told(part: pd.DataFrame, keys: NDArray[Any], told: Sequence[str]) -> None:
    for column in told:
        differs = part[column].groupby(keys).transform("nunique", dropna=False) > 1
        if differs.any():
            raise TableError(
                f"column {column!r} differs between rows of one answer: {rows_where(differs)}; "
                "rows with the same item and generator are about the same answer"
            )
