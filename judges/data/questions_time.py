"""Questions about time: dates and the clock."""

import calendar
from datetime import date, datetime, timedelta
from random import Random

from judges.data.worked import Problem, conclude, slip

# calendar.month_name follows the locale; the texts must not.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def dates(rng: Random) -> Problem:
    """The date some days after another; the slip is a day too many or too few in the length of the first month."""
    shorter = rng.choice((True, False))
    lengths = (29, 31) if shorter else (28, 30)
    year = rng.randrange(2019, 2033)
    months = [m for m in range(1, 11) if calendar.monthrange(year, m)[1] in lengths]
    start = date(year, rng.choice(months), rng.randrange(9, 26))
    length = calendar.monthrange(start.year, start.month)[1]
    following = calendar.monthrange(start.year, start.month + 1)[1]
    into = rng.randrange(3, 26)
    two = rng.choice((True, False))
    days = length - start.day + into + (following if two else 0)

    def work(off: int) -> str:
        left = length + off - start.day
        after = days - left - (following if two else 0)
        month, over = _MONTHS[start.month - 1], _MONTHS[start.month]
        end = f"{after} {_MONTHS[start.month + two]} {year}"
        first = rng.choice(
            (
                f"{month} {year} has {length + off} days, so {left} of them are left after the given date.",
                f"Since {month} {year} has {length + off} days, {left} days remain in it after the given date.",
            )
        )
        used = f"All {following} days of {over} pass as well, and " if two else "After these, "
        last = rng.choice((f"{used}the other {after} days lead to {end}.", f"{used}{after} more days reach {end}."))
        return conclude((first, last), end)

    truth = start + timedelta(days=days)
    question = f"Which date is {days} days after {_written(start)}?"
    return Problem(question, _written(truth), work(0), work(-1 if shorter else 1))


def clock(rng: Random) -> Problem:
    """The time of arrival after two stages and a wait; the slip is in adding up the minutes or in the arrival."""
    start = datetime(2024, 1, 1, rng.randrange(5, 12), rng.randrange(1, 60))
    first, wait, second = (rng.randrange(low, high) for low, high in ((65, 230), (5, 40), (65, 230)))

    def work(in_sum: int, in_arrival: int) -> str:
        travel = first + second + in_sum
        total = travel + wait
        arrival = f"{start + timedelta(minutes=total + in_arrival):%H:%M}"
        stages = rng.choice(
            (
                f"The two rides take {_span(first)} and {_span(second)}, which is {_span(travel)} together.",
                f"{_span(first)} and {_span(second)} on the move add up to {_span(travel)}.",
            )
        )
        stop = rng.choice(
            (f"With the stop of {wait} min it is {_span(total)}.", f"The stop of {wait} min makes it {_span(total)}.")
        )
        return conclude((stages, stop, f"Counted from {start:%H:%M}, that ends at {arrival}."), arrival)

    off = slip(rng, 1, 10, 60)
    slips = rng.choice(((off, 0), (0, off)))
    question = (
        f"A train leaves at {start:%H:%M}, rides for {_span(first)}, stops for {wait} min "
        f"and rides for another {_span(second)}. At what time does it arrive?"
    )
    truth = start + timedelta(minutes=first + wait + second)
    return Problem(question, f"{truth:%H:%M}", work(0, 0), work(*slips))


def _written(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _span(minutes: int) -> str:
    return f"{minutes // 60} h {minutes % 60} min"
