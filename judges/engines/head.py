"""A reward model's head: which token its score is read at, and what a score says; shared by all that read one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judges.engines.chat import failed
from judges.engines.settings import Placement
from judges.records import Completion, ModelSpec, UserError


@dataclass(frozen=True, slots=True)
class Head:
    """Which token of a conversation the score is read at, and how."""

    each_token: bool
    """The head scores every token (`...ForRewardModel`), not the last one only (`...ForSequenceClassification`)."""
    padding: int | None
    """Trailing tokens of this kind are not looked at, as in training."""
    closing: int | None
    """Token that has to end a conversation; its position is the one that is scored."""

    def shown(self, prompt: Sequence[int]) -> list[int]:
        """The conversation up to the token that is scored.

        >>> Head(False, 0, None).shown([5, 6, 0]), Head(True, 0, 9).shown([5, 6, 0])
        ([5, 6], [5, 6, 0, 9])
        """
        if self.closing is not None:
            return [*prompt, self.closing]
        end = len(prompt)
        while not self.each_token and end > 1 and prompt[end - 1] == self.padding:
            end -= 1
        return list(prompt[:end])


def read_head(folder: Path, model: ModelSpec, placement: Placement) -> Head:
    """What a model folder says of its head.

    Raises:
        UserError: it is no reward model, or gives more than one number, or needs code of its own.
    """
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise UserError(
            f"engine=reward needs vLLM, or torch and transformers ({error}); run: pip install 'voirdire[transformers]'"
        ) from error
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=placement.trust_remote_code)
    except (OSError, ValueError) as error:
        raise UserError(f"transformers can't read the configuration of {model.name} in {folder}: {error}") from error
    architecture = next(iter(config.architectures or ()), "none")
    each_token = architecture.endswith("ForRewardModel")
    if not (each_token or architecture.endswith("ForSequenceClassification")):
        raise UserError(
            f"{model.name} is no reward model: its architecture is {architecture}, which has no head that scores; "
            "use engine=vllm, or a judge whose config.json says ...ForSequenceClassification"
        )
    if not each_token and config.num_labels != 1:
        raise UserError(
            f"{model.name} gives {config.num_labels} numbers an answer (num_labels in its config.json), not one score: "
            "it is a classifier of another kind, and nobody can say which of them is better"
        )
    padding = config.get_text_config().pad_token_id
    return Head(each_token, padding, getattr(config, "reward_token_id", None))


def only_number(scores: Any) -> float:
    """The last token's score, from a tensor (1,) or (tokens, 1).

    Raises:
        UserError: the head gives more than one number a token.
    """
    if scores.shape[-1] != 1:
        raise UserError(
            f"the model gives {scores.shape[-1]} numbers an answer, not one score: it is no reward model for pairs"
        )
    return float(scores.flatten()[-1])


def scored(score: float, tokens: int, fingerprint: str, seconds: float, cached: int = 0) -> Completion:
    """A score as a completion; one that is no number decides nothing, so it is an error."""
    if not math.isfinite(score):
        return failed("error", f"the model's score is {score}", fingerprint, tokens)
    return Completion(
        "",
        finish="scored",
        prompt_tokens=tokens,
        cached_tokens=cached,
        seconds=round(seconds, 4),
        score=score,
        engine=fingerprint,
    )
