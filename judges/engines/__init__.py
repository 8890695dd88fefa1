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
    """Opens the engine that a request's model needs when it is needed, and never holds two models' weights at once.

    Re-running a finished study asks nothing, so it loads nothing.

    Args:
        opener: opens the engine of a model.
        light: whether a model's engine holds no weights here, so that no other need make room for it.
    """

    def __init__(
        self, opener: Callable[[ModelSpec], OpenEngine], light: Callable[[ModelSpec], bool] = lambda model: False
    ) -> None:
        self._opener, self._light = opener, light
        self._open: list[tuple[ModelSpec, OpenEngine]] = []

    @property
    def fingerprint(self) -> str:
        """The latest engine's; empty while none is open."""
        return self._open[-1][1].fingerprint if self._open else ""

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
        """Has what is open forget what it computed for earlier prompts, where it keeps any of that."""
        for _, engine in self._open:
            if hasattr(engine, "forget"):
                engine.forget()

    def close(self) -> None:
        """Closes what is open; may be called again."""
        self._close([model for model, _ in self._open])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _holds(self, model: ModelSpec) -> bool:
        return any(held == model for held, _ in self._open)

    def _close(self, models: Sequence[ModelSpec]) -> None:
        for model in models:
            engine = next(engine for held, engine in self._open if held == model)
            self._open = [(held, other) for held, other in self._open if held != model]
            engine.close()

    def _engine(self, model: ModelSpec) -> OpenEngine:
        if not self._holds(model):
            if not self._light(model):
                self._close([held for held, _ in self._open if not self._light(held)])
            self._open.append((model, self._opener(model)))
        return next(engine for held, engine in self._open if held == model)
