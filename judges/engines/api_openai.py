"""Chat completions as OpenAI has them, and as all those have them who follow it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import orjson

from judges.engines.api_failures import Reply
from judges.engines.api_keys import Key
from judges.engines.api_provider import Calls, fingerprint, sent
from judges.engines.chat import merge_system
from judges.engines.settings import Endpoint
from judges.labels import labels_from_top_k, place_after
from judges.records import Completion, Outcome, Request

_TOP = 20  # The most that any of them shows.
_OUTCOMES: dict[str, Outcome] = {"stop": "ok", "length": "truncated", "content_filter": "refused"}


class OpenAi:
    """An endpoint of that kind."""

    def __init__(self, endpoint: Endpoint, key: Key, timeout: float) -> None:
        from openai import APIError, AsyncOpenAI

        self._endpoint, self._key, self._failures = endpoint, key, APIError
        self._client: Any = AsyncOpenAI(
            api_key=key.reveal(), base_url=endpoint.base_url, timeout=timeout, max_retries=0
        )

    def arguments(self, request: Request, /) -> dict[str, Any]:
        """The body of the call."""
        return arguments(request, self._endpoint)

    async def send(self, arguments: Mapping[str, Any], /) -> Reply:
        """Makes a call once."""
        # In `extra_body`, which goes out as it is: the client takes longer to look through messages than to send them.
        call = self._client.chat.completions.with_raw_response.create(
            model=arguments["model"], messages=[], extra_body=dict(arguments)
        )
        return await sent(self._key, call, self._failures)

    def read(self, request: Request, answer: Mapping[str, Any], seconds: float, /) -> Completion:
        """The completion in a successful reply."""
        return read(request, answer, seconds, self._endpoint)

    async def submit(self, calls: Calls, /) -> str:
        """Uploads the calls as a file, and makes a batch of it."""
        lines = [
            {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
            for key, body in calls.items()
        ]
        content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
        file = await self._client.files.create(file=("calls.jsonl", content), purpose="batch")
        batch = await self._client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        return str(batch.id)

    async def ended(self, batch: str, /) -> bool:
        """Whether it is completed, failed, expired or cancelled."""
        found = await self._client.batches.retrieve(batch)
        return found.status in ("completed", "failed", "expired", "cancelled")

    async def results(self, batch: str, /) -> AsyncIterator[tuple[str, Reply]]:
        """From the files of what went well and of what did not."""
        found = await self._client.batches.retrieve(batch)
        for file in (found.output_file_id, found.error_file_id):
            if not file:
                continue
            content = self._key.hide((await self._client.files.content(file)).content)
            for line in map(orjson.loads, filter(bytes.strip, content.splitlines())):
                response = line.get("response") or {}
                if response.get("body") is not None:
                    yield line["custom_id"], Reply(response.get("status_code", 200), orjson.dumps(response["body"]))

    async def close(self) -> None:
        """Closes connections."""
        await self._client.close()


def arguments(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The body of the call that a request stands for; all of it explicit but what the endpoint would refuse.

    Raises:
        ValueError: the endpoint can't be asked that.
    """
    model, sampling = request.model, request.sampling
    messages = merge_system(request.messages) if model.system == "merge" else request.messages
    limit = "max_completion_tokens" if endpoint.dialect == "openai" else "max_tokens"
    body: dict[str, Any] = {
        "model": model.name,
        "messages": [{"role": m.role, "content": m.content} for m in messages],
        limit: sampling.max_tokens,
    }
    if endpoint.temperature == "asked":
        body["temperature"] = sampling.temperature
        if sampling.temperature and sampling.top_p < 1:
            body["top_p"] = sampling.top_p
    if model.reasoning_effort:
        body["reasoning_effort"] = model.reasoning_effort
    if request.labels:
        body |= {"logprobs": True, "top_logprobs": _TOP}
    return body | _structured(request, endpoint) | _of_vllm(request, endpoint)


def _structured(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    if (constraint := request.constraint) is None:
        return {}
    if endpoint.dialect == "vllm":
        value = orjson.loads(constraint.value) if constraint.kind == "choice" else constraint.value
        return {"structured_outputs": {constraint.kind: value}}
    if constraint.kind != "json":
        raise ValueError(f"a {constraint.kind} constraint: only vLLM's server takes one (model.dialect=vllm)")
    schema = {"name": "verdict", "schema": orjson.loads(constraint.value), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _of_vllm(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """What only vLLM's server understands; others are never sent what they would pass over in silence."""
    if endpoint.dialect != "vllm":
        if request.model.template_args:
            raise ValueError("template_args: only vLLM's server takes them (model.dialect=vllm)")
        return {}
    found: dict[str, Any] = {}
    if request.model.template_args:
        found["chat_template_kwargs"] = dict(request.model.template_args)
    if request.sampling.temperature:
        found["seed"] = request.call_seed
    return found


def read(request: Request, answer: Mapping[str, Any], seconds: float, endpoint: Endpoint) -> Completion:
    """The completion in a successful reply; reasoning and refusals apart from the text.

    Raises:
        KeyError, TypeError, ValueError: the reply is not of this kind.
    """
    choices = answer["choices"]
    choice: Mapping[str, Any] = choices[0] if choices else {"message": {}, "finish_reason": "no choices"}
    message, finish = choice["message"], str(choice.get("finish_reason"))
    usage = answer.get("usage") or {}
    text, refusal = message.get("content") or "", message.get("refusal") or ""
    outcome: Outcome = "refused" if refusal else _OUTCOMES.get(finish, "error")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    labels, rest = _labels(request, text, choice.get("logprobs"))
    prompt, written = (int(usage.get(f"{side}_tokens") or 0) for side in ("prompt", "completion"))
    return Completion(
        text=str(text),
        outcome=outcome,
        finish=finish,
        reasoning=str(reasoning),
        prompt_tokens=prompt,
        cached_tokens=int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0),
        # Some count reasoning in the total alone, and charge for it.
        completion_tokens=max(written, int(usage.get("total_tokens") or 0) - prompt if prompt else 0),
        seconds=seconds,
        label_logprobs=labels,
        label_rest=rest,
        engine=fingerprint(endpoint, [answer.get("model"), answer.get("system_fingerprint")]),
        note=refusal or _note(outcome, finish, bool(reasoning), usage),
    )


def _note(outcome: Outcome, finish: str, shown: bool, usage: Mapping[str, Any]) -> str:
    if outcome in ("error", "refused"):
        return f"the endpoint ended the reply: {finish}"
    hidden = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return f"{hidden} tokens of reasoning, not shown" if hidden and not shown else ""


def _labels(request: Request, text: str, logprobs: Any) -> tuple[dict[str, float] | None, float | None]:
    """The labels' log-probabilities at the request's place, and the probability of all that is not among the top."""
    content: Sequence[Mapping[str, Any]] = (logprobs or {}).get("content") or ()
    if not request.labels or not content:
        return None, None
    at = 0
    if request.label_after:
        place = place_after(text, request.label_after)
        if place is None or (found := _token_at(content, place)) is None:
            return None, None
        at = found
    seen = labels_from_top_k(_tops(content[at]), request.labels)
    return seen.logprobs, seen.rest


def _tops(position: Mapping[str, Any]) -> dict[str, float]:
    return {entry["token"]: float(entry["logprob"]) for entry in (*position.get("top_logprobs", ()), position)}


def _token_at(content: Sequence[Mapping[str, Any]], place: int) -> int | None:
    """The number of the token that writes the character at a place of the text."""
    end = 0
    for i, position in enumerate(content):
        end += len(position["token"])
        if end > place:
            return i
    return None
