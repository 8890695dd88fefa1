"""Our own pairs: questions of ten kinds whose right answer a program can check, one answer right and one subtly wrong.

Generated on demand from a fixed seed, the same bytes on every Python, with nothing to download.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from judges.data import questions_logic, questions_number, questions_text, questions_time
from judges.data.intake import Raw, Row, Source, digest
from judges.data.worked import Problem
from judges.records import Item, UserError

KINDS: Mapping[str, Callable[[Random], Problem]] = {
    "arithmetic": questions_number.arithmetic,
    "clock": questions_time.clock,
    "code": questions_logic.code,
    "counting": questions_text.counting,
    "dates": questions_time.dates,
    "logic": questions_logic.logic,
    "sequences": questions_number.sequences,
    "sorting": questions_text.sorting,
    "strings": questions_text.strings,
    "units": questions_number.units,
}

PER_KIND = 30
SEED = 18
"""Chosen so that in no kind a surface feature (length, size or roundness of the result) happens to tell the gold."""


def read(path: Path | None, split: str | None) -> Raw:
    """Generates the data set of `PER_KIND` pairs of each kind; nothing is read, so `path` and `split` must be None."""
    if path is not None or split is not None:
        raise UserError("verifiable is generated and has no splits; leave data.path and data.split null.")
    items = generate()
    return Raw(tuple(Row(item, item.id) for item in items), (Source(f"generated, seed {SEED}", digest(items)),))


def generate(per_kind: int = PER_KIND, seed: int = SEED) -> tuple[Item, ...]:
    """Draws `per_kind` distinct questions of every kind, each kind from a stream of its own.

    The gold is A in exactly half of each kind's pairs (`per_kind` is even). Which phrases a worked answer uses does not
    depend on whether it is the right one. `references["truth"]` is the right final answer.
    """
    return tuple(item for kind in KINDS for item in _kind(kind, per_kind, Random(f"{seed}/{kind}")))


def _kind(kind: str, count: int, rng: Random) -> list[Item]:
    problems: dict[str, Problem] = {}
    while len(problems) < count:
        problem = KINDS[kind](rng)
        problems.setdefault(problem.question, problem)
    golds = ["A", "B"] * (count // 2)
    rng.shuffle(golds)
    return [
        _item(f"verifiable-{kind}-{i:03}", kind, problem, gold)
        for i, (problem, gold) in enumerate(zip(problems.values(), golds, strict=True))
    ]


def _item(name: str, kind: str, problem: Problem, gold: str) -> Item:
    answers = (problem.right, problem.wrong) if gold == "A" else (problem.wrong, problem.right)
    return Item(
        id=name,
        dataset="verifiable",
        question=problem.question,
        answers=answers,
        gold=gold,
        source=kind,
        references={"truth": problem.truth},
    )
