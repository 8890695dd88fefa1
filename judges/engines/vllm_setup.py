"""How vLLM is set up for one model on this machine: arguments, environment, fingerprint."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judges.engines.settings import Placement, VllmSettings
from judges.engines.watch import Watch
from judges.records import ModelSpec, UserError

# Read by torch and vLLM when they are imported.
_QUIET = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "TOKENIZERS_PARALLELISM": "true",
    "PYTHONWARNINGS": "ignore::FutureWarning",  # In the processes that vLLM starts.
}


def is_separate(placement: Placement, settings: VllmSettings) -> bool:
    """Whether the engine core runs in a process of its own.

    It then works on while we store what it finished. On a CPU, moreover, it can only there be bound to all cores:
    that takes libraries that are loaded before Python is (vLLM issue 27369).
    """
    return settings.separate_process or placement.devices > 1


def engine_arguments(model: ModelSpec, placement: Placement, settings: VllmSettings, gpu: bool) -> dict[str, Any]:
    """Arguments of vLLM's EngineArgs, short of the folder."""
    return {
        "dtype": model.dtype,
        "quantization": model.quantization or None,
        "max_model_len": model.context,
        "language_model_only": True,  # A judge reads text: no image encoder is loaded.
        "trust_remote_code": placement.trust_remote_code,
        "tensor_parallel_size": placement.tensor_parallel,
        "pipeline_parallel_size": placement.pipeline_parallel,
        "distributed_executor_backend": None if settings.executor == "auto" else settings.executor,
        "enforce_eager": (not gpu) if settings.eager is None else settings.eager,
        "max_num_seqs": settings.max_sequences,
        "gpu_memory_utilization": settings.gpu_memory,
        "enable_prefix_caching": settings.prefix_caching,
        # On a CPU a seeded draw on a partly prefilled prompt kills the engine.
        "enable_chunked_prefill": gpu or not settings.seeded,
        "generation_config": "vllm",
        "logprobs_mode": "raw_logprobs",
        "structured_outputs_config": {"backend": "xgrammar"},
        "disable_log_stats": True,
        "use_tqdm_on_load": settings.log,
        "seed": 0,
    }


def environment(placement: Placement, settings: VllmSettings) -> dict[str, str]:
    """Environment variables that vLLM reads when its engine starts."""
    return {
        "VLLM_ENABLE_V1_MULTIPROCESSING": str(int(is_separate(placement, settings))),
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "VLLM_CPU_KVCACHE_SPACE": str(settings.cpu_cache_gib),
        "VLLM_CPU_NUM_OF_RESERVED_CPU": str(settings.cpu_reserved),
        "VLLM_BATCH_INVARIANT": str(int(settings.batch_invariant)),
    }


def fingerprint(version: str, model: ModelSpec, placement: Placement, settings: VllmSettings, gpu: bool) -> str:
    """What a completion says of the engine that made it.

    >>> fingerprint("0.32.0", ModelSpec("m", "1"), Placement("m"), VllmSettings(), gpu=False)
    'vllm 0.32.0 cpu bfloat16 eager seeded'
    """
    eager = engine_arguments(model, placement, settings, gpu)["enforce_eager"]
    flags = [f"vllm {version}", "gpu" if gpu else "cpu", model.dtype, "eager" if eager else "compiled"]
    flags.append("seeded" if settings.seeded else "unseeded")
    if not settings.prefix_caching:
        flags.append("no-prefix-caching")
    if settings.batch_invariant:
        flags.append("batch-invariant")
    if placement.devices > 1:
        flags.append(f"tp{placement.tensor_parallel} pp{placement.pipeline_parallel}")
    return " ".join(flags)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A running engine and what watches over its processes."""

    engine: Any
    fingerprint: str
    watch: Watch | None

    def close(self) -> None:
        """Ends the engine; its processes are gone when this returns."""
        self.engine.engine_core.shutdown()
        if self.watch:
            self.watch.close()


def load(folder: Path, model: ModelSpec, placement: Placement, settings: VllmSettings) -> Loaded:
    """Starts vLLM on a model folder.

    Raises:
        UserError: vLLM is not installed, or can't serve this model here.
    """
    if model.adapter:
        raise UserError(f"{model.name} has an adapter, which is not served here; merge it into the weights")
    os.environ.update(_QUIET, VLLM_LOGGING_LEVEL="INFO" if settings.log else "ERROR")
    vllm, gpu = _import()
    os.environ.update(environment(placement, settings))
    watch = Watch() if is_separate(placement, settings) else None
    try:
        arguments = vllm.EngineArgs(model=str(folder), **engine_arguments(model, placement, settings, gpu))
        engine = vllm.LLMEngine.from_engine_args(arguments)
    except BaseException as error:
        if watch:
            watch.close()
        if isinstance(error, Exception):
            raise UserError(f"vLLM can't serve {model.name} from {folder}: {error}") from error
        raise
    return Loaded(engine, fingerprint(vllm.__version__, model, placement, settings, gpu), watch)


def _import() -> tuple[Any, bool]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            import vllm
            from vllm.platforms import current_platform
    except ImportError as error:
        raise UserError(
            f"engine=vllm needs vLLM ({error}); `make` installs it, or use engine=transformers where it can't be had"
        ) from error
    return vllm, not current_platform.is_cpu()
