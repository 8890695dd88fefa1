"""Steps, engines, and the one function that does all model and store I/O.

A step is a pure way to ask and a pure way to read; `carry_out` asks an engine for what the
store lacks and reads the rest back.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from judges.records import Completion, Request
from judges.store import Store

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)


class Step(Protocol[In, Out]):
    """One kind of model call: how to put it, and how to read what comes back."""

    def ask(self, x: In, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """The next requests, given the completions so far; empty when nothing is left to ask."""

    def read(self, x: In, completions: Sequence[Completion], /) -> Out:
        """The result, from all completions in the order in which they were asked for."""


class Engine(Protocol):
    """Something that turns requests into completions."""

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it finishes, in any order; one bad request ends as a completion too."""


class Watch(Protocol):
    """Is told how a run goes on; a progress bar, for one."""

    def begin(self, total: int, stored: int, /) -> None:
        """A round of `total` distinct calls begins, of which `stored` are answered already."""

    def finished(self, completion: Completion, /) -> None:
        """One call has come back and is stored."""


class Unwatched:
    """Nobody looks on."""

    def begin(self, total: int, stored: int, /) -> None:
        """Ignores it."""

    def finished(self, completion: Completion, /) -> None:
        """Ignores it."""


X = TypeVar("X")
Y = TypeVar("Y")


class Answered(NamedTuple, Generic[Y]):
    """What a step made of one input, and the calls behind it."""

    result: Y
    keys: tuple[str, ...]
    completions: tuple[Completion, ...]


def carry_out(
    step: Step[X, Y], inputs: Iterable[X], engine: Engine, store: Store, watch: Watch | None = None
) -> list[Answered[Y]]:
    """Asks for what the store lacks, stores each completion as it comes, and reads all.

    Args:
        step: how to ask and how to read.
        inputs: what to put through it, one result each, in order.
        engine: used only where something is missing; equal requests are asked once.
        store: holds what was asked before; each completion is in it before the next is awaited.
        watch: told of every round and every call.

    Returns:
        For each input its result, and the keys and completions of the calls behind it, in the order of asking.
    """
    watch = watch or Unwatched()
    inputs = list(inputs)
    completions: list[list[Completion]] = [[] for _ in inputs]
    keys: list[list[str]] = [[] for _ in inputs]
    active: Iterable[int] = range(len(inputs))
    while True:
        asked = {i: requests for i in active if (requests := step.ask(inputs[i], completions[i]))}
        if not asked:
            break
        answers = _answer({r.key: r for requests in asked.values() for r in requests}, engine, store, watch)
        for i, requests in asked.items():
            keys[i] += [r.key for r in requests]
            completions[i] += [answers[r.key] for r in requests]
        active = list(asked)
    return [
        Answered(step.read(x, cs), tuple(ks), tuple(cs)) for x, cs, ks in zip(inputs, completions, keys, strict=True)
    ]


def _answer(requests: dict[str, Request], engine: Engine, store: Store, watch: Watch) -> dict[str, Completion]:
    missing = store.missing(requests)
    watch.begin(len(requests), len(requests) - len(missing))
    if missing:
        for request, completion in engine.generate([requests[key] for key in missing]):
            store.put(request, completion)
            watch.finished(completion)
    return store.read(requests)
