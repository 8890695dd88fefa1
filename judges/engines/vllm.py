"""Judges served by vLLM, in this process or beside it; every finished call is handed on at once."""

import contextlib
import gc
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from judges.engines.chat import Chat, Plan, failed, load_tokenizer
from judges.engines.models import weights_folder
from judges.engines.settings import Placement, VllmSettings
from judges.labels import label_logprobs, label_tokens
from judges.records import Completion, Constraint, ModelSpec, Outcome, Request, UserError

_OUTCOMES: dict[str | None, Outcome] = {"stop": "ok", "length": "truncated"}


def sampling_arguments(plan: Plan, label_ids: Sequence[int], seeded: bool) -> dict[str, Any]:
    """Arguments of vLLM's SamplingParams; all of them explicit, so that no generation_config slips in.

    Args:
        plan: what is asked.
        label_ids: tokens whose log-probabilities at the first position are wanted.
        seeded: give a sampled call its own 63-bit seed.
    """
    sampling = plan.request.sampling
    greedy = sampling.temperature == 0
    return {
        "n": 1,
        "temperature": sampling.temperature,
        "top_p": 1.0 if greedy else sampling.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "max_tokens": plan.max_tokens,
        "seed": plan.request.call_seed if seeded and not greedy else None,
        "logprob_token_ids": list(label_ids) or None,
    }


def structured_arguments(constraint: Constraint) -> dict[str, Any]:
    """Arguments of vLLM's StructuredOutputsParams."""
    match constraint.kind:
        case "choice":
            return {"choice": orjson.loads(constraint.value)}
        case "json" | "regex":
            return {constraint.kind: constraint.value}


def engine_arguments(model: ModelSpec, placement: Placement, settings: VllmSettings, gpu: bool) -> dict[str, Any]:
    """Arguments of vLLM's EngineArgs, short of the folder."""
    return {
        "dtype": model.dtype,
        "quantization": model.quantization or None,
        "max_model_len": model.context,
        "trust_remote_code": placement.trust_remote_code,
        "tensor_parallel_size": placement.tensor_parallel,
        "pipeline_parallel_size": placement.pipeline_parallel,
        "enforce_eager": (not gpu) if settings.eager is None else settings.eager,
        "max_num_seqs": settings.max_sequences,
        "gpu_memory_utilization": settings.gpu_memory,
        "enable_prefix_caching": True,
        # A seeded draw on a partly prefilled prompt kills the CPU engine.
        "enable_chunked_prefill": gpu,
        "generation_config": "vllm",
        "logprobs_mode": "raw_logprobs",
        "structured_outputs_config": {"backend": "xgrammar"},
        "disable_log_stats": True,
        "seed": 0,
    }


class Vllm:
    """A model loaded in vLLM."""

    def __init__(self, model: ModelSpec, placement: Placement, settings: VllmSettings) -> None:
        _set_environment(placement, settings)
        folder = weights_folder(placement, model.revision)
        self._chat = Chat(load_tokenizer(folder, placement.trust_remote_code), model)
        self._settings = settings
        self._labels: dict[tuple[str, ...], dict[str, tuple[int, ...]]] = {}
        gpu = _has_gpu()
        arguments = engine_arguments(model, placement, settings, gpu)
        self._engine = _load(folder, arguments)
        self.fingerprint = _fingerprint(model, placement, settings, arguments, gpu)

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion in the step that ends it.

        Raises:
            UserError: the engine died; what was yielded before stands.
        """
        plans, answered = self._chat.plan(requests, self.fingerprint)
        yield from answered
        plans.sort(key=lambda p: p.prompt)  # Shared prefixes side by side.
        waiting: dict[str, Plan] = {}
        started = time.perf_counter()
        try:
            for i, plan in enumerate(plans):
                if problem := self._submit(str(i), plan):
                    yield plan.request, failed("error", problem, self.fingerprint, len(plan.prompt))
                else:
                    waiting[str(i)] = plan
            while waiting:
                for output in self._step():
                    if output.finished and output.request_id in waiting:
                        plan = waiting.pop(output.request_id)
                        yield plan.request, self._completion(plan, output, time.perf_counter() - started)
        finally:
            if waiting:  # The caller has stopped listening.
                with contextlib.suppress(Exception):
                    self._engine.abort_request(list(waiting))

    def close(self) -> None:
        """Ends the engine's processes and frees its memory."""
        self._engine.engine_core.shutdown()
        del self._engine
        gc.collect()

    def _submit(self, identity: str, plan: Plan) -> str:
        """Hands a request to the engine; returns what is wrong with it, if anything is."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        request = plan.request
        ids = [i for s in self._label_tokens(request.labels).values() for i in s]
        arguments = sampling_arguments(plan, ids, self._settings.seeded)
        try:
            if request.constraint:
                arguments["structured_outputs"] = StructuredOutputsParams(**structured_arguments(request.constraint))
            params = SamplingParams(**arguments, output_kind=RequestOutputKind.FINAL_ONLY)
            self._engine.add_request(identity, {"prompt_token_ids": plan.prompt}, params)
        except (VLLMClientError, ValueError, TypeError) as error:
            return f"vLLM refuses the call: {error}"
        return ""

    def _step(self) -> list[Any]:
        try:
            outputs: list[Any] = self._engine.step()
        except Exception as error:
            raise UserError(
                f"the engine died: {type(error).__name__}: {error}\n"
                "What was finished is stored; run the same command again to go on"
            ) from error
        return outputs

    def _label_tokens(self, labels: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
        if labels not in self._labels:
            self._labels[labels] = label_tokens(self._chat.tokenizer, labels) if labels else {}
        return self._labels[labels]

    def _completion(self, plan: Plan, output: Any, seconds: float) -> Completion:
        answer = output.outputs[0]
        labels = self._label_tokens(plan.request.labels)
        first = {i: entry.logprob for i, entry in answer.logprobs[0].items()} if labels and answer.logprobs else None
        return Completion(
            text=answer.text,
            outcome=_OUTCOMES.get(answer.finish_reason, "error"),
            finish=str(answer.finish_reason),
            prompt_tokens=len(plan.prompt),
            cached_tokens=output.num_cached_tokens or 0,
            completion_tokens=len(answer.token_ids),
            seconds=round(seconds, 4),
            label_logprobs=label_logprobs(first, labels) if first else None,
            engine=self.fingerprint,
            note="" if answer.finish_reason in _OUTCOMES else f"vLLM ended the call: {answer.finish_reason}",
        )


def _set_environment(placement: Placement, settings: VllmSettings) -> None:
    """vLLM reads its environment when it is imported and when its engine starts."""
    separate = settings.separate_process or placement.devices > 1
    os.environ |= {
        "VLLM_ENABLE_V1_MULTIPROCESSING": str(int(separate)),
        "VLLM_CPU_KVCACHE_SPACE": str(settings.cpu_cache_gib),
        "VLLM_CPU_NUM_OF_RESERVED_CPU": str(settings.cpu_reserved),
        "VLLM_BATCH_INVARIANT": str(int(settings.batch_invariant)),
        "VLLM_LOGGING_LEVEL": "INFO" if settings.log else "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_DO_NOT_TRACK": "1",
    }


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _load(folder: Any, arguments: dict[str, Any]) -> Any:
    from vllm import EngineArgs, LLMEngine

    return LLMEngine.from_engine_args(EngineArgs(model=str(folder), **arguments))


def _fingerprint(
    model: ModelSpec, placement: Placement, settings: VllmSettings, arguments: dict[str, Any], gpu: bool
) -> str:
    import vllm

    flags = [
        f"vllm {vllm.__version__}",
        "gpu" if gpu else "cpu",
        model.dtype,
        "eager" if arguments["enforce_eager"] else "compiled",
        "seeded" if settings.seeded else "unseeded",
    ]
    if settings.batch_invariant:
        flags.append("batch-invariant")
    if placement.devices > 1:
        flags.append(f"tp{placement.tensor_parallel} pp{placement.pipeline_parallel}")
    return " ".join(flags)
