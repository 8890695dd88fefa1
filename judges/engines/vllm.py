"""Judges served by vLLM; each call is handed on in the step that ends it."""

import contextlib
import gc
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import orjson

from judges.engines.chat import Chat, Plan, failed, load_tokenizer, stop_tokens
from judges.engines.models import weights_folder
from judges.engines.settings import Placement, VllmSettings
from judges.engines.vllm_setup import load
from judges.labels import LabelSets, label_sets
from judges.records import Completion, Constraint, ModelSpec, Outcome, Request, UserError

_OUTCOMES: dict[str | None, Outcome] = {"stop": "ok", "length": "truncated"}
_AHEAD = 4  # Calls handed over for each that can be decoded at once: enough to keep the scheduler fed.
_COLDEST = 0.01  # vLLM silently raises any lower temperature to this.


def sampling_arguments(plan: Plan, label_ids: Sequence[int], stop: Sequence[int], seeded: bool) -> dict[str, Any]:
    """Arguments of vLLM's SamplingParams; all of them explicit, so that no generation_config slips in.

    Args:
        plan: what is asked.
        label_ids: tokens whose log-probabilities are wanted; vLLM gives them at every position.
        stop: tokens that end an answer.
        seeded: give a sampled call its own 63-bit seed.

    Raises:
        ValueError: vLLM would sample at another temperature than the one asked for.
    """
    sampling = plan.request.sampling
    greedy = sampling.temperature == 0
    if not greedy and sampling.temperature < _COLDEST:
        raise ValueError(f"temperature {sampling.temperature} is below vLLM's lowest, {_COLDEST}; use 0")
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
        "stop_token_ids": list(stop),
        "seed": plan.request.call_seed if seeded and not greedy else None,
        "logprob_token_ids": list(label_ids) or None,
        # vLLM would else decode every candidate at every position and make an object of each.
        "flat_logprobs": True,
        "detokenize": False,
    }


def structured_arguments(constraint: Constraint) -> dict[str, Any]:
    """Arguments of vLLM's StructuredOutputsParams.

    >>> structured_arguments(Constraint("choice", '["A", "B"]'))
    {'choice': ['A', 'B']}
    """
    match constraint.kind:
        case "choice":
            return {"choice": orjson.loads(constraint.value)}
        case "json" | "regex":
            return {constraint.kind: constraint.value}


class Vllm:
    """A model loaded in vLLM."""

    def __init__(self, model: ModelSpec, placement: Placement, settings: VllmSettings) -> None:
        folder = weights_folder(placement, model.revision)
        tokenizer = load_tokenizer(folder, placement.trust_remote_code)
        self._chat = Chat(tokenizer, model)
        self._stop = sorted(stop_tokens(folder, tokenizer))
        self._seeded = settings.seeded
        self._window = _AHEAD * settings.max_sequences
        self._identities = count()
        self._labels: dict[tuple[tuple[str, ...], str], LabelSets] = {}
        self._decode = partial(tokenizer.decode, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        self._loaded = load(folder, model, placement, settings)
        self._engine = self._loaded.engine
        self.fingerprint = self._loaded.fingerprint

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion in the step that ends it.

        Raises:
            UserError: the engine died; what was yielded before stands.
        """
        plans, answered = self._chat.plan(requests, self.fingerprint)
        yield from answered
        plans.sort(key=lambda p: p.prompt)  # Shared prefixes side by side.
        queue = deque(plans)
        waiting: dict[str, tuple[Plan, float]] = {}
        try:
            while queue or waiting:
                while queue and len(waiting) < self._window:
                    identity, plan = str(next(self._identities)), queue.popleft()
                    if problem := self._submit(identity, plan):
                        yield plan.request, failed("error", problem, self.fingerprint, len(plan.prompt))
                    else:
                        waiting[identity] = plan, time.perf_counter()
                for output in self._step() if waiting else ():
                    if output.finished and output.request_id in waiting:
                        plan, begun = waiting.pop(output.request_id)
                        yield plan.request, self._completion(plan, output, time.perf_counter() - begun)
        finally:
            if waiting:  # The caller listens no longer, or the engine is dead.
                with contextlib.suppress(Exception):
                    self._engine.abort_request(list(waiting))

    def forget(self) -> None:
        """Empties the prefix cache."""
        self._engine.reset_prefix_cache()

    def close(self) -> None:
        """Ends the engine's processes and frees its memory."""
        self._loaded.close()
        del self._engine, self._loaded
        gc.collect()

    def _submit(self, identity: str, plan: Plan) -> str:
        """Hands a call to the engine; returns what is wrong with it, if anything is."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        request = plan.request
        try:
            arguments = sampling_arguments(plan, self._label_sets(request).ids, self._stop, self._seeded)
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

    def _label_sets(self, request: Request) -> LabelSets:
        wanted = request.labels, request.label_after
        if wanted not in self._labels:
            self._labels[wanted] = label_sets(self._chat.tokenizer, *wanted)
        return self._labels[wanted]

    def _label_logprobs(self, request: Request, answer: Any) -> dict[str, float] | None:
        def at(position: int) -> dict[int, float]:
            return {i: entry.logprob for i, entry in answer.logprobs[position].items()}

        if not request.labels or not answer.logprobs:
            return None
        return self._label_sets(request).read(answer.token_ids, at, self._decode)

    def _completion(self, plan: Plan, output: Any, seconds: float) -> Completion:
        answer = output.outputs[0]
        tokens = answer.token_ids
        return Completion(
            text=self._decode(tokens[:-1] if tokens and tokens[-1] in self._stop else tokens),
            outcome=_OUTCOMES.get(answer.finish_reason, "error"),
            finish=str(answer.finish_reason),
            prompt_tokens=len(plan.prompt),
            cached_tokens=output.num_cached_tokens or 0,
            completion_tokens=len(tokens),
            seconds=round(seconds, 4),
            label_logprobs=self._label_logprobs(plan.request, answer),
            engine=self.fingerprint,
            note="" if answer.finish_reason in _OUTCOMES else f"vLLM ended the call: {answer.finish_reason}",
        )
