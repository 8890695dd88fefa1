"""AlpacaEval annotations: verdicts from the log-probabilities of two label tokens, or from function-call arguments.

Upstream: github.com/tatsu-lab/alpaca_eval, `results/<model>/<annotator>/annotations.json`. The judge sees one output as
model `m`, then the other as model `M`.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.imports.files import Origin
from experiments.imports.judged import Judged, Malformed, Record, from_word, need, tail
from judges.records import Order, Verdict

MARKS = (frozenset({"instruction", "generator_1", "generator_2", "annotator", "preference"}),)

_NAMES = ("m", "M")
_SLOTS = {"output_1": "A", "output_2": "B"}
_TOLERANCE = 1e-6


def read(record: Record, origin: Origin) -> Iterator[Judged]:
    """One row an annotation; none where the outputs are identical and upstream asked no judge."""
    raw = record.get("raw_completion")
    if raw is None:
        return
    parsed: Any = _parsed(raw)
    weighted = isinstance(parsed, Mapping) and bool(parsed.get("logprobs"))
    order, verdict, remark = _weighted(parsed, record) if weighted else _ranked(parsed, record)
    yield Judged(
        judge=need(record, "annotator", str),
        dataset="alpaca_eval",
        item=hashlib.sha256(need(record, "instruction", str).encode("utf-8", "replace")).hexdigest()[:16],
        verdict=verdict,
        order=order,
        format="logprobs" if weighted else "function_call",
        source=str(record.get("dataset") or ""),
        generator=need(record, "generator_2", str),
        stored=_stored(record),
        remark=remark,
        text_end="" if weighted else tail(str(parsed)),
    )


def preferences(logprobs: Mapping[str, float]) -> dict[str, float]:
    """The preference that each of `m` and `M` gives, if it is the one that names output_2.

    1 + p(x) / (p(m) + p(M)) for x of m, M: 1 prefers output_1, 2 output_2.

    >>> round(preferences({"m": math.log(0.6), "M": math.log(0.2)})["m"], 9)
    1.75
    """
    p = {name: math.exp(logprobs[name]) for name in _NAMES}
    return {name: 1 + p[name] / sum(p.values()) for name in _NAMES}


def _weighted(raw: Mapping[str, Any], record: Record) -> tuple[Order, Verdict, str]:
    """A verdict from log-probabilities. Which token named which output is not stored: the preference tells."""
    logprobs = _top_logprobs(raw)
    if missing := [name for name in _NAMES if name not in logprobs]:
        return "AB", Verdict("unreadable"), f"no log-probability for {' and '.join(map(repr, missing))}"
    fits = [name for name, value in preferences(logprobs).items() if abs(value - _preference(record)) <= _TOLERANCE]
    if not fits:
        return "AB", Verdict("unreadable"), "the stored preference does not follow from the log-probabilities"
    p_second = preferences(logprobs)[fits[0]] - 1
    winner = "tie" if p_second == 0.5 else "B" if p_second > 0.5 else "A"
    verdict = Verdict(
        "tie" if winner == "tie" else "ok",
        winner=winner,
        p_first=1 - p_second,
        label_mass=min(1.0, sum(math.exp(logprobs[name]) for name in _NAMES)),
    )
    return ("BA" if fits == ["m"] else "AB"), verdict, ""


def _top_logprobs(raw: Mapping[str, Any]) -> dict[str, float]:
    try:
        tokens = raw["logprobs"]["content"][0]["top_logprobs"]
        return {entry["token"]: float(entry["logprob"]) for entry in tokens}
    except (KeyError, IndexError, TypeError, ValueError):
        raise Malformed("'raw_completion' must hold logprobs.content[0].top_logprobs") from None


def _ranked(raw: Any, record: Record) -> tuple[Order, Verdict, str]:
    """A verdict from the ranks of a function call; both models at one rank is a tie."""
    models = _models(record)
    order: Order = "AB" if models.get("m") == "A" or models.get("M") == "B" else "BA"
    ranks = _ranks(raw)
    if ranks is None or set(ranks) != set(_NAMES):
        return order, Verdict("unreadable"), "the function call does not rank m and M"
    if ranks["m"] == ranks["M"]:
        return order, *from_word("tie")
    best = min(_NAMES, key=lambda name: ranks[name])
    winner = "A" if (best == "m") == (order == "AB") else "B"
    return order, *from_word(winner)


def _ranks(raw: Any) -> dict[str, float] | None:
    try:
        return {str(entry["model"]): float(entry["rank"]) for entry in raw["ordered_models"]}
    except (KeyError, TypeError, ValueError):
        return None


def _models(record: Record) -> dict[str, str]:
    """Which answer `m` and `M` named; one of them may be missing, the other is then enough."""
    named = {name: _SLOTS.get(slot, "") for name, slot in need(record, "referenced_models", dict).items()}
    if not named or any(name not in _NAMES or slot not in ("A", "B") for name, slot in named.items()):
        raise Malformed("'referenced_models' must say of m and M which of output_1 and output_2 they were")
    return named


def _parsed(raw: Any) -> Any:
    """Function-call arguments may be stored as the JSON text that the model wrote."""
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except json.JSONDecodeError:
        return raw


def _preference(record: Record) -> float:
    preference = record.get("preference")
    return preference if isinstance(preference, (int, float)) else math.nan


def _stored(record: Record) -> str:
    preference = _preference(record)
    if not 1 <= preference <= 2:
        return "none"
    return "tie" if preference == 1.5 else "A" if preference < 1.5 else "B"
