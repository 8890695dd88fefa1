"""Reward models: one number for a question and its answer, from a classification head; nothing is generated.

vLLM scores where it is installed, transformers elsewhere; both give the head's raw output at the same token.
"""

import gc
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from judges.engines.chat import Chat, Plan, load_tokenizer
from judges.engines.head import read_head
from judges.engines.models import weights_folder
from judges.engines.reward_transformers import TransformersScorer
from judges.engines.reward_vllm import VllmScorer
from judges.engines.settings import Placement, RewardSettings
from judges.records import Completion, ModelSpec, Request


def close_turns(tokenizer: Any) -> Any:
    """The tokenizer with a chat template that ends where the answer ends, and opens no turn for another one."""
    closed = "{% set add_generation_prompt = false %}\n"
    template = tokenizer.chat_template
    if isinstance(template, str):
        tokenizer.chat_template = closed + template
    elif template:
        tokenizer.chat_template = {name: closed + text for name, text in template.items()}
    return tokenizer


class Scorer(Protocol):
    """A library that has a reward model loaded."""

    fingerprint: str

    def score(self, plans: Sequence[Plan]) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it finishes, in any order."""

    def close(self) -> None:
        """Frees the model's memory; its processes are gone when this returns."""


class Reward:
    """A loaded reward model."""

    def __init__(self, model: ModelSpec, placement: Placement, settings: RewardSettings) -> None:
        folder = weights_folder(placement, model.revision)
        head = read_head(folder, model, placement)
        self._chat = Chat(close_turns(load_tokenizer(folder, placement.trust_remote_code)), model)
        with_vllm = settings.backend == "vllm" or (settings.backend == "auto" and find_spec("vllm") is not None)
        make = VllmScorer if with_vllm else TransformersScorer
        self._scorer: Scorer = make(folder, model, placement, settings, head)
        self.fingerprint = self._scorer.fingerprint

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields each completion as it finishes: a score and no text.

        Raises:
            UserError: the library died or its memory is too small; what was yielded before stands.
        """
        plans, answered = self._chat.plan(requests, self.fingerprint)
        yield from answered
        yield from self._scorer.score(plans)

    def close(self) -> None:
        """Ends the library's processes and frees the model's memory."""
        self._scorer.close()
        del self._scorer
        gc.collect()
