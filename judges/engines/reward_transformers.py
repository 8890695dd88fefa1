"""Reward models scored by torch and transformers alone, in batches of like lengths."""

import gc
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from judges.engines.chat import Plan
from judges.engines.head import Head, only_number, scored
from judges.engines.settings import Placement, RewardSettings
from judges.records import Completion, ModelSpec, Request, UserError


class TransformersScorer:
    """torch and transformers alone."""

    def __init__(
        self, folder: Path, model: ModelSpec, placement: Placement, settings: RewardSettings, head: Head
    ) -> None:
        self._head = head
        self._model, self._device = _load(folder, model, placement, settings.device, head)
        # Without a padding token transformers can't tell where the shorter ones of a batch end.
        self._batch = 1 if head.padding is None else settings.batch_size
        self.fingerprint = f"reward transformers {version('transformers')} {self._device} {model.dtype}"

    def score(self, plans: Sequence[Plan]) -> Iterator[tuple[Request, Completion]]:
        """Yields the completions batch by batch, from the shortest conversations to the longest."""
        shown = sorted(((plan.request, self._head.shown(plan.prompt)) for plan in plans), key=lambda s: len(s[1]))
        for start in range(0, len(shown), self._batch):
            begun = time.perf_counter()
            batch = shown[start : start + self._batch]
            scores = self._forward([prompt for _, prompt in batch])
            seconds = time.perf_counter() - begun
            for (request, prompt), score in zip(batch, scores, strict=True):
                yield request, scored(score, len(prompt), self.fingerprint, seconds)

    def close(self) -> None:
        """Frees the model's memory."""
        import torch

        del self._model
        gc.collect()
        if self._device.startswith("cuda"):
            torch.cuda.empty_cache()

    def _forward(self, prompts: Sequence[Sequence[int]]) -> list[float]:
        """The scores of conversations, padded on the right to one length."""
        import torch

        width = max(map(len, prompts))
        padding = self._head.padding or 0
        ids = [[*p, *[padding] * (width - len(p))] for p in prompts]
        mask = [[1] * len(p) + [0] * (width - len(p)) for p in prompts]
        try:
            with torch.inference_mode():
                tensors = (torch.tensor(rows, device=self._device) for rows in (ids, mask))
                logits = self._model(*tensors, use_cache=False).logits
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"{len(prompts)} conversations together don't fit into {self._device}'s memory: {error}\n"
                "Lower engine.batch_size; what was finished is stored, run the same command again to go on"
            ) from error
        return [only_number(row) for row in logits.float().cpu()]


def _load(folder: Path, model: ModelSpec, placement: Placement, device: str, head: Head) -> tuple[Any, str]:
    """The model with its head, on a device."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UserError(
            f"engine=reward with engine.backend=transformers needs torch ({error}); "
            "run: pip install 'voirdire[transformers]'"
        ) from error
    if model.quantization or model.adapter or placement.devices > 1:
        raise UserError(
            f"{model.name} is quantised, has an adapter or is spread over several GPUs, which transformers does not "
            "serve here; use engine.backend=vllm, or change model.quantization, adapter, tensor_parallel"
        )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    transformers.utils.logging.disable_progress_bar()
    family = transformers.AutoModel if head.each_token else transformers.AutoModelForSequenceClassification
    try:
        loaded, report = family.from_pretrained(
            folder,
            dtype=getattr(torch, model.dtype),
            trust_remote_code=placement.trust_remote_code,
            output_loading_info=True,
        )
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"transformers can't load {model.name} from {folder}: {error}") from error
    if report["missing_keys"]:
        raise UserError(
            f"{model.name} in {folder} lacks weights, which would be drawn at random: {sorted(report['missing_keys'])}"
        )
    longest = loaded.config.get_text_config().max_position_embeddings
    if model.context > longest:
        raise UserError(f"{model.name}: context {model.context} is longer than the model's own {longest}; lower it")
    return loaded.to(device).eval(), device
