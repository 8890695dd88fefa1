"""Typed settings: what YAML may say, validated at the door; no configuration object goes further than this."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from experiments import configuration
from experiments.complaints import nearest
from judges.engines import (
    ApiSettings,
    Endpoint,
    Placement,
    Price,
    RewardSettings,
    ScriptedSettings,
    TransformersSettings,
    VllmSettings,
)
from judges.engines.settings import Dialect, variable, without_secret
from judges.formats import FORMATS, Thinking
from judges.records import ModelSpec, Order, UserError
from judges.shares import Share


def as_list(value: Any) -> Any:
    """One value stands for a list of it."""
    return value if isinstance(value, list | tuple) else [value]


def label(name: str) -> str:
    """A judge's name as a folder's: no slash, no space, nothing that a shell or a file system minds.

    >>> label("org/a judge")
    'org_a_judge'
    """
    return re.sub(r"[^\w.+-]+", "_", name).strip(".") or "_"


class Strict(BaseModel):
    """Frozen, and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Resources(Strict):
    """What a task of a sweep asks a cluster for on a judge's behalf; None: what the launcher says."""

    gpus: NonNegativeInt | None = None
    """None: as many as the model is spread over."""
    memory_gib: PositiveInt | None = None
    hours: Annotated[float, Field(gt=0)] | None = None


class Model(Strict):
    """A judge's YAML: which weights, and what their family needs."""

    name: str
    """The judge's name in tables and folders."""
    family: str
    weights: str
    """Hub id, or `package:NAME` for weights that a Python package carries."""
    path: Path | None = None
    """A local folder to load instead of `weights`."""
    revision: str = "main"
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    context: PositiveInt
    quantization: str = ""
    adapter: str = ""
    system: Literal["template", "merge"] = "template"
    template_args: Mapping[str, Any] = {}
    thinking: Thinking | None = None
    max_tokens: PositiveInt | None = None
    """Longest reply, where shorter than the format's own limit."""
    engine: Literal["", "vllm", "transformers", "reward", "scripted", "api"] = ""
    """The one kind of engine that can serve it, whatever the study's; empty: any that runs weights."""
    script: str = ""
    """Of a scripted one: which script, where not the engine's own."""
    tensor_parallel: PositiveInt = 1
    pipeline_parallel: PositiveInt = 1
    trust_remote_code: bool = False
    resources: Resources = Resources()
    dialect: Dialect = "compatible"
    """Of a judge behind an API, as all below: how its endpoint is spoken to."""
    base_url: Annotated[str, AfterValidator(without_secret)] = ""
    key_env: Annotated[str, AfterValidator(variable)] = ""
    """The environment variable that holds the key; empty: the endpoint wants none."""
    reasoning_effort: str = ""
    """In the provider's words, such as `low`; empty: as the provider has it."""
    temperature: Literal["asked", "fixed"] = "asked"
    """`fixed`: the model takes no temperature, so none is sent, whatever the study asks for."""
    price: Price | None = None

    @property
    def label(self) -> str:
        """The name as a folder's."""
        return label(self.name)

    def placement(self) -> Placement:
        """Where the weights are and how they are spread."""
        path = str(self.path.expanduser()) if self.path else self.weights
        endpoint = Endpoint(self.dialect, self.base_url, self.key_env, self.temperature, self.price)
        return Placement(path, self.trust_remote_code, self.tensor_parallel, self.pipeline_parallel, endpoint)

    def spec(self, name: str, revision: str) -> ModelSpec:
        """The model's identity under a name and revision that have been resolved."""
        same = ("dtype", "context", "quantization", "adapter", "system", "template_args", "reasoning_effort")
        return ModelSpec(name, revision, **{field: getattr(self, field) for field in same})


class Data(Strict):
    """Which items: arguments of `judges.data.load`."""

    name: str
    label: str
    """Names the run folder: the choice made on the command line, such as `judgebench_100`."""
    path: Path | None = None
    limit: PositiveInt | None = None
    seed: int = 42
    sample: Literal["proportional", "uniform", "random"] = "proportional"
    balance: bool = True
    split: str | None = None
    languages: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(min_length=1)] | None = None
    """BCP 47 tags of those to take, of a data set that has several; None takes all."""


class Prompts(Strict):
    """Where templates come from."""

    path: Path | None = None


class Bootstrap(Strict):
    """How intervals are made."""

    replicates: NonNegativeInt = 10_000
    interval: Literal["percentile", "bca"] = "percentile"
    seed: int = 0


def _known_format(name: str) -> str:
    if name not in FORMATS:
        raise ValueError(f"no format is called {name!r}; {nearest(name, FORMATS)}")
    return name


FormatName = Annotated[str, AfterValidator(_known_format)]


EngineSettings = Annotated[
    VllmSettings | TransformersSettings | RewardSettings | ScriptedSettings | ApiSettings, Field(discriminator="kind")
]


class Budget(Strict):
    """What the calls of judges behind an API may amount to, in one run; every point and shard has its own."""

    usd: NonNegativeFloat | None = None
    calls: NonNegativeInt | None = None


def _a_part(text: str) -> str:
    try:
        return str(Share.parse(text))
    except UserError as error:
        raise ValueError(str(error)) from error


class Settings(Strict):
    """What every study needs to know."""

    study: str
    root: Path = Path("runs")
    shard: Annotated[str, AfterValidator(_a_part)] | None = None
    """`i/n`: ask only for this part of the calls; other processes ask for the others."""
    workers: PositiveInt = 1
    """Processes on this machine that share the calls, each with its own engine and GPUs."""
    seed: int = 0
    model: Model
    data: Data
    engine: EngineSettings
    api: ApiSettings = ApiSettings()
    """Of every judge behind an API, whatever `engine` says."""
    budget: Budget = Budget()
    dry_run: bool = False
    """Say what would be asked and what it would cost, and ask nothing."""
    prompt: Prompts = Prompts()
    bootstrap: Bootstrap = Bootstrap()

    @model_validator(mode="after")
    def _one_purse(self) -> "Settings":
        if self.workers > 1 and (self.budget.usd, self.budget.calls) != (None, None):
            raise ValueError("a budget is one process's: each of several workers would spend it; leave workers= out")
        return self

    @model_validator(mode="before")
    @classmethod
    def _engine_of_its_own(cls, given: Any) -> Any:
        """A judge that only one kind of engine can serve is served by that, whatever `engine` says."""
        if not isinstance(given, Mapping) or not isinstance(model := given.get("model"), Mapping):
            return given
        kind = model.get("engine") or given["engine"]["kind"]
        if kind == given["engine"]["kind"]:
            engine = given["engine"]
        else:
            engine = {"kind": "api", **given.get("api", {})} if kind == "api" else configuration.engine(kind)
        if kind == "scripted" and model.get("script"):
            engine = {**engine, "script": model["script"]}
        return {**given, "engine": engine}


class PairwiseSettings(Settings):
    """A crossed design of pairwise judgements."""

    format: Annotated[tuple[FormatName, ...], BeforeValidator(as_list), Field(min_length=1)]
    order: Annotated[tuple[Order, ...], BeforeValidator(as_list), Field(min_length=1)] = ("AB", "BA")
    repeats: PositiveInt = 1
    temperature: Annotated[
        tuple[Annotated[float, Field(ge=0, le=2)], ...], BeforeValidator(as_list), Field(min_length=1)
    ] = (0.0,)
    constrained: bool = False
    logprobs: bool = False

    @property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """What is asked of every pair: method and format; of a reward model a score, whatever `format` says."""
        if isinstance(self.engine, RewardSettings):
            return (("reward", "score"),)
        return tuple(("pairwise", form) for form in self.format)

    def repeats_of(self, form: str, temperature: float) -> int:
        """How often a pair is asked in one order in this cell; 0 where the design has no such cell."""
        return self.repeats

    @model_validator(mode="after")
    def _one_temperature_where_it_is_fixed(self) -> "PairwiseSettings":
        if self.model.temperature == "fixed" and len(self.temperature) > 1:
            raise ValueError(f"{self.model.name} takes no temperature: more than one would be the same calls again")
        return self

    @model_validator(mode="after")
    def _a_score_is_not_sampled(self) -> "PairwiseSettings":
        if isinstance(self.engine, RewardSettings):
            meaningless = {"temperature": any(self.temperature), "constrained": self.constrained}
            if wrong := [name for name, set_ in meaningless.items() if set_]:
                raise ValueError(f"a reward model writes nothing that {' or '.join(wrong)} could change; leave it out")
        return self
