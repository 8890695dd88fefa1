"""Questions of logic: what a small program prints, who comes at a place, whether a statement holds."""

from itertools import pairwise
from random import Random

from judges.data.questions_text import exchanged
from judges.data.worked import Problem, conclude, listed, ordinal

_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea", "Mia", "Noor")


def code(rng: Random) -> Problem:
    """What a loop prints; the slip is a round too many or too few at its end."""
    return rng.choice((_summing, _growing))(rng)


def _summing(rng: Random) -> Problem:
    start, step, rounds = rng.randrange(1, 9), rng.randrange(2, 6), rng.randrange(4, 8)
    stop = start + step * rounds - rng.randrange(1, step)
    times, skipped = rng.randrange(2, 6), start + step * rng.randrange(1, rounds - 1)

    def work(off: int) -> str:
        values = [i for i in range(start, start + step * (rounds + off), step) if i != skipped]
        added = [i * times for i in values]
        first = rng.choice(
            (
                f"Apart from {skipped}, which is skipped, i takes the values {listed(values)}.",
                f"The loop visits {listed(values)}, and it skips {skipped}.",
            )
        )
        second = f"Each is multiplied by {times}, so the numbers added are {listed(added)}."
        end = rng.choice((f"Their sum is {sum(added)}.", f"Together they make {sum(added)}."))
        return conclude((first, second, end), sum(added))

    program = (
        f"total = 0\nfor i in range({start}, {stop}, {step}):\n    if i == {skipped}:\n        continue\n"
        f"    total += i * {times}\nprint(total)"
    )
    truth = times * (sum(range(start, stop, step)) - skipped)
    return Problem(_asked(program), str(truth), work(0), work(rng.choice((-1, 1))))


def _growing(rng: Random) -> Problem:
    start, times, plus, rounds = rng.randrange(2, 9), rng.randrange(2, 4), rng.randrange(1, 7), rng.randrange(4, 7)
    before = [start]
    while len(before) <= rounds:
        before.append(before[-1] * times + plus)
    limit = rng.randrange(before[-2] + 1, before[-1] + 1)

    def work(off: int) -> str:
        values = [start]
        while len(values) <= rounds + off:
            values.append(values[-1] * times + plus)
        first = rng.choice(
            (
                f"Starting from {start}, x becomes {listed(values[1:])}.",
                f"x begins as {start} and takes the values {listed(values[1:])}.",
            )
        )
        second = rng.choice(
            (f"The loop ends there because of its limit of {limit}.", f"With the limit of {limit} it stops at that.")
        )
        return conclude((first, second, f"So the program prints {values[-1]}."), values[-1])

    program = f"x = {start}\nwhile x < {limit}:\n    x = x * {times} + {plus}\nprint(x)"
    return Problem(_asked(program), str(before[-1]), work(0), work(rng.choice((-1, 1))))


def _asked(program: str) -> str:
    return f"What does this Python program print?\n\n{program}"


def logic(rng: Random) -> Problem:
    """An order to be pieced together, or a statement to be evaluated."""
    return rng.choice((_ranking, _statement))(rng)


def _ranking(rng: Random) -> Problem:
    names = rng.sample(_NAMES, 6)
    k = rng.randrange(2, 6)
    clues = [
        f"{a} finished before {b}." if rng.choice((True, False)) else f"{b} finished after {a}."
        for a, b in pairwise(names)
    ]
    rng.shuffle(clues)

    def work(order: list[str]) -> str:
        start = rng.choice(
            (
                f"Chained together, the clues give the order {', '.join(order)}.",
                f"Putting the clues side by side, they finished as {', '.join(order)}.",
            )
        )
        end = rng.choice((f"So {order[k - 1]} is number {k}.", f"Place {k} is thus {order[k - 1]}'s."))
        return conclude((start, end), order[k - 1])

    question = f"Six people ran a race. {' '.join(clues)} Who finished in the {ordinal(k)} place?"
    return Problem(question, names[k - 1], work(names), work(exchanged(names, k - 1, rng.choice((-1, 1)))))


def _statement(rng: Random) -> Problem:
    p, q, r, s = (rng.choice((True, False)) for _ in range(4))
    inner = (rng.choice(("and", "or")), rng.choice(("and", "or")))
    outer = rng.choice(("and", "or"))

    def work(first: bool, second: bool) -> str:
        whole = _joined(outer, first, second)
        start = rng.choice(
            (
                f"(p {inner[0]} not q) is {_said(first)} and (r {inner[1]} s) is {_said(second)}.",
                f"The first bracket comes out as {_said(first)}, the second as {_said(second)}.",
            )
        )
        end = rng.choice(
            (
                f'Joined by "{outer}", the two make the whole {_said(whole)}.',
                f'Since they are joined by "{outer}", the statement is {_said(whole)}.',
            )
        )
        return conclude((start, end), _said(whole))

    one, two = _joined(inner[0], p, not q), _joined(inner[1], r, s)
    truth = _joined(outer, one, two)
    flipped = [slipped for slipped in ((not one, two), (one, not two)) if _joined(outer, *slipped) != truth]
    if not flipped:
        return _statement(rng)
    question = (
        f"Let p be {_said(p)}, q {_said(q)}, r {_said(r)} and s {_said(s)}. "
        f"Is (p {inner[0]} not q) {outer} (r {inner[1]} s) true or false?"
    )
    return Problem(question, _said(truth), work(one, two), work(*rng.choice(flipped)))


def _joined(word: str, first: bool, second: bool) -> bool:
    return first and second if word == "and" else first or second


def _said(value: bool) -> str:
    return "true" if value else "false"
