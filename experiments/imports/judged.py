"""One judged trial as a source's record gives it, and what every reader needs to make one; knows no source format."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from judges.formats import Reading
from judges.records import Order, UserError, Verdict

Record = Mapping[str, Any]
NO_VERDICT = "none"
"""The source's own word on a trial: it found no verdict."""

_FLIPPED = {"A": "B", "B": "A"}
_T = TypeVar("_T")


class Malformed(UserError):
    """A record that is not what its format says; whoever read the file adds the place."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One row of the verdict table. All verdicts are in the item's own order, the source's too."""

    judge: str
    dataset: str
    item: str
    verdict: Verdict
    order: Order = "AB"
    method: str = "pairwise"
    format: str = ""
    source: str = ""
    group: str = ""
    gold: str | None = None
    reference: str = ""
    generator: str = ""
    repeat: int = 0
    temperature: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    stored: str = ""
    """The verdict that the source stored: A, B, tie, `none`, or a word of its own; empty if it stored nothing."""
    remark: str = ""
    """What a person should know of this row, such as why there is no verdict."""
    text_end: str = ""
    """The last words of the judge."""


def flipped(winner: str | None, order: Order) -> str | None:
    """A verdict from the shown order to the item's own, or back."""
    return winner if order == "AB" or winner is None else _FLIPPED.get(winner, winner)


def from_reading(reading: Reading, order: Order) -> tuple[Verdict, str]:
    """The verdict of a text that was read in the shown order, and why there is none."""
    winner = flipped(reading.winner, order)
    if winner is None:
        return Verdict("unreadable"), reading.problem
    return Verdict("tie" if winner == "tie" else "ok", winner=winner, repaired=reading.repaired), ""


def from_scores(a: float | None, b: float | None) -> Verdict:
    """The verdict that two scores make: the higher one wins, equal ones tie, a missing one leaves none."""
    if a is None or b is None:
        return Verdict("unreadable", score_a=a, score_b=b)
    winner = "tie" if a == b else "A" if a > b else "B"
    return Verdict("tie" if a == b else "ok", winner=winner, score_a=a, score_b=b)


def from_word(word: str) -> tuple[Verdict, str]:
    """The verdict that a source's word stands for; a word that is no verdict is unreadable and remarked on."""
    if word in ("A", "B", "tie"):
        return Verdict("tie" if word == "tie" else "ok", winner=word), ""
    return Verdict("unreadable"), "no verdict" if word == NO_VERDICT else f"the verdict string {word!r} is not known"


def on_scale(value: object, low: float, high: float, missing: Collection[float] = (-1,)) -> tuple[float | None, str]:
    """A stored score, or why it is none: not a number, a sentinel for 'no score', or outside its scale.

    >>> on_scale(0.5, 0, 1), on_scale(-1.0, 0, 1)[0], on_scale(float("nan"), 0, 1)[0]
    ((0.5, ''), None, None)
    """
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    if not math.isfinite(number):
        return None, f"the score {value!r} is not a number"
    if number in missing:
        return None, f"no score ({number:g} says so)"
    if not low <= number <= high:
        return None, f"the score {number:g} is outside its scale, {low:g} to {high:g}"
    return float(number), ""


def need(record: Record, key: str, kind: type[_T]) -> _T:
    """The value under `key`, which must be there and of this type.

    Raises:
        Malformed: names the field, and what was found.
    """
    if key not in record:
        raise Malformed(f"the field {key!r} is missing; found {', '.join(map(repr, record)) or 'no fields'}")
    value = record[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise Malformed(f"the field {key!r} must be {kind.__name__}, not {_short(value)}")
    return value


def word(record: Record, key: str, known: Mapping[str, str]) -> str:
    """What the word under `key` stands for; a word that is not known stands for itself, null for no verdict."""
    if key not in record:
        raise Malformed(f"the field {key!r} is missing; found {', '.join(map(repr, record)) or 'no fields'}")
    value = record[key]
    return NO_VERDICT if value is None else known.get(str(value), str(value))


def tail(text: str, length: int = 160) -> str:
    """The end of a judge's text, for a person who looks at its row."""
    return text[-length:].strip()


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
