"""What to make of an endpoint's reply that is no answer: try again, an outcome of its own, or the end of this judge."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson

from judges.engines.settings import Endpoint
from judges.records import Outcome, UserError


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint sent back, with the key cut out of it."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""


class Failed(NamedTuple):
    """A call that has ended without an answer."""

    outcome: Outcome
    note: str


class Again(Exception):
    """A call that may be tried again."""

    def __init__(
        self,
        note: str,
        wait: float | None = None,
        *,
        busy: bool = False,
        unreachable: bool = False,
        unanswered: bool = False,
    ) -> None:
        super().__init__(note)
        self.note = note
        self.wait = wait
        """Seconds that the endpoint asked for."""
        self.busy = busy
        """The endpoint turned the call away for want of room."""
        self.unreachable = unreachable
        """Nobody answers there."""
        self.unanswered = unanswered
        """It was sent, and no reply came: the provider may charge for it all the same."""


_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
_BUSY = {429, 503, 529}
_OVERFLOW = re.compile(
    r"context.?length|maximum context|context window|prompt is too long|input is too long|too many tokens"
    r"|exceeds? the (?:maximum|model's) .{0,40}(?:tokens|context)|input token count|max_model_len|longer than the"
    r"|exceeds? .{0,20}context|request_too_large",
    re.I,
)
_REFUSED = re.compile(
    r"content.?filter|content.?policy|responsible.?ai|invalid_prompt|moderation|flagged|usage polic|safety", re.I
)
_CREDIT = re.compile(
    r"insufficient_quota|billing|credit balance|insufficient (?:credit|balance|funds)|quota.*plan", re.I
)
_UNSUPPORTED = re.compile(
    r"unsupported_(?:value|parameter)|unsupported (?:value|parameter)|not supported|deprecated", re.I
)


def failure(reply: Reply, endpoint: Endpoint, model: str) -> Failed:
    """What has become of a call whose reply is no answer.

    Args:
        reply: of any status but 200, or with an error in place of an answer.
        endpoint: where it comes from.
        model: the name that was asked for.

    Raises:
        Again: it may go better next time.
        UserError: no call of this judge can succeed.
    """
    said = words(reply.body)
    note = f"HTTP {reply.status}: {said}"
    where = endpoint.base_url
    if reply.status == 401 or (reply.status == 403 and not _REFUSED.search(said)):
        raise UserError(f"{where} rejects the key{_in(endpoint)}: {note}")
    if reply.status == 402 or (reply.status in (400, 429) and _CREDIT.search(said)):
        raise UserError(
            f"the account behind the key{_in(endpoint)} is out of credit at {where}: {note}\n"
            "What was finished is stored; the same command goes on from there"
        )
    if reply.status == 404:
        raise UserError(f"{where} has nothing for the model {model!r}: {note}")
    if reply.status in _AGAIN or reply.status >= 500:
        raise Again(note, wait_asked(reply.headers), busy=reply.status in _BUSY)
    if reply.status == 413 or _OVERFLOW.search(said):
        return Failed("overflow", note)
    if _REFUSED.search(said):
        return Failed("refused", note)
    if reply.status in (400, 422) and _UNSUPPORTED.search(said):
        raise UserError(
            f"{where} can't serve {model!r} as it is asked: {note}\nA model that takes no temperature needs "
            "model.temperature=fixed; not every one offers logprobs, constrained or model.reasoning_effort"
        )
    return Failed("error", note)


def wait_asked(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait as `Retry-After` (seconds or a date) or `retry-after-ms` have it; None where they say nothing.

    >>> wait_asked({"retry-after": "1.5"}), wait_asked({"retry-after-ms": "250"}), wait_asked({"retry-after": "soon"})
    (1.5, 0.25, None)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def words(body: bytes) -> str:
    """What an error says: its code and message, or the beginning of whatever else came.

    >>> words(b'{"error": {"message": "Too long.", "code": "context_length_exceeded"}}')
    'context_length_exceeded: Too long.'
    >>> words(b"<html>\\n<h1>Bad gateway</h1></html>")
    'Bad gateway'
    """
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = re.sub(r"<[^>]*>", " ", body.decode("utf-8", "replace"))
        return " ".join(text.split())[:500] or "an empty reply"
    if isinstance(found, list) and found:
        found = found[0]
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return str(error)[:500]
    parts = [error.get(name) for name in ("code", "type", "message", "detail")]
    named = [str(part) for part in parts if part and not isinstance(part, int)]
    return ": ".join(dict.fromkeys(named))[:500] or str(error)[:500]


def error_within(answer: Mapping[str, Any], reply: Reply) -> Reply | None:
    """The error in a reply that calls itself a success, as some gateways send it."""
    error = answer.get("error")
    if not error or answer.get("choices") or answer.get("content"):
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return Reply(code if isinstance(code, int) and code >= 400 else 422, reply.body, reply.headers)


def _in(endpoint: Endpoint) -> str:
    return f" in {endpoint.key_env}" if endpoint.key_env else " (none was given; name its variable in model.key_env)"
