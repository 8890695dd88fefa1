"""Questions about letters and words: sorting, counting, editing."""

from collections.abc import Callable
from random import Random

from judges.data.worked import Problem, conclude, listed, ordinal, slip

_FAMILIES = (
    "carbon careful cargo carnival carpet carrier carrot carton cartoon carve",
    "stable stadium staff stage stain staircase stale stamp stand staple",
    "planet plank planner plant plaster plastic plate platform platinum player",
    "marble march margin marina marine market marmalade maroon marsh marvel",
    "control contact contain content contest context contour contract contrast convert",
    "present preserve president press pressure pretend prevent preview previous price",
    "lantern language landing landmark landslide lane lapel laptop larder large",
    "parade parcel pardon parent parish parking parlour parrot parsley partner",
)
_WORDS = (
    "remember engineer sentence letter between eleven evening beetle cheese degree banana canal camera cabana pyjamas "
    "minimum initial visible mission division bottom lagoon monsoon tomorrow colour possess lessons missing success "
    "address tattoo attest statute cotton kitten little mirror narrow error carrier terrace garden window basket "
    "forest silver yellow orange bridge harbour"
)
_EDITED = (
    "painter monster journal chapter blanket captain dolphin factory gravity husband inquest machine "
    "network operant package quarter replica sandbox trouble volcano weather husbandry paintbrush "
    "birthdays lockstep workshop outbreak"
)


def sorting(rng: Random) -> Problem:
    """Which of several numbers or words comes at a place; the slip exchanges it with a neighbour in the list."""
    if rng.choice((True, False)):
        things, order, ends = _numbers(rng), "from smallest to largest", ("smallest", "largest")
    else:
        things, order, ends = rng.sample(rng.choice(_FAMILIES).split(), 7), "alphabetically", ("first", "last")
    k = rng.randrange(2, 7)
    true = sorted(things, key=lambda thing: (len(thing), thing) if thing.isdigit() else (0, thing))

    def work(arranged: list[str]) -> str:
        start = rng.choice(
            (
                f"Sorted {order}, the list is {', '.join(arranged)}.",
                f"Going from the {ends[0]} to the {ends[1]}, we get {', '.join(arranged)}.",
            )
        )
        end = rng.choice(
            (f"In the {ordinal(k)} place is {arranged[k - 1]}.", f"Number {k} in this list is {arranged[k - 1]}.")
        )
        return conclude((start, end), arranged[k - 1])

    question = f"Sort these {order}: {', '.join(things)}. Which of them is in the {ordinal(k)} place?"
    return Problem(question, true[k - 1], work(true), work(exchanged(true, k - 1, rng.choice((-1, 1)))))


def _numbers(rng: Random) -> list[str]:
    lead = rng.randrange(1, 10)
    return [str(1000 * lead + n) for n in rng.sample(range(100, 400), 7)]


def exchanged(things: list[str], i: int, step: int) -> list[str]:
    """The list with its entry `i` and that entry's neighbour in the direction `step` in each other's places."""
    other = list(things)
    other[i], other[i + step] = other[i + step], other[i]
    return other


def counting(rng: Random) -> Problem:
    """How often a letter occurs in some words; the slip is one too many or too few in one of them."""
    words = rng.sample(_WORDS.split(), 8)
    doubled = sorted({c for word in words for c in word if word.count(c) >= 2})
    letter = max(doubled, key=lambda c: "".join(words).count(c))
    counts = {word: word.count(letter) for word in words if letter in word}
    slipped = rng.choice([word for word, n in counts.items() if n >= 2])

    def work(off: int) -> str:
        seen = {word: n + (off if word == slipped else 0) for word, n in counts.items()}
        total = sum(seen.values())
        start = rng.choice(
            (
                f'Going word by word, "{letter}" occurs in {_tally(seen)}.',
                f'The words with "{letter}" in them are {_tally(seen)}.',
            )
        )
        terms = " + ".join(str(n) for n in seen.values())
        end = rng.choice((f"Together that is {terms} = {total}.", f"The sum is {terms} = {total}."))
        return conclude((start, end), total)

    question = f'How many times does the letter "{letter}" occur in "{" ".join(words)}"?'
    return Problem(question, str("".join(words).count(letter)), work(0), work(slip(rng, 1)))


def _tally(seen: dict[str, int]) -> str:
    return listed([f"{word} ({n})" for word, n in seen.items()])


_NUMBERED = ("Step {}:", "({})")

Edit = Callable[[str], str]


def strings(rng: Random) -> Problem:
    """A word after three edits; the slip exchanges two neighbouring letters in the outcome of one of them."""
    word = rng.choice(_EDITED.split())
    edits = rng.sample(_edits(rng.randrange(2, 6)), 3)

    def work(at: int) -> tuple[str, str]:
        text, steps, numbered = word, [], rng.choice(_NUMBERED)
        for i, (told, edit) in enumerate(edits):
            text = edit(text)
            if i == at:
                j = rng.randrange(1, len(text) - 2)
                text = "".join(exchanged(list(text), j, 1))
            steps.append(f'{numbered.format(i + 1)} {told}, which gives "{text}".')
        return conclude(steps, text), text

    truth = word
    for _, edit in edits:
        truth = edit(truth)
    asked = ", then ".join(told for told, _ in edits)
    question = f'Take the word "{word}" and {asked}. What do you get?'
    at = rng.randrange(3)
    wrong, result = work(at)
    while result == truth:
        wrong, result = work(at)
    return Problem(question, truth, work(-1)[0], wrong)


def _edits(k: int) -> list[tuple[str, Edit]]:
    return [
        ("write it backwards", lambda s: s[::-1]),
        (f"remove its {ordinal(k)} letter", lambda s: s[: k - 1] + s[k:]),
        ("move its first letter to the end", lambda s: s[1:] + s[0]),
        ("exchange its first and last letters", lambda s: s[-1] + s[1:-1] + s[0]),
        (f"double its {ordinal(k)} letter", lambda s: s[:k] + s[k - 1 :]),
    ]
