"""Engines: what turns requests into completions. Importing this loads no model library.

Each engine is a pure translation, tested everywhere, and a thin call of the library that does the work.
"""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from judges.engines.api_budget import Budget
from judges.engines.settings import (
    ApiSettings,
    Endpoint,
    Placement,
    Price,
    RewardSettings,
    ScriptedSettings,
    Settings,
    TransformersSettings,
    VllmSettings,
)
from judges.records import Completion, ModelSpec, Request

__all__ = [
    "OPENERS",
    "ApiSettings",
    "Budget",
    "Endpoint",
    "OnDemand",
    "OpenEngine",
    "Placement",
    "Price",
    "RewardSettings",
    "ScriptedSettings",
    "Settings",
    "TransformersSettings",
    "VllmSettings",
    "open_engine",
]


class OpenEngine(Protocol):
    """A loaded model; holds memory, and perhaps processes, until closed."""

    @property
    def fingerprint(self) -> str:
        """Name, version, dtype and the flags that matter; goes into every completion."""

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it finishes, in any order; one bad request ends as a completion too."""

    def close(self) -> None:
        """Returns when the engine's processes have ended and its memory is free."""


def _vllm(model: ModelSpec, placement: Placement, settings: Settings, _: Budget) -> OpenEngine:
    from judges.engines.vllm import Vllm

    assert isinstance(settings, VllmSettings)
    return Vllm(model, placement, settings)


def _transformers(model: ModelSpec, placement: Placement, settings: Settings, _: Budget) -> OpenEngine:
    from judges.engines.transformers import Transformers

    assert isinstance(settings, TransformersSettings)
    return Transformers(model, placement, settings)


def _reward(model: ModelSpec, placement: Placement, settings: Settings, _: Budget) -> OpenEngine:
    from judges.engines.reward import Reward

    assert isinstance(settings, RewardSettings)
    return Reward(model, placement, settings)


def _scripted(model: ModelSpec, placement: Placement, settings: Settings, _: Budget) -> OpenEngine:
    from judges.engines.scripted import Scripted, script

    assert isinstance(settings, ScriptedSettings)
    return Scripted(script(settings.script, settings.knowledge), settings.script, settings.delay)


def _api(model: ModelSpec, placement: Placement, settings: Settings, budget: Budget) -> OpenEngine:
    from judges.engines.api import Api

    assert isinstance(settings, ApiSettings)
    return Api(model, placement, settings, budget)


OPENERS: dict[str, Callable[[ModelSpec, Placement, Settings, Budget], OpenEngine]] = {
    "vllm": _vllm,
    "transformers": _transformers,
    "reward": _reward,
    "scripted": _scripted,
    "api": _api,
}


def open_engine(model: ModelSpec, placement: Placement, settings: Settings, budget: Budget | None = None) -> OpenEngine:
    """Loads a model.

    Args:
        model: what is served; its revision must be the one found at `placement`.
        placement: where the weights are.
        settings: which engine, and how.
        budget: of the run, shared by all models behind an API.

    Raises:
        UserError: the engine's library is missing, the model can't be had, or it has no chat template.
    """
    return OPENERS[settings.kind](model, placement, settings, budget or Budget())


class OnDemand:
    """Opens the engine that a request's model needs when it is needed, and never holds two at once.

    Re-running a finished study asks nothing, so it loads nothing.
    """

    def __init__(self, opener: Callable[[ModelSpec], OpenEngine]) -> None:
        self._opener = opener
        self._open: tuple[ModelSpec, OpenEngine] | None = None

    @property
    def fingerprint(self) -> str:
        """The loaded engine's; empty while none is loaded."""
        return self._open[1].fingerprint if self._open else ""

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it finishes, one model after the other, the loaded one first."""
        groups: list[tuple[ModelSpec, list[Request]]] = []  # A spec holds a mapping, so it can't be a key.
        for request in requests:
            group = next((g for model, g in groups if model == request.model), None)
            if group is None:
                groups.append((request.model, group := []))
            group.append(request)
        for model, group in sorted(groups, key=lambda g: not self._holds(g[0])):
            yield from self._engine(model).generate(group)

    def forget(self) -> None:
        """Has the loaded engine forget what it computed for earlier prompts, where it keeps any of that."""
        if self._open and hasattr(self._open[1], "forget"):
            self._open[1].forget()

    def close(self) -> None:
        """Closes what is open; may be called again."""
        if self._open:
            engine, self._open = self._open[1], None
            engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _holds(self, model: ModelSpec) -> bool:
        return self._open is not None and self._open[0] == model

    def _engine(self, model: ModelSpec) -> OpenEngine:
        if self._open and self._holds(model):
            return self._open[1]
        self.close()
        engine = self._opener(model)
        self._open = model, engine
        return engine
