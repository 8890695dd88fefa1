"""Signals of how sure a judge is of a verdict, all of them about the same verdicts.

The verdict is the majority of a judge's repeats on one pair in one order, as in `analysis.repeats`. Whether a signal is
worth anything is asked in `analysis.quality`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis import pairs as judged
from analysis.bootstrap import Array
from analysis.columns import TableError
from analysis.pairs import NONE, Codes, Pairs
from analysis.repeats import count_votes, leading
from analysis.verdicts import CELL, ORDERS, WINNERS

LOGPROBS = "python -m experiments experiment=confidence judge=... data=... logprobs=true"
"""The command that records log-probabilities."""
ABSENT = -1
"""Stands for a row that there is none of."""
BESIDE = ("p_first", "p_tie", "label_mass", "confidence", "score_a", "score_b", "prompt_tokens", "completion_tokens")
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Signal:
    """One way to say how sure a judge is of its verdict."""

    meaning: str
    needs: str
    """What a table must hold, and which command records it."""
    probability: bool = True
    """May it be read as the probability that the verdict is right?"""


_PASS = f"log-probabilities; {LOGPROBS} records them"
SIGNALS: Mapping[str, Signal] = {
    "margin": Signal("log-probability of the verdict less that of the likeliest other label", _PASS, False),
    "p": Signal("probability of the verdict, renormalised over the labels", _PASS),
    "p_mean": Signal("the same, averaged over the repeats", f"two repeats with {_PASS}"),
    "repeats": Signal("share of the readable repeats that give the verdict", "two readable repeats (repeats=K)"),
    "orders": Signal("is the first readable verdict in the other order the same?", "a readable verdict in both orders"),
    "formats": Signal("share of the other formats whose first readable verdict is the same", "two formats or more"),
    "stated": Signal(
        "confidence that the judge states with the verdict", "the column 'confidence': a format that asks for it"
    ),
    "reward_margin": Signal(
        "score of the verdict's answer less that of the other", "scores of both answers (method=reward)", False
    ),
}


def places(table: pd.DataFrame) -> pd.DataFrame:
    """Every verdict with all signals, one row a place: a pair in one order, in a cell.

    The verdict is the majority of the place's readable repeats (an exact split: the first one's). Signals that one call
    gives are read from the first repeat that has them: `p` and `margin` from the first with log-probabilities, `stated`
    from the first that gives the verdict and a confidence, `reward_margin` from the first with two scores. `orders` and
    `formats` hold the verdict against the first readable verdict of the other order, and of each other format of the
    same judge, order and factors. `repeats` and `p_mean` read all repeats.

    Verdicts A A B, p_first 0.8 in the first repeat, first verdict in the other order B: the verdict is A, p 0.8, margin
    log(0.8 / 0.2) = 1.386, repeats 2/3, orders 0.

    Args:
        table: a verdict table on pairs (see `analysis.verdicts`).

    Returns:
        The columns of the cell and the item, order, verdict, correct (null without a gold label or a readable
        verdict), one column a signal (null: not recorded; infinite margins are allowed), label_mass, and the counts
        behind them: repeats_asked, readable; calls_SIGNAL and tokens_SIGNAL of the calls that the signal reads, each
        call counted once.

    Raises:
        TableError: the table is faulty, its rows are not verdicts on pairs, or the probabilities exceed one together.
    """
    found = judged.pairs(table, beside=(*BESIDE, "requests"))
    votes = count_votes(found).reshape(-1, len(WINNERS))
    verdict = leading(found, votes.reshape(-1, len(ORDERS), len(WINNERS))).ravel()
    place = found.unit * len(ORDERS) + found.order
    asked = np.bincount(place, minlength=len(verdict))
    family = _family(found)
    first = first_rows(place, found.winner != NONE, len(verdict))
    signals, read = _recorded(found, place, verdict)
    signals |= _agreement(found, votes, verdict, first, family)
    gold = np.repeat(found.gold, len(ORDERS))
    readable = votes.sum(axis=1)
    columns = {
        "order": np.tile(np.array(ORDERS, dtype=object), len(found.units)),
        "verdict": np.array([*WINNERS, None], dtype=object)[verdict],
        "correct": np.where((verdict != NONE) & (gold != NONE), verdict == gold, np.nan),
        **{name: signals[name] for name in SIGNALS},
        "label_mass": _at(found.beside["label_mass"].to_numpy(dtype=float), read["p"]),
        "repeats_asked": asked,
        "readable": readable,
        **_costs(found, place, read | dict.fromkeys(("orders", "formats"), first), family),
    }
    wide = found.units.loc[found.units.index.repeat(len(ORDERS))].reset_index(drop=True)
    return wide.assign(**columns)[asked > 0].reset_index(drop=True)


def _recorded(found: Pairs, place: Codes, verdict: Codes) -> tuple[dict[str, Array], dict[str, Rows]]:
    """Signals that the judge's calls carry with them, and the row that each is read from, both (places,)."""
    chances = probabilities(found.beside)
    known, given = ~np.isnan(chances[:, 0]), verdict[place]
    scores = found.beside[["score_a", "score_b"]].to_numpy(dtype=float)
    stated = found.beside["confidence"].to_numpy(dtype=float)
    with np.errstate(invalid="ignore"):
        lead = scores[:, 0] - scores[:, 1]
    read = {
        "p": first_rows(place, known, len(verdict)),
        "stated": first_rows(place, ~np.isnan(stated) & (found.winner == given) & (given != NONE), len(verdict)),
        "reward_margin": first_rows(place, ~np.isnan(lead), len(verdict)),
    }
    read["margin"] = read["p"]
    chosen = np.take_along_axis(chances, np.maximum(given, 0)[:, None], axis=1)[:, 0]
    chosen = np.where(given == NONE, np.nan, chosen)
    sums, count = (np.bincount(place[known], w, minlength=len(verdict)) for w in (chosen[known], None))
    signals = {
        "margin": _at(_margins(chances, given), read["p"]),
        "p": _at(chosen, read["p"]),
        "p_mean": np.where(count >= 2, sums / np.maximum(count, 1), np.nan),
        "stated": _at(stated, read["stated"]),
        "reward_margin": _at(lead * np.array([1.0, -1.0, np.nan, np.nan])[given], read["reward_margin"]),
    }
    return signals, read


def _agreement(found: Pairs, votes: Codes, verdict: Codes, first: Rows, family: Codes) -> dict[str, Array]:
    """Signals that hold the verdict against other verdicts, (places,)."""
    readable = votes.sum(axis=1)
    own = np.take_along_axis(votes, np.maximum(verdict, 0)[:, None], axis=1)[:, 0]
    said = np.where(first == ABSENT, NONE, found.winner[first])
    across = said.reshape(-1, len(ORDERS))[:, ::-1].ravel()
    tally = np.zeros((family.max() + 1, len(WINNERS)))
    np.add.at(tally, (family[said != NONE], said[said != NONE]), 1)
    others = tally[family].sum(axis=1) - 1
    same = tally[family, np.maximum(verdict, 0)] - (said == verdict)
    known = verdict != NONE
    return {
        "repeats": np.where(readable >= 2, own / np.maximum(readable, 1), np.nan),
        "orders": np.where(known & (across != NONE), across == verdict, np.nan),
        "formats": np.where(known & (others > 0), same / np.maximum(others, 1), np.nan),
    }


def _costs(found: Pairs, place: Codes, read: Mapping[str, Rows], family: Codes) -> dict[str, Array]:
    """Calls behind each signal and their tokens, prompt and completion, by place; a call counts once in a place."""
    requests = found.beside["requests"]
    again = (requests != "") & pd.DataFrame({"place": place, "call": requests}).duplicated()
    calls = np.where(again, 0.0, requests.str.count(" ").to_numpy(dtype=float) + 1)
    tokens = found.beside[["prompt_tokens", "completion_tokens"]].to_numpy(dtype=float, na_value=np.nan).sum(axis=1)
    costs: dict[str, Array] = {}
    for unit, each in {"calls": calls, "tokens": np.where(again, 0.0, tokens)}.items():
        whole: Array = np.bincount(place, each, minlength=len(family)).astype(float)
        one = {name: np.where(rows == ABSENT, 0.0, each[rows]) for name, rows in read.items()}
        costs |= {f"{unit}_{name}": one[name] for name in ("margin", "p", "stated", "reward_margin")}
        costs |= {f"{unit}_{name}": whole for name in ("p_mean", "repeats")}
        costs[f"{unit}_orders"] = one["orders"].reshape(-1, len(ORDERS)).sum(axis=1).repeat(len(ORDERS))
        costs[f"{unit}_formats"] = np.bincount(family, one["formats"]).astype(float)[family]
    return costs


def probabilities(beside: pd.DataFrame) -> Array:
    """Probabilities of A, B and tie, (rows, 3); NaN where none were recorded."""
    first, tie = beside["p_first"].to_numpy(dtype=float), beside["p_tie"].fillna(0.0).to_numpy(dtype=float)
    if (first + tie > 1 + 1e-6).any():
        worst = float(np.nanmax(first + tie))
        raise TableError(f"columns 'p_first' and 'p_tie' sum to {worst:.6g} in a row; together they are at most 1")
    return np.column_stack([first, np.clip(1 - first - tie, 0, 1), np.where(np.isnan(first), np.nan, tie)])


def _margins(chances: Array, given: Codes) -> Array:
    """Log-odds of the verdict against the likeliest other label, (rows,); infinite where one of them is impossible."""
    picked = np.arange(len(WINNERS)) == given[:, None]
    own = np.where(picked, chances, 0).sum(axis=1)
    other = np.where(picked, 0, chances).max(axis=1)
    with np.errstate(divide="ignore"):
        return np.where((given == NONE) | np.isnan(chances[:, 0]), np.nan, np.log(own) - np.log(other))


def _family(found: Pairs) -> Codes:
    """Places that differ in their format alone, by number, (places,)."""
    keys = [*(c for c in CELL if c != "format"), "item"]
    family: Codes = found.units.groupby(keys, dropna=False, sort=False).ngroup().to_numpy().astype(np.int64)
    return (family[:, None] * len(ORDERS) + np.arange(len(ORDERS))).ravel()


def first_rows(place: Codes, rows: NDArray[np.bool_], places: int) -> Rows:
    """The first of these rows in each place, (places,)."""
    first = np.full(places, ABSENT)
    at = np.flatnonzero(rows)[::-1]
    first[place[at]] = at
    return first


def _at(values: Array, rows: Rows) -> Array:
    return np.where(rows == ABSENT, np.nan, values[rows])
