"""Takes fields out of records, and names the place of whatever is not as it must be; knows no file format."""

import json
from collections.abc import Mapping
from typing import Any

from judges.records import UserError

Record = Mapping[str, Any]


def text(record: Record, key: str, place: str) -> str:
    """The string under `key`, which must be there; it may be empty."""
    found = _value(record, key, place)
    if not isinstance(found, str):
        raise UserError(f"{place}: the field {key!r} must be a string, not {kind(found)}.")
    return found


def named(record: Record, key: str, place: str, names: Mapping[str, str]) -> str:
    """What the label under `key` stands for: with names `{"1": "A", "2": "B"}` a 2 gives `B`."""
    label = str(_value(record, key, place))
    if label not in names:
        known = " or ".join(map(repr, names))
        raise UserError(f"{place}: the {key} {label!r} names no answer; it must be {known}.")
    return names[label]


def integer(record: Record, key: str, place: str) -> int:
    """The whole number under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, int) or isinstance(found, bool):
        raise UserError(f"{place}: the field {key!r} must be a whole number, not {kind(found)}.")
    return found


def texts(record: Record, key: str, place: str) -> tuple[str, ...]:
    """The list of strings under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UserError(f"{place}: the field {key!r} must be a list of strings.")
    return tuple(found)


def listed(record: Record, key: str, place: str) -> tuple[str, ...]:
    """The list of strings or numbers under `key`, or in the JSON text there: a CSV file has no lists of its own."""
    found = _value(record, key, place)
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            raise UserError(f"{place}: the field {key!r} must hold a JSON list, not {found[:40]!r}.") from None
    if not isinstance(found, list) or not all(isinstance(one, str | int | float) for one in found):
        raise UserError(f"{place}: the field {key!r} must be a list of strings.")
    return tuple(map(str, found))


def count(record: Record, key: str, place: str) -> int:
    """The whole number under `key`, perhaps written as text: a CSV file has no numbers of its own."""
    found = record.get(key)
    return int(found) if isinstance(found, str) and found.isdecimal() else integer(record, key, place)


def records(record: Record, key: str, place: str) -> list[Record]:
    """The list of objects under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UserError(f"{place}: the field {key!r} must be a list of objects.")
    return found


def task(record: Record, place: str) -> str:
    """What a record in Alpaca's schema asks for: its `instruction`, and its `input` below it unless that is empty."""
    instruction, given = text(record, "instruction", place), text(record, "input", place)
    return f"{instruction}\n\n{given}" if given else instruction


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _value(record: Record, key: str, place: str) -> Any:
    if key not in record:
        raise UserError(f"{place}: the field {key!r} is missing; found {', '.join(map(repr, record)) or 'no fields'}.")
    return record[key]
