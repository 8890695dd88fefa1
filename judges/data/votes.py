"""A pair's gold from people's votes: what more than half of them say, if that is one of the answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TIE = "tie"

NO_VOTE = "no vote on them"
TIED = "a tie by the majority of their votes"
DIVIDED = "no verdict with more than half of their votes"

PREFERENCES: Mapping[str, str] = {"0": TIE, "1": "A", "2": "B"}
"""Labels of the Alpaca family of data sets: which output is preferred, or neither."""


class Settled(NamedTuple):
    """What the votes on one pair come to."""

    gold: str | None
    unfit: str
    """Why a study that asks for the better answer leaves the pair out; empty when there is a gold."""


def settle(votes: Sequence[str]) -> Settled:
    """The verdict of more than half of the votes, a tie being a verdict like any other; one vote is its own majority.

    Pairs whose majority is a tie have no better answer, and pairs without a majority have none that people agree on:
    both are unfit, each for a reason of its own. Ties are not split, and no vote outweighs another.

    Args:
        votes: `A`, `B` or `tie`, one a vote.

    >>> settle(["A", "A", "tie"]).gold, settle(["A", "B"]).unfit == DIVIDED, settle(["tie", "tie", "B"]).unfit == TIED
    ('A', True, True)
    """
    if not votes:
        return Settled(None, NO_VOTE)
    verdict, n = Counter(votes).most_common(1)[0]
    if 2 * n <= len(votes):
        return Settled(None, DIVIDED)
    return Settled(None, TIED) if verdict == TIE else Settled(verdict, "")
