"""What a stage works with: the items, the models, and the one way to ask them."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from experiments.console import console
from experiments.plans import noted
from experiments.roster import Player
from judges.ask import Answered, Engine, Step, Watch, carry_out
from judges.records import Completion, ModelSpec, Request, UserError
from judges.store import Store

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class Workshop:
    """Passed to every stage of a pipeline."""

    items: Sequence[Any]
    """What the data set holds: items, or grounded records."""
    roles: Mapping[str, tuple[Player, ...]]
    engine: Engine
    store: Store
    watch: Watch
    completions: dict[str, Completion] = field(default_factory=dict)
    """Every call behind what was asked, by key: the manifest counts them."""
    asked: dict[str, ModelSpec] = field(default_factory=dict)
    """Whose call each of them is, likewise."""
    notes: list[str] = field(default_factory=list)

    def ask(self, step: Step[In, Out], inputs: Iterable[In]) -> list[Answered[Out]]:
        """Puts the inputs through a step, one result each, in order; asks only for what the store lacks."""
        answers = carry_out(noted(_Heard(step, self.asked), self.watch), inputs, self.engine, self.store, self.watch)
        self.completions.update((k, c) for a in answers for k, c in zip(a.keys, a.completions, strict=True))
        return answers

    def players(self, role: str) -> tuple[Player, ...]:
        """The models that play a role, in the order in which they were named."""
        return self.roles[role]

    def only(self, role: str) -> Player:
        """The one model that plays a role.

        Raises:
            UserError: several do.
        """
        if len(found := self.roles[role]) != 1:
            raise UserError(f"{role} takes one model; got {', '.join(p.model.name for p in found)}")
        return found[0]

    def note(self, text: str) -> None:
        """Tells a person something, once."""
        if text not in self.notes:
            self.notes.append(text)
            console.print(f"note: {text}", markup=False, soft_wrap=True)

    def command(self, **changes: str) -> str:
        """The command that was typed, with some settings changed."""
        words = [w for w in sys.argv[1:] if w.partition("=")[0].partition(".")[0] not in changes]
        words += [f"{name}={value}" for name, value in changes.items()]
        return shlex.join(["python", "-m", "experiments", *words])


@dataclass(frozen=True)
class _Heard(Generic[In, Out]):
    """A step that notes whom it asks."""

    step: Step[In, Out]
    asked: dict[str, ModelSpec]

    def ask(self, x: In, so_far: Sequence[Completion], /) -> Sequence[Request]:
        requests = self.step.ask(x, so_far)
        self.asked.update((request.key, request.model) for request in requests)
        return requests

    def read(self, x: In, completions: Sequence[Completion], /) -> Out:
        return self.step.read(x, completions)


class Lacking:
    """Stands in for an engine and a watch where no call is to be made: what the store lacks is counted."""

    class Calls(Exception):
        """So many calls are not in the store."""

        def __init__(self, missing: int, total: int) -> None:
            super().__init__(missing, total)
            self.missing, self.total = missing, total

    def __init__(self) -> None:
        self._total = 0

    def begin(self, total: int, stored: int, /) -> None:
        """Notes how many calls a round has."""
        self._total = total

    def finished(self, completion: Completion, /) -> None:
        """Never comes to pass."""

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Makes no call.

        Raises:
            Lacking.Calls: always.
        """
        raise Lacking.Calls(len(requests), self._total)
