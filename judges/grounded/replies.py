"""A reply that is to be one JSON object: its fields, each of the type asked for, or the reason why there is none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import json_repair

from judges.formats import Thinking, split_thinking
from judges.records import Completion, Outcome


@dataclass(frozen=True, slots=True)
class Reply:
    """The fields of a reply. None exactly when `outcome` says why."""

    outcome: Outcome
    fields: Mapping[str, Any] | None = None
    repaired: bool = False


def read_reply(completion: Completion, thinking: Thinking | None, needed: Mapping[str, type]) -> Reply:
    """Reads a completion as a JSON object that has all the fields needed.

    Fences and text around it are taken away and small faults mended (`repaired`); an object that the length limit cut
    off is `truncated`, one that lacks a field, has a key twice or a field of another type is `unreadable`.

    >>> read_reply(Completion('Here: {"flag": true}'), None, {"flag": bool})
    Reply(outcome='ok', fields={'flag': True}, repaired=True)
    """
    if completion.outcome not in ("ok", "truncated"):
        return Reply(completion.outcome)
    none: Outcome = "truncated" if completion.outcome == "truncated" else "unreadable"
    text = split_thinking(completion.text, thinking)[1].strip()
    repaired = False
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        if completion.outcome == "truncated":
            return Reply("truncated")  # To mend it would be to invent what was cut off.
        repaired, found = True, _mended(text)
    if not isinstance(found, dict) or not all(_fits(found.get(name), kind) for name, kind in needed.items()):
        return Reply(none)
    return Reply("ok", found, repaired)


def text_of(value: Any) -> str:
    """A field's value as text, where it is text or a number; empty otherwise."""
    if isinstance(value, bool):
        return ""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def confidence_of(value: Any) -> float | None:
    """A stated confidence as a share; it may be given up to 1 or, where it is above, up to 100.

    >>> confidence_of(0.8), confidence_of(80), confidence_of("high"), confidence_of(180)
    (0.8, 0.8, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value) if value <= 1 else value / 100


def _mended(text: str) -> Any:
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return None
    inner = text[begin : end + 1]
    try:
        return json.loads(inner, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        return json_repair.loads(inner)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, empty where a key comes twice: a later value must not quietly win over an earlier one."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else {}


def _fits(value: Any, kind: type) -> bool:
    if kind is str:
        return bool(text_of(value))
    return isinstance(value, kind)
