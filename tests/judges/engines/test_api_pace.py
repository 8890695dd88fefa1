"""The pace against endpoints made of arithmetic: no clock but the simulation's."""

import heapq

import numpy as np
import pytest

from judges.engines.api_pace import Pace


def simulate(pace, calls, seconds, turns_away=None):
    """How long so many calls take, and the limit at the end.

    Args:
        seconds: of a call, from how many others are under way when it begins and the time.
        turns_away: from how many are under way to the pause asked for, or None to let the call in.
    """
    now, begun, done, under_way = 0.0, 0, 0, []
    while done < calls:
        while begun < calls and len(under_way) < pace.limit and now >= pace.quiet_until:
            ticket = pace.begin(len(under_way))
            pause = turns_away(len(under_way)) if turns_away else None
            if pause is not None:
                pace.turned_away(ticket, now, pause)
                now += 0.01
                continue
            length = seconds(len(under_way), now)
            heapq.heappush(under_way, (now + length, begun, ticket, length))
            begun += 1
        if under_way:
            now, _, ticket, length = heapq.heappop(under_way)
            pace.succeeded(ticket, length)
            done += 1
        else:
            now = pace.quiet_until
    return now, pace.limit


def slots(n, rng=None):
    """An endpoint that answers n at a time, in about a second each, and lets the rest wait in line."""
    free = [0.0] * n

    def seconds(_, now):
        end = max(now, heapq.heappop(free)) + (rng.lognormal(-0.045, 0.3) if rng else 1.0)
        heapq.heappush(free, end)
        return end - now

    return seconds


@pytest.mark.parametrize("n", [3, 10, 48, 100, 200])
@pytest.mark.parametrize("noisy", [False, True])
def test_near_the_best_throughput_whatever_the_endpoint_holds(n, noisy):
    calls = 60 * n
    took, limit = simulate(Pace(256), calls, slots(n, np.random.default_rng(n) if noisy else None))
    assert calls / n / took > 0.85
    assert limit >= 0.7 * n


def test_calls_are_not_heaped_upon_an_endpoint_that_answers_no_faster():
    _, limit = simulate(Pace(256), 3000, slots(10))
    assert limit <= 40


def test_an_endpoint_that_slows_down_under_load_is_not_driven_there():
    def congested(under_way, _=0.0):
        return 1.0 + ((under_way + 1) / 40) ** 3

    calls = 4000
    best = max(n / congested(n - 1) for n in range(1, 257))
    took, limit = simulate(Pace(256), calls, congested)
    assert calls / took > 0.8 * best
    assert 10 <= limit <= 80


def test_the_ceiling_holds():
    pace = Pace(5)
    assert simulate(pace, 500, slots(1000))[1] <= 5 and pace.limit <= 5


def test_what_is_turned_away_shrinks_the_limit_at_once_and_it_stays_near_what_is_let_in():
    def crowded(under_way):
        return 0.0 if under_way >= 30 else None

    calls = 3000
    took, limit = simulate(Pace(256), calls, lambda *_: 1.0, crowded)
    assert calls / took > 0.6 * 30
    assert limit <= 40


def test_one_cut_for_all_calls_that_were_under_way_together():
    pace = Pace(256)
    tickets = [pace.begin(i) for i in range(pace.limit)]
    before = pace.limit
    for ticket in tickets:
        pace.turned_away(ticket, 0.0, None)
    assert pace.limit == int(before * 0.7)


def test_a_pause_that_was_asked_for_is_kept():
    pace = Pace(16)
    pace.turned_away(pace.begin(0), 100.0, 30.0)
    pace.turned_away(pace.begin(0), 101.0, 5.0)
    assert pace.quiet_until == 130.0
