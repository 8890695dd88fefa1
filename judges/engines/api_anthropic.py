"""Claude, through Anthropic's messages."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson

from judges.engines.api_failures import Reply
from judges.engines.api_keys import Key
from judges.engines.api_provider import Calls, fingerprint, sent
from judges.engines.chat import merge_system
from judges.engines.settings import Endpoint
from judges.records import Completion, Outcome, Request, UserError

_OUTCOMES: dict[str, Outcome] = {
    "end_turn": "ok",
    "stop_sequence": "ok",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class Anthropic:
    """An endpoint of that kind."""

    def __init__(self, endpoint: Endpoint, key: Key, timeout: float) -> None:
        from anthropic import APIError, AsyncAnthropic

        self._endpoint, self._key, self._failures = endpoint, key, APIError
        self._client: Any = AsyncAnthropic(
            api_key=key.reveal(), base_url=endpoint.base_url, timeout=timeout, max_retries=0
        )

    def arguments(self, request: Request, /) -> dict[str, Any]:
        """The body of the call."""
        return arguments(request, self._endpoint)

    async def send(self, arguments: Mapping[str, Any], /) -> Reply:
        """Makes a call once."""
        # In `extra_body`, which goes out as it is: the client has dropped arguments that older models take.
        call = self._client.messages.with_raw_response.create(
            model=arguments["model"], max_tokens=arguments["max_tokens"], messages=[], extra_body=dict(arguments)
        )
        return await sent(self._key, call, self._failures)

    def read(self, request: Request, answer: Mapping[str, Any], seconds: float, /) -> Completion:
        """The completion in a successful reply."""
        return read(answer, seconds, self._endpoint)

    async def submit(self, calls: Calls, /) -> str:
        """Makes a batch of the calls."""
        requests = [{"custom_id": key, "params": dict(body)} for key, body in calls.items()]
        return str((await self._client.messages.batches.create(requests=requests)).id)

    async def ended(self, batch: str, /) -> bool:
        """Whether processing has ended."""
        found = await self._client.messages.batches.retrieve(batch)
        return bool(found.processing_status == "ended")

    async def results(self, batch: str, /) -> AsyncIterator[tuple[str, Reply]]:
        """Line by line; calls that were cancelled or ran out of time are left out."""
        async for line in await self._client.messages.batches.results(batch):
            found = line.result
            if found.type == "succeeded":
                yield line.custom_id, Reply(200, self._key.hide(found.message.model_dump_json().encode()))
            elif found.type == "errored":
                status = _STATUS.get(found.error.error.type, 500)
                yield line.custom_id, Reply(status, self._key.hide(found.error.model_dump_json().encode()))

    async def close(self) -> None:
        """Closes connections."""
        await self._client.close()


def arguments(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The body of the call that a request stands for.

    Raises:
        ValueError: the endpoint can't be asked that.
        UserError: it can't be asked anything in this way.
    """
    model, sampling = request.model, request.sampling
    if request.labels:
        raise UserError(f"Anthropic's API gives no log-probabilities, so {model.name} needs logprobs=false")
    if model.template_args:
        raise ValueError("template_args: only vLLM's server takes them (model.dialect=vllm)")
    messages = merge_system(request.messages) if model.system == "merge" else request.messages
    body: dict[str, Any] = {
        "model": model.name,
        "max_tokens": sampling.max_tokens,
        "messages": [{"role": m.role, "content": m.content} for m in messages if m.role != "system"],
    }
    if system := "\n\n".join(m.content for m in messages if m.role == "system"):
        body["system"] = system
    if endpoint.temperature == "asked":
        body["temperature"] = sampling.temperature
    output = _output(request)
    return body | ({"output_config": output} if output else {})


def _output(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if request.model.reasoning_effort:
        found["effort"] = request.model.reasoning_effort
    if (constraint := request.constraint) is not None:
        if constraint.kind != "json":
            raise ValueError(f"a {constraint.kind} constraint: only vLLM's server takes one")
        found["format"] = {"type": "json_schema", "schema": orjson.loads(constraint.value)}
    return found


def read(answer: Mapping[str, Any], seconds: float, endpoint: Endpoint) -> Completion:
    """The completion in a successful reply; thinking apart from the text.

    Raises:
        KeyError, TypeError, ValueError: the reply is not of this kind.
    """
    blocks, stop, usage = answer["content"], str(answer["stop_reason"]), answer.get("usage") or {}
    cached = int(usage.get("cache_read_input_tokens") or 0)
    outcome = _OUTCOMES.get(stop, "error")
    if outcome == "ok" and not blocks:
        outcome, stop = "error", "no content"
    return Completion(
        text="".join(block["text"] for block in blocks if block["type"] == "text"),
        outcome=outcome,
        finish=stop,
        reasoning="\n".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        prompt_tokens=int(usage.get("input_tokens") or 0) + cached + int(usage.get("cache_creation_input_tokens") or 0),
        cached_tokens=cached,
        completion_tokens=int(usage.get("output_tokens") or 0),
        seconds=seconds,
        engine=fingerprint(endpoint, [answer.get("model")]),
        note=f"the endpoint ended the reply: {stop}" if outcome in ("error", "refused") else "",
    )
