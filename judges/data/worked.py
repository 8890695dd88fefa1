"""A question whose answer a program can check, with two worked answers: one right, one with a single slip in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

_FINAL = "\nFinal answer: "


@dataclass(frozen=True, slots=True)
class Problem:
    """One question, its true answer, and two worked answers in the same manner."""

    question: str
    truth: str
    """The final answer, computed otherwise than by working through the steps."""
    right: str
    wrong: str
    """Carries one slip through to its consequence; everything after the slip follows from it."""


def conclude(sentences: Sequence[str], answer: object) -> str:
    """A worked answer: its sentences, then a line that states the final answer."""
    return " ".join(sentences) + f"{_FINAL}{answer}"


def final_answer(text: str) -> str:
    """The final answer that a worked answer states: `"... = 12.\\nFinal answer: 12"` gives `"12"`."""
    return text.rpartition(_FINAL)[2]


def slip(rng: Random, *sizes: int) -> int:
    """The size of a slip, as often too much as too little, so that the larger result is no sign of the error."""
    return rng.choice(sizes) * rng.choice((-1, 1))


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, ... up to `20th`."""
    return f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }"


def listed(words: Sequence[object]) -> str:
    """`a, b and c`."""
    *most, last = (str(word) for word in words)
    return f"{', '.join(most)} and {last}" if most else last
