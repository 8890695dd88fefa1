"""Questions about numbers: arithmetic, units of measure, sequences."""

from itertools import accumulate
from random import Random

from judges.data.worked import Problem, conclude, ordinal, slip

_UNITS = (
    ("hour", "hours", "minutes", 60),
    ("day", "days", "hours", 24),
    ("mile", "miles", "yards", 1760),
    ("yard", "yards", "inches", 36),
    ("foot", "feet", "inches", 12),
    ("pound", "pounds", "ounces", 16),
    ("stone", "stone", "pounds", 14),
    ("week", "weeks", "days", 7),
    ("fathom", "fathoms", "feet", 6),
    ("gross", "gross", "pieces", 144),
)


def arithmetic(rng: Random) -> Problem:
    """A product plus or minus a number; the slip is in one of the partial products."""
    a, tens, ones, c = rng.randrange(23, 99), 10 * rng.randrange(1, 9), rng.randrange(2, 10), rng.randrange(101, 999)
    sign = rng.choice((-1, 1))

    def work(off: int) -> str:
        part, rest = a * tens, a * ones + off
        product = part + rest
        result = product + sign * c
        start = rng.choice(
            (
                f"Split {tens + ones} into {tens} and {ones}: {a} × {tens} = {part} and {a} × {ones} = {rest}.",
                f"First take the tens, {a} × {tens} = {part}, and then the ones, {a} × {ones} = {rest}.",
            )
        )
        middle = rng.choice((f"Together these make {product}.", f"The product is therefore {product}."))
        verb = "Adding" if sign > 0 else "Subtracting"
        return conclude((start, middle, f"{verb} {c} gives {result}."), result)

    question = f"What is {a} × {tens + ones} {'+' if sign > 0 else '-'} {c}?"
    return Problem(question, str(a * (tens + ones) + sign * c), work(0), work(slip(rng, 1, 2, 10)))


def units(rng: Random) -> Problem:
    """A measure in two units to be given in the smaller one; the slip is in the product or in the sum."""
    one, many, small, factor = rng.choice(_UNITS)
    n, rest = rng.randrange(13, 98), rng.randrange(2, min(factor, 100))

    def work(in_product: int, in_sum: int) -> str:
        product = n * factor + in_product
        total = product + rest + in_sum
        start = rng.choice(
            (
                f"One {one} is {factor} {small}, so {n} {many} are {n} × {factor} = {product} {small}.",
                f"Since a {one} has {factor} {small}, {n} {many} come to {n} × {factor} = {product} {small}.",
            )
        )
        end = rng.choice(
            (
                f"With the other {rest} {small} that makes {total} {small}.",
                f"Adding the remaining {rest} {small} gives {total} {small}.",
            )
        )
        return conclude((start, end), total)

    off = slip(rng, 1, 2, 10)
    slips = rng.choice(((off, 0), (0, off)))
    question = f"How many {small} are {n} {many} and {rest} {small}?"
    return Problem(question, str(n * factor + rest), work(0, 0), work(*slips))


def sequences(rng: Random) -> Problem:
    """A term of a sequence given by its first term and a rule; the slip is in one of the steps."""
    first, times, plus, k = rng.randrange(2, 10), rng.randrange(2, 4), rng.randrange(1, 10), rng.randrange(5, 8)

    def work(at: int, off: int) -> str:
        terms = [*accumulate(range(1, k), lambda t, j: t * times + plus + (off if j == at else 0), initial=first)]
        shown = ", ".join(map(str, terms))
        start = rng.choice(
            (
                f"Starting from {first}, each term is multiplied by {times} and increased by {plus}.",
                f"To get from one term to the next, take {times} times the term and add {plus}.",
            )
        )
        middle = rng.choice((f"This gives the terms {shown}.", f"So the sequence begins {shown}."))
        return conclude((start, middle, f"The {ordinal(k)} of these is {terms[-1]}."), terms[-1])

    question = (
        f"A sequence begins with {first}; each further term is {times} times the one before it, plus {plus}. "
        f"What is its {ordinal(k)} term?"
    )
    power = times ** (k - 1)
    truth = first * power + plus * (power - 1) // (times - 1)
    return Problem(question, str(truth), work(0, 0), work(rng.randrange(2, k), slip(rng, 1, 2, 10)))
