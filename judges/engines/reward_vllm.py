"""Reward models scored by vLLM's pooling runner; each score is handed on in the step that brings it."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from judges.engines.chat import Plan, failed
from judges.engines.head import Head, only_number, scored
from judges.engines.settings import Placement, RewardSettings
from judges.engines.vllm_setup import load
from judges.records import Completion, ModelSpec, Request, UserError

_AHEAD = 16  # Calls handed over for each that can be scored at once: the engine idles only where one lot ends.


class VllmScorer:
    """vLLM's pooling runner, with the activation that it would put on the score switched off."""

    def __init__(
        self, folder: Path, model: ModelSpec, placement: Placement, settings: RewardSettings, head: Head
    ) -> None:
        self._head = head
        self._lot = _AHEAD * settings.max_sequences
        self._loaded = load(folder, model, placement, settings.vllm())
        self._identities = count()
        self.fingerprint = f"reward {self._loaded.fingerprint}"

    def score(self, plans: Sequence[Plan]) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion in the step that ends it, the answers to one question side by side."""
        plans = sorted(plans, key=lambda p: p.prompt)
        for start in range(0, len(plans), self._lot):
            yield from self._score_lot(plans[start : start + self._lot])

    def close(self) -> None:
        """Ends the engine."""
        self._loaded.close()
        del self._loaded

    def _score_lot(self, plans: Sequence[Plan]) -> Iterator[tuple[Request, Completion]]:
        begun = time.perf_counter()
        waiting: dict[str, Plan] = {}
        try:
            for plan in plans:
                identity = str(next(self._identities))
                if problem := self._submit(identity, plan):
                    yield plan.request, failed("error", problem, self.fingerprint, len(plan.prompt))
                else:
                    waiting[identity] = plan
            while waiting:
                for output in self._step():
                    if output.finished and output.request_id in waiting:
                        plan = waiting.pop(output.request_id)
                        yield plan.request, self._completion(output, time.perf_counter() - begun)
        finally:
            if waiting:  # The caller listens no longer, or the engine is dead.
                with contextlib.suppress(Exception):
                    self._loaded.engine.abort_request(list(waiting))

    def _submit(self, identity: str, plan: Plan) -> str:
        """Hands a conversation to the engine; returns what is wrong with it, if anything is."""
        from vllm import PoolingParams
        from vllm.exceptions import VLLMClientError

        params = PoolingParams(task="token_classify" if self._head.each_token else "classify", use_activation=False)
        try:
            prompt = {"prompt_token_ids": self._head.shown(plan.prompt)}
            self._loaded.engine.add_request(identity, prompt, params)
        except (VLLMClientError, ValueError, TypeError) as error:
            return f"vLLM refuses the call: {error}"
        return ""

    def _step(self) -> list[Any]:
        try:
            outputs: list[Any] = self._loaded.engine.step()
        except Exception as error:
            raise UserError(
                f"the engine died: {type(error).__name__}: {error}\n"
                "What was finished is stored; run the same command again to go on"
            ) from error
        return outputs

    def _completion(self, output: Any, seconds: float) -> Completion:
        tokens = len(output.prompt_token_ids)
        if output.error is not None:
            return failed("error", f"vLLM ended the call: {output.error}", self.fingerprint, tokens)
        score = only_number(output.outputs.data)
        return scored(score, tokens, self.fingerprint, seconds, cached=output.num_cached_tokens or 0)
