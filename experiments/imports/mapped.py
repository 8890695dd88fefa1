"""Rows of the verdict table from any record, by a mapping that says where they have what."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from experiments.imports.files import Origin
from experiments.imports.judged import (
    NO_VERDICT,
    Judged,
    Malformed,
    Record,
    flipped,
    from_reading,
    from_scores,
    from_word,
    on_scale,
    tail,
)
from experiments.imports.mapping import REQUIRED, Mapping, Name
from judges.formats import FORMATS, split_thinking
from judges.records import OUTCOMES, Order, Outcome, Verdict

Cells = dict[Name, Any]
_TEXTS: tuple[Name, ...] = (*REQUIRED, "method", "format", "source", "group", "reference", "generator")
_NUMBERS: tuple[Name, ...] = ("repeat", "prompt_tokens", "completion_tokens", "temperature")


def reader(mapping: Mapping) -> Callable[[Record, Origin], Iterator[Judged]]:
    """A reader of the records that the mapping describes: one row a record."""
    paths = [(name, path.split("."), mapping.values.get(name)) for name, path in mapping.columns.items()]
    given = mapping.columns.keys() | mapping.constants.keys()
    texts = [name for name in _TEXTS if name in given]
    numbers = [name for name in _NUMBERS if name in given]

    def read(record: Record, origin: Origin) -> Iterator[Judged]:
        cells: Cells = dict(mapping.constants)
        for name, path, words in paths:
            value = _at(record, path)
            cells[name] = value if words is None or value is None else words.get(str(value), value)
        fields: dict[str, Any] = {name: _text(cells, name) for name in texts}
        fields |= {name: _number(cells, name) for name in numbers if not _empty(cells[name])}
        yield _judged(cells, fields, mapping)

    return read


def _judged(cells: Cells, fields: dict[str, Any], mapping: Mapping) -> Judged:
    order = cells.get("order", "AB")
    if order not in ("AB", "BA"):
        raise Malformed(f"the order {order!r} is neither AB nor BA; say under values: order: what it stands for")
    verdict, remark, text = _verdict(cells, order, mapping)
    gold = None if _empty(cells.get("gold")) else str(cells["gold"])
    stored = _stored(cells, order, mapping) if "text" in cells and "winner" in cells else ""
    return Judged(verdict=verdict, order=order, gold=gold, stored=stored, remark=remark, text_end=tail(text), **fields)


def _verdict(cells: Cells, order: Order, mapping: Mapping) -> tuple[Verdict, str, str]:
    """The verdict from the text, else the stored one, else the scores; a remark; and the text."""
    outcome = cells.get("outcome")
    if not _empty(outcome) and outcome not in OUTCOMES:
        raise Malformed(f"the outcome {outcome!r} is not known; say under values: outcome: which it is of {OUTCOMES}")
    if not _empty(outcome) and outcome not in ("ok", "tie", "truncated"):
        return Verdict(cast(Outcome, outcome)), f"the source says {outcome}", ""
    if "text" in cells:
        text = "" if cells["text"] is None else str(cells["text"])
        reading = FORMATS[str(mapping.read)].read(split_thinking(text, None)[1])
        # A reply that was cut off counts where its verdict had been given before the cut.
        if reading.winner is None and outcome == "truncated":
            return Verdict("truncated"), reading.problem, text
        return *from_reading(reading, order), text
    if outcome == "truncated":
        return Verdict("truncated"), "the source says truncated", ""
    a, b, fault = _scores(cells, order, mapping)
    if "winner" in cells:
        verdict, remark = from_word(_stored(cells, order, mapping))
        return Verdict(verdict.outcome, winner=verdict.winner, score_a=a, score_b=b), remark, ""
    if "score_b" in cells:
        return from_scores(a, b), fault, ""
    return Verdict("unreadable" if a is None else "ok", score_a=a), fault, ""


def _scores(cells: Cells, order: Order, mapping: Mapping) -> tuple[float | None, float | None, str]:
    """Both scores in the item's own order, and what is wrong with them."""
    names: tuple[Name, Name] = ("score_a", "score_b")
    found = [on_scale(_loose(cells[n]), *mapping.scale, mapping.missing) if n in cells else (None, "") for n in names]
    (a, fault_a), (b, fault_b) = found[::-1] if mapping.shown and order == "BA" else found
    return a, b, fault_a or fault_b


def _stored(cells: Cells, order: Order, mapping: Mapping) -> str:
    winner = NO_VERDICT if _empty(cells["winner"]) else str(cells["winner"])
    return (flipped(winner, order) or "") if mapping.shown else winner


def _at(record: Record, path: list[str]) -> Any:
    """The value at a path; a name that itself has dots in it is found, too."""
    if len(path) == 1 and path[0] in record:
        return record[path[0]]
    if (whole := ".".join(path)) in record:
        return record[whole]
    value: Any = record
    for i, part in enumerate(path):
        if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise Malformed(f"there is no {'.'.join(path[: i + 1])!r}; the fields here are {_fields(value)}")
    return value


def _fields(value: Any) -> str:
    return ", ".join(map(repr, value)) if isinstance(value, dict) and value else "none"


def _text(cells: Cells, name: Name) -> str:
    if name in REQUIRED and _empty(cells[name]):
        raise Malformed(f"{name} is empty; every row needs one")
    return "" if cells[name] is None else str(cells[name])


def _number(cells: Cells, name: Name) -> float:
    number, whole = _loose(cells[name]), name != "temperature"
    if not isinstance(number, (int, float)) or (whole and number % 1):
        raise Malformed(f"{name} must be a {'whole ' if whole else ''}number, not {cells[name]!r}")
    return int(number) if whole else number


def _loose(value: Any) -> Any:
    """A number that a CSV file or a judge wrote as text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _empty(value: Any) -> bool:
    return value is None or value == ""
