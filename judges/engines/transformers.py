"""Judges served by torch and transformers alone; the fallback where vLLM is not installed."""

import gc
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from judges.engines.chat import Chat, Plan, failed, load_tokenizer, stop_tokens
from judges.engines.decoding import Batch, Row, draw
from judges.engines.grammar import Grammars
from judges.engines.models import weights_folder
from judges.engines.settings import Placement, TransformersSettings
from judges.labels import LabelSets, label_sets
from judges.records import Completion, ModelSpec, Request, UserError


class Transformers:
    """A model loaded in transformers."""

    def __init__(self, model: ModelSpec, placement: Placement, settings: TransformersSettings) -> None:
        torch, transformers = _import()
        _check(model, placement)
        folder = weights_folder(placement, model.revision)
        tokenizer = load_tokenizer(folder, placement.trust_remote_code)
        self._chat = Chat(tokenizer, model)
        self._stop = stop_tokens(folder, tokenizer)
        self._settings = settings
        self._device = _device(settings.device)
        self._model = _load(model, placement, folder, self._device)
        vocabulary = self._model.config.get_text_config().vocab_size
        self._grammars = Grammars(tokenizer, vocabulary, self._stop)
        self._labels: dict[tuple[tuple[str, ...], str], LabelSets] = {}
        self._decode_text = partial(tokenizer.decode, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        seeds = "seeded" if settings.seeded else "unseeded"
        self.fingerprint = (
            f"transformers {transformers.__version__} torch {torch.__version__} {self._device} {model.dtype} "
            f"batch {settings.batch_size} {seeds}"
        )

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it ends, batch after batch from the shortest prompts to the longest.

        Raises:
            UserError: the device's memory does not hold a batch.
        """
        plans, answered = self._chat.plan(requests, self.fingerprint)
        yield from answered
        plans.sort(key=lambda p: (len(p.prompt), p.prompt))
        for start in range(0, len(plans), self._settings.batch_size):
            yield from self._decode(plans[start : start + self._settings.batch_size])

    def close(self) -> None:
        """Frees the model's memory."""
        torch, _ = _import()
        del self._model
        gc.collect()
        if self._device.startswith("cuda"):
            torch.cuda.empty_cache()

    def _decode(self, plans: list[Plan]) -> Iterator[tuple[Request, Completion]]:
        started = time.perf_counter()
        rows: list[Row] = []
        for plan in plans:
            try:
                rows.append(self._row(plan))
            except ValueError as error:
                yield plan.request, failed("error", str(error), self.fingerprint, len(plan.prompt))
        batch = Batch(self._model, self._device)
        logits = batch.prefill(rows) if rows else []
        while rows:
            for row, row_logits in zip(rows, logits, strict=True):
                self._draw(row, row_logits)
            yield from (self._finished(row, started) for row in rows if row.finish)
            going = [i for i, row in enumerate(rows) if not row.finish]
            if going and len(going) < len(rows):
                batch.keep(going)
            if rows := [rows[i] for i in going]:
                logits = batch.step([row.tokens[-1] for row in rows])

    def _row(self, plan: Plan) -> Row:
        torch, _ = _import()
        request = plan.request
        generator = None
        if request.sampling.temperature > 0 and self._settings.seeded:
            generator = torch.Generator(self._device).manual_seed(request.call_seed)
        matcher = self._grammars.matcher(request.constraint) if request.constraint else None
        return Row(plan, generator, matcher, self._label_sets(request))

    def _label_sets(self, request: Request) -> LabelSets:
        wanted = request.labels, request.label_after
        if wanted not in self._labels:
            self._labels[wanted] = label_sets(self._chat.tokenizer, *wanted)
        return self._labels[wanted]

    def _draw(self, row: Row, logits: Any) -> None:
        """Draws a row's next token from its logits (vocabulary,) and notes whether the row has ended."""
        if row.matcher:
            row.matcher.mask(logits)
        if row.labels.tokens and (row.labels.after or not row.tokens):
            ids = row.labels.ids
            row.logprobs.append(dict(zip(ids, logits.log_softmax(-1)[ids].tolist(), strict=True)))
        sampling = row.plan.request.sampling
        token = draw(logits, sampling.temperature, sampling.top_p, row.generator)
        row.tokens.append(token)
        more = row.matcher.accept(token) if row.matcher else True
        if token in self._stop or not more:
            row.finish = "stop"
        elif len(row.tokens) == row.plan.max_tokens:
            row.finish = "length"

    def _finished(self, row: Row, started: float) -> tuple[Request, Completion]:
        return row.plan.request, Completion(
            text=self._decode_text(row.tokens),
            outcome="ok" if row.finish == "stop" else "truncated",
            finish=row.finish,
            prompt_tokens=len(row.plan.prompt),
            cached_tokens=row.cached,
            completion_tokens=len(row.tokens),
            seconds=round(time.perf_counter() - started, 4),
            label_logprobs=row.labels.read(row.tokens, row.logprobs.__getitem__, self._decode_text),
            engine=self.fingerprint,
        )


def _import() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UserError(
            f"engine=transformers needs torch and transformers ({error}); run: pip install 'voirdire[transformers]'"
        ) from error
    return torch, transformers


def _check(model: ModelSpec, placement: Placement) -> None:
    if model.quantization or model.adapter:
        raise UserError(
            f"{model.name} is quantised or has an adapter: engine=transformers serves neither; use engine=vllm"
        )
    if placement.devices > 1:
        raise UserError(
            f"{model.name} is spread over {placement.devices} GPUs, which engine=transformers can't do; "
            "use engine=vllm, or set model.tensor_parallel=1 model.pipeline_parallel=1"
        )


def _device(wanted: str) -> str:
    torch, _ = _import()
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def _load(model: ModelSpec, placement: Placement, folder: Any, device: str) -> Any:
    torch, transformers = _import()
    transformers.utils.logging.disable_progress_bar()
    try:
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, model.dtype), trust_remote_code=placement.trust_remote_code
        )
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"transformers can't load {model.name} from {folder}: {error}") from error
    longest = loaded.config.get_text_config().max_position_embeddings
    if model.context > longest:
        raise UserError(f"{model.name}: context {model.context} is longer than the model's own {longest}; lower it")
    return loaded.to(device).eval()
