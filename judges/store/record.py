"""What one line of a shard says: a completion, the key of its request, and when it came."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec

from judges.records import Completion, Outcome, Request

NotANumber = Literal["inf", "-inf", "nan"]
"""JSON has no such numbers; they are written as these words."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """One stored completion. The names are the columns of both file formats, in this order."""

    key: str
    model: str
    repeat: int
    at: datetime
    outcome: Outcome
    text: str
    finish: str
    reasoning: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    label_logprobs: dict[str, float | NotANumber] | None
    engine: str
    note: str
    score: float | NotANumber | None = None
    """Absent from what was stored before there were scores."""
    label_rest: float | None = None
    """Absent from what was stored before there were APIs."""


def record(request: Request, completion: Completion) -> Record:
    """The record of a completion that has just come back."""
    return Record(
        key=request.key,
        model=request.model.name,
        repeat=request.repeat,
        at=datetime.now(UTC),
        outcome=completion.outcome,
        text=completion.text,
        finish=completion.finish,
        reasoning=completion.reasoning,
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
        label_logprobs=_words(completion.label_logprobs),
        engine=completion.engine,
        note=completion.note,
        score=None if completion.score is None else _word(completion.score),
        label_rest=completion.label_rest,
    )


def completion(record: Record) -> Completion:
    """The completion as it was put, with numbers for words."""
    return Completion(
        text=record.text,
        outcome=record.outcome,
        finish=record.finish,
        reasoning=record.reasoning,
        prompt_tokens=record.prompt_tokens,
        cached_tokens=record.cached_tokens,
        completion_tokens=record.completion_tokens,
        seconds=record.seconds,
        label_logprobs=numbers(record.label_logprobs),
        label_rest=record.label_rest,
        score=None if record.score is None else float(record.score),
        engine=record.engine,
        note=record.note,
    )


def numbers(logprobs: Mapping[str, float | NotANumber] | None) -> dict[str, float] | None:
    """Undoes the words: `{"A": -0.1, "B": "-inf"}` becomes `{"A": -0.1, "B": -math.inf}`."""
    return None if logprobs is None else {label: float(value) for label, value in logprobs.items()}


def encode(record: Record) -> bytes:
    r"""One line of JSON, `\n` included. Lone surrogates, which no file can hold, become U+FFFD."""
    try:
        return _encoder.encode(record) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_mended(record)) + b"\n"


def decode(line: bytes) -> Record | None:
    """The record on a line; None if the line is torn or is no record."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)


def _words(logprobs: Mapping[str, float] | None) -> dict[str, float | NotANumber] | None:
    return None if logprobs is None else {label: _word(value) for label, value in logprobs.items()}


def _word(value: float) -> float | NotANumber:
    if math.isfinite(value):
        return float(value)
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _mended(record: Record) -> Record:
    fields = {name: getattr(record, name) for name in Record.__struct_fields__}
    fields |= {name: _scalars(value) for name, value in fields.items() if isinstance(value, str)}
    if record.label_logprobs is not None:
        fields["label_logprobs"] = {_scalars(label): value for label, value in record.label_logprobs.items()}
    return Record(**fields)


def _scalars(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
