"""What calls would cost before they are made, and what they have cost after."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from experiments.settings import Model
from judges.engines import Price
from judges.engines.api_budget import cost as cost_at
from judges.engines.api_budget import prompt_tokens
from judges.records import Completion, Request


class Rehearsed(Exception):
    """A dry run has said what it had to say."""


class Rehearsal:
    """In a dry run, in place of an engine."""

    fingerprint = "dry run"

    def __init__(self, name: str, price: Price | None) -> None:
        self._name, self._price = name, price

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Asks nothing.

        Raises:
            Rehearsed: always; says what would be asked.
        """
        raise Rehearsed(f"dry run: {estimate(requests, self._name, self._price)}; nothing was asked")

    def close(self) -> None:
        """Nothing to free."""


def estimate(requests: Sequence[Request], name: str, price: Price | None) -> str:
    """Calls, tokens and cost: the prompt's by its length (4 bytes a token), the reply's between none and its limit."""
    prompt = sum(prompt_tokens(r) for r in requests)
    longest = sum(r.sampling.max_tokens for r in requests)
    said = f"{len(requests)} calls of {name}, about {prompt:,.0f} prompt tokens, replies of at most {longest:,} tokens"
    if price is None:
        return f"{said}; its YAML has no price"
    low, high = price.of(prompt, 0, 0), price.of(prompt, 0, longest)
    return f"{said}: ${low:.2f} to ${high:.2f} at the prices of {price.as_of}"


def cost(model: Model, completions: Iterable[Completion]) -> dict[str, Any]:
    """For the manifest: what the calls behind a table have cost, whenever they were made; empty without a price.

    At list prices: a provider's discount for batches is not taken off, nor is what broken tries cost.
    """
    if model.price is None:
        return {}
    return {"cost": {"usd": round(cost_at(completions, model.price), 6), "price": asdict(model.price)}}
