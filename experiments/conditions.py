"""Under which conditions the same greedy requests are served, and which of them there are here."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from experiments.settings import EngineSettings
from judges.engines import TransformersSettings, VllmSettings

ConditionName = Literal[
    "alone", "again", "batch_2", "batch_8", "batch_32", "batch_128", "shuffled", "resumed", "uncached", "eager",
    "compiled", "invariant_alone", "invariant_batch_32",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to serve the requests."""

    batch: int
    """Requests that are handed over together; the next ones follow when all of them are answered. 0: half of all."""
    shuffled: bool = False
    restarted: bool = False
    """The engine is started anew after half of the requests."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the study's engine."""
    reference: ConditionName = "alone"
    """The condition that it is held against."""


CONDITIONS: Mapping[ConditionName, Condition] = {
    "alone": Condition(1),
    "again": Condition(1),  # What differs here differs for no reason that any other condition has.
    "batch_2": Condition(2),
    "batch_8": Condition(8),
    "batch_32": Condition(32),
    "batch_128": Condition(128),
    "shuffled": Condition(32, shuffled=True),
    "resumed": Condition(0, restarted=True),
    "uncached": Condition(1, engine={"prefix_caching": False}),
    "eager": Condition(1, engine={"eager": True}),
    "compiled": Condition(1, engine={"eager": False}),
    "invariant_alone": Condition(1, engine={"batch_invariant": True}, reference="invariant_alone"),
    "invariant_batch_32": Condition(32, engine={"batch_invariant": True}, reference="invariant_alone"),
}
"""In an order in which an engine can stay loaded for as long as possible."""


_MOST = max(condition.batch for condition in CONDITIONS.values())


def engine_for(condition: Condition, settings: EngineSettings) -> EngineSettings:
    """The study's engine as the condition wants it, with room for the largest batch of all."""
    if isinstance(settings, VllmSettings):
        return replace(settings, max_sequences=max(settings.max_sequences, _MOST), **condition.engine)
    if isinstance(settings, TransformersSettings):
        return replace(settings, batch_size=max(settings.batch_size, _MOST))
    return settings


def why_not(condition: Condition, settings: EngineSettings) -> str:
    """Why a condition can't be had here, or would be the same as `alone`; empty where it can."""
    if not condition.engine:
        return ""
    if not isinstance(settings, VllmSettings):
        return f"only vLLM has {', '.join(condition.engine)}; this is engine={settings.kind}"
    own = {"prefix_caching": settings.prefix_caching}
    own["eager"] = (not _capabilities()) if settings.eager is None else settings.eager
    if all(own.get(name) == value for name, value in condition.engine.items()):
        return "this is what the engine does anyway: the same as alone"
    if condition.engine.get("batch_invariant") and not _has_invariant_kernels():
        return "batch-invariant kernels need NVIDIA GPUs of compute capability 8 or above"
    return ""


def _has_invariant_kernels() -> bool:
    found = _capabilities()
    return bool(found) and min(found) >= 8


def _capabilities() -> list[float]:
    """Compute capabilities of the NVIDIA GPUs here."""
    if not shutil.which("nvidia-smi"):
        return []
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        listed = subprocess.run(query, capture_output=True, text=True, check=True, timeout=10).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []
    return [float(word) for word in listed]
