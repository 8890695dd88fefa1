"""LLMBar's result files: an evaluator's verdict on every instance in both orders, by seven prompting strategies.

Upstream: github.com/princeton-nlp/LLMBar, `Dataset/LLMBar/<subset>/evaluators/<model>/<strategy>/result.json`, or the
same records as JSONL with `subset`, `idx`, `evaluator` and `strategy` in each.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from experiments.imports.files import Origin
from experiments.imports.judged import (
    Judged,
    Malformed,
    Record,
    from_reading,
    from_scores,
    need,
    on_scale,
    tail,
    word,
)
from experiments.imports.readings import read_number, read_output, read_output_as_published
from judges.formats import Reading
from judges.records import Order, Verdict

MARKS = (frozenset({"results", "label"}),)

_WINNER = {"1": "A", "2": "B"}
_LOOKS: tuple[tuple[str, Order], ...] = (("swap = False", "AB"), ("swap = True", "BA"))
_SCALE = (0, 10)
_PATH = re.compile(r"LLMBar/(?:(Natural)|Adversarial/(\w+))/evaluators/([^/]+)/([^/]+)/[^/]+$")

Read = Callable[[str], Reading]


def read(record: Record, origin: Origin) -> Iterator[Judged]:
    """The two rows of one instance under one strategy, from the strategy's last step."""
    return _read(record, origin, read_output)


def read_as_published(record: Record, origin: Origin) -> Iterator[Judged]:
    """As `read`, but where a text calls both outputs better, the first one shown wins, as in LLMBar's own parser."""
    return _read(record, origin, read_output_as_published)


def _read(record: Record, origin: Origin, reader: Read) -> Iterator[Judged]:
    subset, index, evaluator, strategy = _coordinates(record, origin)
    last = _last_step(record)
    gold = word(record, "label", _WINNER)
    if gold not in ("A", "B"):
        raise Malformed(f"the label {record['label']!r} names no output; it must be 1 or 2")
    for look, order in _LOOKS:
        verdict, remark, text = _verdict(last, need(last, look, dict), order, reader)
        yield Judged(
            judge=evaluator,
            dataset="llmbar",
            item=f"{subset}-{index:03}",
            verdict=verdict,
            order=order,
            method=_method(strategy),
            format=strategy,
            source=subset,
            gold=gold,
            stored=word(last[look], "winner", _WINNER),
            remark=remark,
            text_end=tail(text),
        )


def _verdict(step: Record, look: Record, order: Order, reader: Read) -> tuple[Verdict, str, str]:
    if "score_1" in step:
        (a, fault_a), (b, fault_b) = (_rating(step, name) for name in ("score_1", "score_2"))
        return from_scores(a, b), fault_a or fault_b, ""
    text = _completion(look, "completion")
    return *from_reading(reader(text), order), text


def _rating(step: Record, name: str) -> tuple[float | None, str]:
    found = read_number(_completion(step, name))
    return (None, f"{name}: {found.problem}") if found.value is None else on_scale(found.value, *_SCALE)


def _completion(holder: Record, key: str) -> str:
    said = need(holder, key, list)
    if not said or not isinstance(said[0], str):
        raise Malformed(f"the field {key!r} must be [text, finish reason]")
    return str(said[0])


def _last_step(record: Record) -> Record:
    steps: list[Any] = need(record, "results", list)
    if not steps or not isinstance(steps[-1], dict):
        raise Malformed("'results' must end in a step that holds the two verdicts")
    step: Record = steps[-1]
    return step


def _method(strategy: str) -> str:
    """Pointwise ratings and verdicts reconciled over both orders are other designs than a plain pairwise call."""
    return "pointwise" if strategy.startswith("Rating") else "swap" if strategy.startswith("Swap") else "pairwise"


def _coordinates(record: Record, origin: Origin) -> tuple[str, int, str, str]:
    """Subset, index, evaluator and strategy: from the record, or from where the upstream file lies."""
    if "subset" in record:
        subset, evaluator, strategy = (need(record, key, str) for key in ("subset", "evaluator", "strategy"))
        return subset, need(record, "idx", int), evaluator, strategy
    found = _PATH.search(origin.file.absolute().as_posix())
    if not found:
        raise Malformed(
            "neither the record nor the path says which subset, evaluator and strategy this is; expected "
            "'LLMBar/Adversarial/<subset>/evaluators/<evaluator>/<strategy>/result.json'"
        )
    subset = "natural" if found[1] else f"adversarial_{found[2].lower()}"
    return subset, origin.index, found[3], found[4]
