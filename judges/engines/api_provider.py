"""What the kinds of endpoint have in common: the calls they take, and how their replies are told apart."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson

from judges.engines.api_failures import Again, Failed, Reply, error_within, failure
from judges.engines.api_keys import Key
from judges.engines.settings import Endpoint
from judges.records import Completion, Outcome, Request, UserError

Calls = Mapping[str, Mapping[str, Any]]
"""Arguments of calls by their request's key."""


class Provider(Protocol):
    """An endpoint that speaks one dialect."""

    def arguments(self, request: Request, /) -> dict[str, Any]:
        """The call that a request stands for; raises ValueError where the endpoint can't be asked that."""

    async def send(self, arguments: Mapping[str, Any], /) -> Reply:
        """Makes a call once; raises Again where no reply comes."""

    def read(self, request: Request, answer: Mapping[str, Any], seconds: float, /) -> Completion:
        """The completion in a successful reply."""

    async def submit(self, calls: Calls, /) -> str:
        """Hands calls to the batch service; returns the batch's name there."""

    async def ended(self, batch: str, /) -> bool:
        """Whether a batch has nothing more to come."""

    def results(self, batch: str, /) -> AsyncIterator[tuple[str, Reply]]:
        """The replies in an ended batch by their request's key; those that were never made are left out."""

    async def close(self) -> None:
        """Closes connections."""


def completed(provider: Provider, request: Request, reply: Reply, seconds: float, endpoint: Endpoint) -> Completion:
    """What a reply comes to.

    Raises:
        Again: it may go better next time.
        UserError: no call of this judge can succeed.
    """
    mark = fingerprint(endpoint)
    if reply.status != 200:
        return _failed(failure(reply, endpoint, request.model.name), mark, seconds)
    try:
        answer = orjson.loads(reply.body)
    except orjson.JSONDecodeError as error:
        note = f"the reply is no JSON ({error}): {reply.body[:200].decode('utf-8', 'replace')}"
        return _failed(Failed("error", note), mark, seconds)
    if not isinstance(answer, dict):
        return _failed(Failed("error", f"the reply is no JSON object: {str(answer)[:200]}"), mark, seconds)
    if within := error_within(answer, reply):
        return _failed(failure(within, endpoint, request.model.name), mark, seconds)
    check_model(request.model.name, answer.get("model"), endpoint)
    try:
        return provider.read(request, answer, round(seconds, 4))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        note = f"the reply is not as {endpoint.dialect} replies are ({type(error).__name__}: {error})"
        return _failed(Failed("error", note), mark, seconds)


def call_failed(outcome: Outcome, note: str, endpoint: Endpoint, seconds: float = 0.0) -> Completion:
    """The completion of a call that brought none."""
    return _failed(Failed(outcome, note), fingerprint(endpoint), seconds)


def fingerprint(endpoint: Endpoint, served: Sequence[Any] = ()) -> str:
    """Host, what the endpoint says that it is, and what was left out of a call.

    >>> fingerprint(Endpoint("openai", "https://api.openai.com/v1", temperature="fixed"), ["gpt-5-2025-08-07", None])
    'api api.openai.com gpt-5-2025-08-07 temperature-not-sent'
    """
    parts = ["api", urlsplit(endpoint.base_url).netloc, *(str(part) for part in served if part)]
    if endpoint.temperature == "fixed":
        parts.append("temperature-not-sent")
    return " ".join(parts)


# A snapshot's date or build: -2024-08-06, -20250929, -06-17, -0613, -001; anything else names another model.
_ROUTE = re.compile(r":(?:free|nitro|floor|exacto)$")  # How OpenRouter is told which hosts to choose.
_SNAPSHOT = re.compile(r"[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{3,4}|\d{6}|\d{8})")


def is_served(asked: str, served: str) -> bool:
    """Whether the name that an endpoint gives is that of the model that was asked for, or of a snapshot of it.

    >>> is_served("gpt-4o", "gpt-4o-2024-08-06"), is_served("gpt-4o", "gpt-4o-mini"), is_served("gpt-5", "gpt-5.2")
    (True, False, False)
    """
    asked, served = (name.lower().removeprefix("models/") for name in (asked, served))
    if served == asked:
        return True
    stem = _ROUTE.sub("", asked).removesuffix("-latest")
    if served == stem:
        return True
    return served.startswith(stem) and bool(_SNAPSHOT.fullmatch(served[len(stem) :]))


def check_model(asked: str, served: Any, endpoint: Endpoint) -> None:
    """Sees to it that the model that answers is the one that was asked.

    Raises:
        UserError: it is another.
    """
    if isinstance(served, str) and served and not is_served(asked, served):
        raise UserError(
            f"{endpoint.base_url} answers as {served!r} where {asked!r} was asked for: its verdicts would stand "
            f"under a wrong name. Ask for what it serves: model.weights={served}"
        )


async def sent(key: Key, call: Any, failures: type[Exception]) -> Reply:
    """Awaits a raw call of a provider's library, whose errors derive from `failures`; any status is a reply.

    Raises:
        Again: no reply came.
    """
    try:
        response = (await call).http_response
    except failures as error:
        response = getattr(error, "response", None)
        if response is None:
            cause = error.__cause__ or error
            kind = type(cause).__name__
            reason = key.hide(f"{kind}: {cause}".encode()).decode()
            sent_out = kind not in ("ConnectError", "ConnectTimeout", "PoolTimeout")
            raise Again(f"no reply: {reason}", unreachable=kind == "ConnectError", unanswered=sent_out) from None
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(int(response.status_code), key.hide(response.content), headers)


def _failed(failed: Failed, mark: str, seconds: float) -> Completion:
    return Completion(
        "", failed.outcome, finish=failed.outcome, seconds=round(seconds, 4), engine=mark, note=failed.note
    )
