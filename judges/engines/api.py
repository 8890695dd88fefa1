"""Judges behind an API: as many calls under way as the endpoint bears, each handed on as it is answered."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judges.engines.api_anthropic import Anthropic
from judges.engines.api_batch import Batches
from judges.engines.api_budget import Budget
from judges.engines.api_failures import Again, Reply
from judges.engines.api_keys import Key
from judges.engines.api_openai import OpenAi
from judges.engines.api_pace import Pace, Ticket
from judges.engines.api_provider import Provider, call_failed, completed, fingerprint
from judges.engines.api_stream import stream
from judges.engines.settings import ApiSettings, Endpoint, Placement
from judges.records import Completion, ModelSpec, Request, UserError

Answered = tuple[Request, Completion]
Call = tuple[Request, dict[str, Any]]

_LONGEST_BACKOFF = 60.0
_HOPELESS = 20  # Calls that failed in a row, after all their tries, before the rest is left alone.


class Api:
    """A model behind an endpoint."""

    def __init__(self, model: ModelSpec, placement: Placement, settings: ApiSettings, budget: Budget) -> None:
        """Looks at key, address and budget; asks nothing yet.

        Raises:
            UserError: one of them is missing.
        """
        self._endpoint = endpoint = addressed(placement.endpoint, settings, model.name)
        self._model, self._settings, self._budget = model, settings, budget
        budget.check(endpoint.price, model.name)
        self._key = Key(endpoint)
        self.fingerprint = fingerprint(endpoint)

    def generate(self, requests: Sequence[Request], /) -> Iterator[Answered]:
        """Yields each completion as it comes.

        Raises:
            UserError: the key, the account, the model or the budget allow no further calls; what was yielded stands.
        """
        provider = self._provider()
        calls: list[Call] = []
        for request in requests:
            try:
                calls.append((request, provider.arguments(request)))
            except ValueError as error:
                yield request, call_failed("error", f"the endpoint can't be asked this: {error}", self._endpoint)

        async def work(emit: Callable[[Answered], None]) -> None:
            await self._carry_out(provider, calls, emit)

        if calls:
            yield from stream(work)

    def close(self) -> None:
        """Nothing to free: connections end with the calls."""

    def _provider(self) -> Provider:
        kind: type[Anthropic] | type[OpenAi] = Anthropic if self._endpoint.dialect == "anthropic" else OpenAi
        try:
            return kind(self._endpoint, self._key, self._settings.timeout_s)
        except ImportError as error:
            raise UserError(f"{error}: install the clients with `pip install voirdire[api]`") from error

    async def _carry_out(self, provider: Provider, calls: Sequence[Call], emit: Callable[[Answered], None]) -> None:
        try:
            if self._settings.batch:
                await self._by_batch(provider, calls, emit)
            else:
                await Run(provider, self._endpoint, self._settings, self._budget, emit).all(calls)
        finally:
            await provider.close()

    async def _by_batch(self, provider: Provider, calls: Sequence[Call], emit: Callable[[Answered], None]) -> None:
        price = self._endpoint.price
        fitting = [call for call in calls if self._budget.admits(call[0], price)]

        def settled(answered: Answered) -> None:
            self._budget.settle(*answered, price)
            emit(answered)

        await Batches(provider, self._key, self._endpoint, self._settings).carry_out(fitting, settled)
        if len(fitting) < len(calls):
            raise self._budget.gone(len(calls) - len(fitting))


def addressed(endpoint: Endpoint, settings: ApiSettings, model: str) -> Endpoint:
    """The endpoint at the address that holds.

    Raises:
        UserError: there is none, or it carries a password.
    """
    base_url = (settings.base_url or endpoint.base_url).rstrip("/")
    if not base_url.startswith(("http://", "https://")):
        raise UserError(
            f"where is {model!r} served? api.base_url={base_url!r} is no address; "
            "give one such as api.base_url=http://127.0.0.1:8000/v1"
        )
    if "@" in base_url or "?" in base_url:
        raise UserError("api.base_url carries a name, a password or a query, which would be written down")
    return replace(endpoint, base_url=base_url)


class Run:
    """One round of calls at one endpoint."""

    def __init__(
        self,
        provider: Provider,
        endpoint: Endpoint,
        settings: ApiSettings,
        budget: Budget,
        emit: Callable[[Answered], None],
    ) -> None:
        self._provider, self._endpoint, self._settings, self._budget = provider, endpoint, settings, budget
        self._emit = emit
        self._pace = Pace(settings.max_concurrency)
        self._failed = 0
        self._any_answer = False
        self._in_flight = 0
        self._room = asyncio.Event()

    async def all(self, calls: Sequence[Call]) -> None:
        """Makes the calls, in their order; ends when all are answered or none can be any more."""
        queue, under_way = deque(calls), set[asyncio.Task[Answered]]()
        try:
            while queue or under_way:
                while queue and len(under_way) < self._pace.limit and self._admit(queue[0][0]):
                    under_way.add(asyncio.create_task(self._one(*queue.popleft())))
                if not under_way:
                    raise self._budget.gone(len(queue))
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                failed = [error for task in done if (error := task.exception())]
                for task in done:
                    if not task.exception():
                        self._hand_on(*task.result())
                if failed:
                    raise failed[0]
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def _admit(self, request: Request) -> bool:
        return self._budget.admits(request, self._endpoint.price)

    def _hand_on(self, request: Request, completion: Completion) -> None:
        self._budget.settle(request, completion, self._endpoint.price)
        self._emit((request, completion))
        self._failed = self._failed + 1 if completion.outcome == "error" else 0
        if self._failed >= _HOPELESS:
            raise UserError(
                f"{self._failed} calls in a row failed at {self._endpoint.base_url}, the last one with: "
                f"{completion.note}\nWhat was finished is stored; the same command goes on from there"
            )

    async def _one(self, request: Request, arguments: Mapping[str, Any]) -> Answered:
        """One call, tried again where it was turned away or broke, but never for what it answered."""
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
        from tenacity.wait import wait_exponential, wait_random

        first = self._settings.backoff_s
        own = wait_exponential(multiplier=first, max=_LONGEST_BACKOFF) + wait_random(0, first)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.wait if isinstance(error, Again) else None
            return own(state) if asked is None else asked + own(state) * 0.1  # Not all at the same instant.

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait,
            retry=retry_if_exception_type(Again),
            reraise=True,
        )
        begun = time.monotonic()
        try:
            return request, await retrying(self._once, request, arguments)
        except Again as error:
            if error.unreachable and not self._any_answer:
                raise UserError(f"nobody answers at {self._endpoint.base_url}: {error.note}") from None
            note = f"{error.note} (tried {self._settings.attempts} times)"
            return request, call_failed("error", note, self._endpoint, time.monotonic() - begun)

    async def _once(self, request: Request, arguments: Mapping[str, Any]) -> Completion:
        ticket = await self._enter()
        begun = time.monotonic()
        try:
            reply = await self._reply(arguments)
            self._any_answer = True
            seconds = time.monotonic() - begun
            completion = completed(self._provider, request, reply, seconds, self._endpoint)
        except Again as error:
            if error.busy:
                self._turned_away(ticket, error)
            raise
        finally:
            self._in_flight -= 1
            self._room.set()
        self._pace.succeeded(ticket, seconds)
        return completion

    async def _enter(self) -> Ticket:
        """Waits until the endpoint has had the pause that it asked for, and has room for one call more."""
        while True:
            if (left := self._pace.quiet_until - time.monotonic()) > 0:
                await asyncio.sleep(left)
            elif self._in_flight < self._pace.limit:
                self._in_flight += 1
                return self._pace.begin(self._in_flight - 1)
            else:
                self._room.clear()
                await self._room.wait()

    async def _reply(self, arguments: Mapping[str, Any]) -> Reply:
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                return await self._provider.send(arguments)
        except TimeoutError:
            raise Again(f"no reply in {self._settings.timeout_s:g} s") from None

    def _turned_away(self, ticket: Ticket, error: Again) -> None:
        if error.wait and error.wait > self._settings.patience_s:
            raise UserError(
                f"{self._endpoint.base_url} asks for a pause of {error.wait:.0f} s, longer than "
                f"api.patience_s={self._settings.patience_s:g}: {error.note}\n"
                "What was finished is stored; the same command goes on from there"
            )
        self._pace.turned_away(ticket, time.monotonic(), error.wait)
