"""What an output format is, and what reading a text by it gives; knows no format."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from judges.records import Constraint


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says. No winner exactly when `problem` says why."""

    winner: str | None
    repaired: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A confidence that a judge puts into words."""

    confidence: float | None
    """0 to 1; None where none can be read. What lies outside its scale is not moved into it."""
    repaired: bool = False
    """The text did not follow the format to the letter."""


@dataclass(frozen=True, slots=True)
class Format:
    """One way of asking for a verdict; its instruction is the template of the same name."""

    read: Callable[[str], Reading]
    max_tokens: int
    constraint: Constraint | None = None
    """What the text may be under structured output; None where the format has room for free text."""
    labels: tuple[str, ...] = ()
    """How the first answer shown is named in the verdict, and how the second, where log-probabilities can tell."""
    label_after: str = ""
    """What stands before the verdict, as `Request.label_after`. Empty: nothing does."""
    confidence: Callable[[str], "Stated"] | None = None
    """Reads the confidence that the text states, in formats that ask for one."""


def agreed(winners: Iterable[str], repaired: bool) -> Reading:
    """The one verdict that all statements make; none, or contradicting ones, are unreadable."""
    found = set(winners)
    if len(found) == 1:
        return Reading(found.pop(), repaired)
    return Reading(None, problem="contradicting verdicts" if found else "no verdict")
