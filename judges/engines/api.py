"""Judges behind an API: as many calls under way as the endpoint bears, each handed on as it is answered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from judges.engines.api_anthropic import Anthropic
from judges.engines.api_batch import Batches
from judges.engines.api_budget import Budget
from judges.engines.api_keys import Key
from judges.engines.api_openai import OpenAi
from judges.engines.api_provider import Provider, call_failed, fingerprint
from judges.engines.api_run import Answered, Call, Run
from judges.engines.api_stream import stream
from judges.engines.settings import ApiSettings, Endpoint, Placement, without_secret
from judges.records import ModelSpec, Request, UserError


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

        batches = Batches(provider, self._key, self._endpoint, self._settings)

        async def work(emit: Callable[[Answered], None]) -> None:
            try:
                await self._carry_out(provider, batches, calls, emit)
            finally:
                await provider.close()

        if calls:
            try:
                yield from stream(work)
            except UserError:
                batches.forget()
                raise
            batches.forget()

    def close(self) -> None:
        """Nothing to free: connections end with the calls."""

    def _provider(self) -> Provider:
        kind: type[Anthropic] | type[OpenAi] = Anthropic if self._endpoint.dialect == "anthropic" else OpenAi
        try:
            return kind(self._endpoint, self._key, self._settings.timeout_s)
        except ImportError as error:
            raise UserError(f"{error}: install the clients with `pip install voirdire[api]`") from error

    async def _carry_out(
        self, provider: Provider, batches: Batches, calls: Sequence[Call], emit: Callable[[Answered], None]
    ) -> None:
        if not self._settings.batch:
            await Run(provider, self._endpoint, self._settings, self._budget, emit).all(calls)
            return
        price = self._endpoint.price
        fitting = [call for call in calls if self._budget.admits(call[0], price)]

        def settled(answered: Answered) -> None:
            self._budget.settle(*answered, price)
            emit(answered)

        await batches.carry_out(fitting, settled)
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
    return replace(endpoint, base_url=without_secret(base_url))
