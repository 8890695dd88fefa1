"""Steps, engines, and the one function that does all model and store I/O.

A step is a pure way to ask and a pure way to read; `carry_out` asks an engine for what the
store lacks and reads the rest back. An engine may be `Shared` with other processes.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from judges.records import Completion, Request
from judges.shares import Share, Unfinished
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


PATIENCE = 120.0
"""Seconds for which a process that may have more to ask waits for calls of others while none of those comes in."""


@dataclass(frozen=True)
class Shared:
    """An engine that this process asks only for its share of the calls; others ask for the rest, into the same store.

    The key of each request decides whose it is, so nobody has to speak with anybody.
    """

    engine: Engine
    share: Share
    more: bool = False
    """Another step will be put to what this one gives, so that it is worth waiting for the others."""
    patience: float = PATIENCE
    poll: float = 2.0

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """As the engine does."""
        return self.engine.generate(requests)


PENDING = "pending"
"""`Completion.finish` of a call that nobody has answered yet."""


class Pending:
    """In place of an engine where a study is only looked at: nothing is asked, what the store lacks is `PENDING`."""

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """One mark a request, which goes into no store."""
        return ((r, Completion("", outcome="error", finish=PENDING, note="not asked yet")) for r in requests)


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
        engine: used only where something is missing; equal requests are asked once. If it is `Shared`, only the
            calls of our share are asked for.
        store: holds what was asked before; each completion is in it before the next is awaited.
        watch: told of every round and every call.

    Returns:
        For each input its result, and the keys and completions of the calls behind it, in the order of asking.

    Raises:
        Unfinished: the engine is shared, our share is stored, and calls of others are missing.
    """
    watch = watch or Unwatched()
    inputs = list(inputs)
    completions: list[list[Completion]] = [[] for _ in inputs]
    keys: list[list[str]] = [[] for _ in inputs]
    answer = _answers(engine, store, watch)
    asked = _asked(step, inputs, completions, range(len(inputs)))
    while asked:
        answers = answer({r.key: r for requests in asked.values() for r in requests})
        settled = [i for i, requests in asked.items() if all(r.key in answers for r in requests)]
        for i in settled:
            requests = asked.pop(i)
            keys[i] += [r.key for r in requests]
            completions[i] += [answers[r.key] for r in requests]
        asked = dict(sorted((asked | _asked(step, inputs, completions, settled)).items()))
    return [
        Answered(step.read(x, cs), tuple(ks), tuple(cs)) for x, cs, ks in zip(inputs, completions, keys, strict=True)
    ]


def _asked(
    step: Step[X, Y], inputs: Sequence[X], completions: Sequence[Sequence[Completion]], active: Iterable[int]
) -> dict[int, Sequence[Request]]:
    return {i: requests for i in active if (requests := step.ask(inputs[i], completions[i]))}


def _answers(engine: Engine, store: Store, watch: Watch) -> "_Whole":
    if isinstance(engine, Pending):
        return _Looking(engine, store, watch)
    return _Part(engine, store, watch) if isinstance(engine, Shared) else _Whole(engine, store, watch)


@dataclass
class _Whole:
    """Answers every request of a round."""

    engine: Engine
    store: Store
    watch: Watch

    def __call__(self, requests: Mapping[str, Request]) -> dict[str, Completion]:
        self.ask(requests, requests)
        found = self.store.read(requests)
        return {key: found[key] for key in requests}

    def ask(self, requests: Mapping[str, Request], ours: Iterable[str]) -> None:
        """Asks for those of ours that have no answer."""
        ours = list(ours)
        missing = self.store.missing(ours)
        self.watch.begin(len(ours), len(ours) - len(missing))
        if missing:
            for request, completion in self.engine.generate([requests[key] for key in missing]):
                self.store.put(request, completion)
                self.watch.finished(completion)


class _Looking(_Whole):
    """Answers what is stored, and marks the rest."""

    def __call__(self, requests: Mapping[str, Request]) -> dict[str, Completion]:
        marks = {request.key: mark for request, mark in self.engine.generate(list(requests.values()))}
        return marks | self.store.read(requests)


@dataclass
class _Part(_Whole):
    """Asks for what is ours and answers what is stored; waits for others where that may lead to more of ours."""

    engine: Shared

    def __post_init__(self) -> None:
        self._rounds = 0
        self._awaited: set[str] = set()
        self._known: set[str] = set()
        self._seen: set[str] = set()
        self._heard = 0.0

    def __call__(self, requests: Mapping[str, Request]) -> dict[str, Completion]:
        if new := [key for key in requests if key not in self._seen]:
            self._rounds += 1
            self._seen.update(new)
            self._awaited |= self._absent([key for key in new if not self.engine.share.owns(key)])
            if ours := list(filter(self.engine.share.owns, new)):
                self.ask(requests, ours)
            self._heard = time.monotonic()
        found = self._stored(requests)
        while not new and found.keys() <= self._known:
            self._wait(len(requests) - len(found))
            found = self._stored(requests)
        self._known |= found.keys()
        return found

    def _absent(self, keys: Iterable[str]) -> set[str]:
        missing = self.store.missing(keys)
        return set(missing) - self.store.read(missing).keys()

    def _stored(self, requests: Mapping[str, Request]) -> dict[str, Completion]:
        self.store.refresh()
        found = self.store.read(requests)
        if arrived := self._awaited & found.keys():
            self._heard = time.monotonic()
            self._awaited -= arrived
        return found

    def _wait(self, missing: int) -> None:
        # After a step of one round there is nothing more for us to ask.
        worthwhile = self.engine.more or self._rounds > 1
        if not worthwhile or time.monotonic() - self._heard > self.engine.patience:
            raise Unfinished(missing)
        time.sleep(self.engine.poll)
