"""What a run may spend on calls, and whether the next one still fits."""

from collections.abc import Iterable

from judges.engines.settings import Price
from judges.records import Completion, Request, UserError

_TURN = 8  # Tokens that a chat template adds to a message, at most.


def prompt_tokens(request: Request, bytes_each: float = 4.0) -> float:
    """An estimate without a tokenizer: so many bytes of UTF-8 a token, which suits English."""
    return sum(len(m.content.encode()) / bytes_each + _TURN for m in request.messages)


def dearest(request: Request, price: Price) -> float:
    """What a call can cost at most: a token for each byte that is sent, and a reply up to the limit."""
    schema = len(request.constraint.value.encode()) if request.constraint else 0
    return price.of(prompt_tokens(request, 1.0) + schema, 0, request.sampling.max_tokens)


def cost(completions: Iterable[Completion], price: Price) -> float:
    """What calls have cost, by the tokens that the provider counted."""
    return sum(price.of(c.prompt_tokens, c.cached_tokens, c.completion_tokens) for c in completions)


class Budget:
    """The limits of one run, over all of its models, and what is gone of them."""

    def __init__(self, usd: float | None = None, calls: int | None = None) -> None:
        self._usd, self._calls = usd, calls
        self.spent = 0.0
        """By calls that came back, as far as their model has a price."""
        self.made = 0
        """Calls, and tries that broke off without a reply: they may be charged for, too."""
        self.lost = 0.0
        """What such tries may have cost at most."""
        self._held = 0.0

    def check(self, price: Price | None, name: str) -> None:
        """Refuses a model whose calls can't be reckoned.

        Raises:
            UserError: there is a limit in dollars and the model has no price.
        """
        if self._usd is not None and price is None:
            raise UserError(
                f"budget.usd={self._usd:g} needs a price, and {name} has none. Write it into the judge's YAML as its "
                "provider has it today (price: {input: , cached: , output: , as_of: }, dollars per million tokens), or "
                "limit calls instead: budget.calls=N"
            )

    def admits(self, request: Request, price: Price | None) -> bool:
        """Whether a call fits, at its dearest, beside those under way; if so, that much is held for it."""
        held = dearest(request, price) if price else 0.0
        if self._calls is not None and self.made >= self._calls:
            return False
        if self._usd is not None and self.spent + self.lost + self._held + held > self._usd:
            return False
        self.made += 1
        self._held += held
        return True

    def lose(self, request: Request, price: Price | None) -> bool:
        """A try of a call that was admitted broke off without a reply; whether another one fits."""
        self.made += 1
        self.lost += dearest(request, price) if price else 0.0
        if self._calls is not None and self.made > self._calls:
            return False
        return self._usd is None or self.spent + self.lost + self._held <= self._usd

    def settle(self, request: Request, completion: Completion, price: Price | None) -> None:
        """A call that was admitted came back."""
        if price:
            self._held -= dearest(request, price)
            self.spent += cost([completion], price)

    def gone(self, left: int) -> UserError:
        """Says that the budget is used up with so many calls left."""
        limit = f"budget.calls={self._calls}" if self._stopped_by_calls() else f"budget.usd={self._usd:g}"
        spent = f", ${self.spent:.4f} by the provider's count of tokens" if self.spent else ""
        spent += f", at most ${self.lost:.4f} for tries that broke off" if self.lost else ""
        return UserError(
            f"{limit} is used up: {self.made} calls made{spent}; {left} are left. What was finished is stored. "
            "The same command goes on from there with a budget of the same size; give it a larger one to get further"
        )

    def _stopped_by_calls(self) -> bool:
        return self._calls is not None and self.made >= self._calls
