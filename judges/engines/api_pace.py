"""How many calls may be under way at an endpoint: found out from how long they take and when they are turned away.

It grows while more calls under way bring more answers a second, and shrinks at once where the endpoint says so. Knows
nothing of what is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_START = 24
_FEWEST = 8  # Answers that a judgement of a limit rests on, at least.
_WORTH = 1.1  # What doubling the calls under way must bring, as a factor of the answers a second.
_BETTER = 1.03
_CUT = 0.7


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a call was begun under."""

    era: int
    load: int
    """Calls under way, its own included, where that was as many as were allowed; else 0: it says nothing of a limit."""


class Pace:
    """The limit, and what is known of it; times are seconds of any one clock.

    First it rises by one with every answer, so that it doubles in the time of a call. When a doubling has not brought
    more answers a second, it goes back to the best and looks about from there, a quarter up or a fifth down. Once it
    was turned away, it rises by a twentieth in the time of a call.
    """

    def __init__(self, ceiling: int) -> None:
        self.limit = min(_START, ceiling)
        """Calls that may be under way."""
        self.quiet_until = 0.0
        """When the next call may begin, where the endpoint asked for a pause."""
        self._ceiling = ceiling
        self._era = 0
        self._seconds: list[float] = []
        self._rising: dict[int, list[tuple[int, float]]] | None = {}
        """While it rises: by doublings of the load, loads and seconds of the calls begun under them."""
        self._borne = _START
        """The greatest load under which a call was answered: it rises to twice as much at most."""
        self._turned_away = False
        self._base: tuple[int, float] = (0, 0.0)
        self._up = False

    def begin(self, under_way: int) -> Ticket:
        """A call begins beside `under_way` others."""
        return Ticket(self._era, under_way + 1 if under_way + 1 >= self.limit else 0)

    def succeeded(self, ticket: Ticket, seconds: float) -> None:
        """A call begun under a ticket was answered after so many seconds."""
        if self._rising is not None:
            self._borne = max(self._borne, ticket.load)
            self.limit = max(self.limit, min(self.limit + 1, 2 * self._borne, self._ceiling))
            if ticket.load:
                self._rise(self._rising, ticket.load, seconds)
        elif ticket.era == self._era and ticket.load:
            self._seconds.append(seconds)
            if len(self._seconds) >= max(_FEWEST, 0.75 * self.limit):
                self._judge(_rate([(self.limit, s) for s in self._seconds]))

    def turned_away(self, ticket: Ticket, now: float, wait: float | None) -> None:
        """A call met a rate limit or an overloaded endpoint, which may have named a pause."""
        if wait:
            self.quiet_until = max(self.quiet_until, now + wait)
        if ticket.era == self._era:  # Those begun before the last cut say nothing of the limit after it.
            self._turned_away, self._rising = True, None
            self._set(int(self.limit * _CUT))

    def _rise(self, rising: dict[int, list[tuple[int, float]]], load: int, seconds: float) -> None:
        """Ends the rise where twice the load has not brought more answers a second, or the ceiling is reached."""
        doubling = load.bit_length()
        here = rising.setdefault(doubling, [])
        here.append((load, seconds))
        if len(here) < max(_FEWEST, load // 4):
            return
        before = rising.get(doubling - 1, ())
        paid = not before or _rate(here) >= _rate(before) * _WORTH
        if paid and load < self._ceiling:
            return
        best = here if paid else before
        self._rising = None
        self._base = (max(n for n, _ in best), _rate(best))
        self._set(self._base[0])

    def _judge(self, rate: float) -> None:
        if self._turned_away:
            self._set(self.limit + max(1, self.limit // 20))
        else:
            self._climb(rate)

    def _climb(self, rate: float) -> None:
        """At the best limit known: measures it anew; beside it, up and down by turns: moves there if that is better."""
        best, best_rate = self._base
        if self.limit == best:
            self._base = best, rate
            self._up = not self._up
            self._set(best + max(1, best // 4) if self._up else best - max(1, best // 5))
        else:
            if rate >= best_rate * (_BETTER if self.limit > best else 1.0):
                self._base = self.limit, rate
            self._set(self._base[0])

    def _set(self, limit: int) -> None:
        self.limit = max(1, min(limit, self._ceiling))
        self._era += 1
        self._seconds.clear()


def _rate(calls: Sequence[tuple[int, float]]) -> float:
    """Answers a second: with n calls under way that take s seconds each, n / s."""
    return sum(n for n, _ in calls) / max(sum(s for _, s in calls), 1e-9)
