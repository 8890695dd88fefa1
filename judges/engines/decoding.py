"""The forward passes of a batch of calls on torch, and the draw of a token; knows nothing of text.

Equal prompts are prefilled once; rows leave the batch as they end.
"""

from dataclasses import dataclass, field
from typing import Any

from judges.engines.chat import Plan
from judges.engines.grammar import Matcher
from judges.labels import LabelSets
from judges.records import UserError


@dataclass(slots=True)
class Row:
    """One call being decoded."""

    plan: Plan
    generator: Any
    matcher: Matcher | None
    labels: LabelSets
    cached: int = 0
    tokens: list[int] = field(default_factory=list)
    logprobs: list[dict[int, float]] = field(default_factory=list)
    """Of the labels' tokens, at each position where they may be wanted."""
    finish: str = ""


class Batch:
    """The key-value cache and the attention mask of the rows being decoded."""

    def __init__(self, model: Any, device: str) -> None:
        import torch
        from transformers import DynamicCache

        self._torch = torch
        self._model = model
        self._device = device
        self._cache = DynamicCache(config=model.config)
        self._mask: Any = None

    def prefill(self, rows: list[Row]) -> Any:
        """Puts the prompts through the model, equal ones once; returns next-token logits (rows, vocabulary)."""
        place: dict[tuple[int, ...], int] = {}
        of_row = []
        for row in rows:
            prompt = tuple(row.plan.prompt)
            row.cached = len(prompt) if prompt in place else 0
            of_row.append(place.setdefault(prompt, len(place)))
        width = max(map(len, place))
        ids = self._tensor([[0] * (width - len(p)) + list(p) for p in place])
        self._mask = self._tensor([[0] * (width - len(p)) + [1] * len(p) for p in place])
        logits = self._forward(ids, (self._mask.cumsum(-1) - 1).clamp(min=0))
        if len(place) < len(rows):
            self.keep(of_row)
            logits = logits[of_row]
        return logits

    def step(self, tokens: list[int]) -> Any:
        """Appends a token to each row; returns next-token logits (rows, vocabulary)."""
        one = self._mask.new_ones((len(tokens), 1))
        self._mask = self._torch.cat([self._mask, one], dim=-1)
        return self._forward(self._tensor([[t] for t in tokens]), self._mask.sum(-1, keepdim=True) - 1)

    def keep(self, rows: list[int]) -> None:
        """Goes on with these rows, in this order; a row may be taken more than once."""
        index = self._tensor(rows)
        self._cache.batch_select_indices(index)
        self._mask = self._mask[index]

    def _tensor(self, values: Any) -> Any:
        return self._torch.tensor(values, device=self._device)

    def _forward(self, ids: Any, positions: Any) -> Any:
        try:
            with self._torch.inference_mode():
                output = self._model(
                    input_ids=ids,
                    attention_mask=self._mask,
                    position_ids=positions,
                    past_key_values=self._cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                return output.logits[:, -1].float()
        except self._torch.OutOfMemoryError as error:
            raise UserError(
                f"{ids.shape[0]} calls together don't fit into {self._device}'s memory: {error}\n"
                "Lower engine.batch_size; what was finished is stored, run the same command again to go on"
            ) from error


def draw(logits: Any, temperature: float, top_p: float, generator: Any) -> int:
    """The next token: the likeliest at temperature 0, else drawn from the nucleus that holds `top_p`.

    Args:
        logits: (vocabulary,).
        temperature: divides the logits.
        top_p: the smallest set of likeliest tokens with at least this probability is kept.
        generator: a torch.Generator of the logits' device, or None for torch's own.
    """
    if temperature == 0:
        return int(logits.argmax())
    p = (logits / temperature).softmax(-1)
    if top_p < 1:
        ranked, order = p.sort(descending=True)
        ranked[ranked.cumsum(-1) - ranked >= top_p] = 0
        p = p.new_zeros(p.shape).scatter(0, order, ranked)
    return int(p.multinomial(1, generator=generator))
