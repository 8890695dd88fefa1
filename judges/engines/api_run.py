"""One round of calls at one endpoint: as many under way as it bears, tried again where they break."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judges.engines.api_budget import Budget
from judges.engines.api_failures import Again, Reply
from judges.engines.api_pace import Pace, Ticket
from judges.engines.api_provider import Provider, call_failed, completed
from judges.engines.settings import ApiSettings, Endpoint
from judges.records import Completion, Request, UserError

Answered = tuple[Request, Completion]
Call = tuple[Request, dict[str, Any]]

_LONGEST_BACKOFF = 60.0
_HOPELESS = 20  # Calls that failed in a row, after all their tries, before the rest is left alone.


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
        self._queue: deque[Call] = deque()
        self._room = asyncio.Event()

    async def all(self, calls: Sequence[Call]) -> None:
        """Makes the calls, in their order; ends when all are answered or none can be any more."""
        queue, under_way = deque(calls), set[asyncio.Task[Answered]]()
        self._queue = queue
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
            if error.unanswered and not self._budget.lose(request, self._endpoint.price):
                raise self._budget.gone(len(self._queue) + self._in_flight) from None
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
            raise Again(f"no reply in {self._settings.timeout_s:g} s", unanswered=True) from None

    def _turned_away(self, ticket: Ticket, error: Again) -> None:
        if error.wait and error.wait > self._settings.patience_s:
            raise UserError(
                f"{self._endpoint.base_url} asks for a pause of {error.wait:.0f} s, longer than "
                f"api.patience_s={self._settings.patience_s:g}: {error.note}\n"
                "What was finished is stored; the same command goes on from there"
            )
        self._pace.turned_away(ticket, time.monotonic(), error.wait)
