"""How many calls may be under way at an endpoint: found out from how long they take and when they are turned away.

It grows while more calls under way bring more answers a second, and shrinks at once where the endpoint says so. Knows
nothing of what is asked.
"""

from dataclasses import dataclass

_START = 16
_FEWEST = 8  # Answers that a judgement of a limit rests on, at least.
_WORTH = 1.1  # What doubling the calls under way must bring, as a factor of the answers a second.
_BETTER = 1.03
_CUT = 0.7


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a call was begun under."""

    era: int
    full: bool
    """As many calls were under way as were allowed, so that its length says something of the limit."""


class Pace:
    """The limit, and what is known of it; times are seconds of any one clock."""

    def __init__(self, ceiling: int) -> None:
        self.limit = min(_START, ceiling)
        """Calls that may be under way."""
        self.quiet_until = 0.0
        """When the next call may begin, where the endpoint asked for a pause."""
        self._ceiling = ceiling
        self._era = 0
        self._seconds: list[float] = []
        self._doubling = True
        self._turned_away = False
        self._base: tuple[int, float] = (0, 0.0)
        self._up = False

    def begin(self, under_way: int) -> Ticket:
        """A call begins beside `under_way` others."""
        return Ticket(self._era, under_way + 1 >= self.limit)

    def succeeded(self, ticket: Ticket, seconds: float) -> None:
        """A call begun under a ticket was answered after so many seconds."""
        if ticket.era != self._era or not ticket.full:
            return
        self._seconds.append(seconds)
        if len(self._seconds) >= max(_FEWEST, 0.75 * self.limit):
            # With n calls under way that take s seconds each, n / s are answered a second.
            self._judge(self.limit / max(sum(self._seconds) / len(self._seconds), 1e-9))

    def turned_away(self, ticket: Ticket, now: float, wait: float | None) -> None:
        """A call met a rate limit or an overloaded endpoint, which may have named a pause."""
        if wait:
            self.quiet_until = max(self.quiet_until, now + wait)
        if ticket.era == self._era:  # Those begun before the last cut say nothing of the limit after it.
            self._turned_away, self._doubling = True, False
            self._set(int(self.limit * _CUT))

    def _judge(self, rate: float) -> None:
        limit = self.limit
        if self._turned_away:
            self._set(limit + max(1, limit // 20))
        elif self._doubling:
            best, best_rate = self._base
            if rate >= best_rate * _WORTH and limit < self._ceiling:
                self._base = limit, rate
                self._set(2 * limit)
            else:
                self._doubling = False
                self._base = (limit, rate) if rate >= best_rate else (best, best_rate)
                self._set(self._base[0])
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
