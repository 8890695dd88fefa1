"""From messages to the token ids that a model is shown; knows nothing of how they are decoded.

The chat template is applied exactly once, and its own control tokens are the only ones: a control token spelt out
in a question or an answer stays plain text.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judges.records import Completion, Message, ModelSpec, Outcome, Request, UserError

Messages = tuple[Message, ...]

# Private-use characters hold the place of a control token's text until the template has been applied.
_OPEN, _CLOSE = "\ue0a0", "\ue0a1"
_MASK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True, slots=True)
class Plan:
    """A request ready for a model."""

    request: Request
    prompt: list[int]
    max_tokens: int
    """What was asked for, or the room that the prompt leaves if that is less."""


def load_tokenizer(folder: Path, trust_remote_code: bool) -> Any:
    """The fast tokenizer of a model folder.

    Raises:
        UserError: the folder holds none.
    """
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
    except (OSError, ValueError) as error:
        raise UserError(f"{folder} holds no tokenizer that transformers can load: {error}") from error


def merge_system(messages: Messages) -> Messages:
    """Moves a leading system message into the first user turn, for templates that have no system role.

    >>> [m.content for m in merge_system((Message("system", "Be fair."), Message("user", "A or B?")))]
    ['Be fair.\\n\\nA or B?']
    """
    if [m.role for m in messages[:2]] != ["system", "user"]:
        return messages
    system, user, *rest = messages
    return (replace(user, content=f"{system.content}\n\n{user.content}"), *rest)


def failed(outcome: Outcome, note: str, fingerprint: str, prompt_tokens: int = 0) -> Completion:
    """The completion of a request that brought no text."""
    return Completion("", outcome, finish=outcome, prompt_tokens=prompt_tokens, engine=fingerprint, note=note)


class Chat:
    """A model's tokenizer and chat template, under the policies of its spec."""

    def __init__(self, tokenizer: Any, model: ModelSpec) -> None:
        if not (getattr(tokenizer, "chat_template", None) or model.template_args.get("chat_template")):
            raise UserError(
                f"{model.name} has no chat template, so it can't be asked anything as a judge. It is a base model, or "
                "its folder lacks chat_template.jinja; use the instruction-tuned model of that family"
            )
        self.tokenizer = tokenizer
        self._model = model
        control = set(tokenizer.all_special_tokens)
        control |= {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
        longest_first = sorted(filter(None, control), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, [*longest_first, _OPEN])))

    def plan(
        self, requests: Sequence[Request], fingerprint: str
    ) -> tuple[list[Plan], list[tuple[Request, Completion]]]:
        """Splits requests into those that can be sent and those that are answered already.

        Args:
            requests: equal conversations are rendered and tokenised once.
            fingerprint: of the engine that asks.

        Returns:
            Plans, in order; and a completion (`overflow` or `error`) for each request that can't be sent.

        Raises:
            UserError: a request has a system message and the template takes none.
        """
        prompts = self.encode(dict.fromkeys(r.messages for r in requests))
        plans: list[Plan] = []
        answered: list[tuple[Request, Completion]] = []
        for request in requests:
            prompt = prompts[request.messages]
            if isinstance(prompt, str):
                answered.append((request, failed("error", prompt, fingerprint)))
            elif (room := self._model.context - len(prompt)) < 1:
                note = f"the prompt has {len(prompt)} tokens, the context holds {self._model.context}"
                answered.append((request, failed("overflow", note, fingerprint, len(prompt))))
            else:
                plans.append(Plan(request, prompt, min(request.sampling.max_tokens, room)))
        return plans, answered

    def encode(self, conversations: Iterable[Messages]) -> dict[Messages, list[int] | str]:
        """The token ids that the model is shown for each conversation, or the template's words why there are none."""
        from jinja2 import TemplateError

        encoded: dict[Messages, list[int] | str] = {}
        plain: dict[Messages, str] = {}
        for messages in conversations:
            masked, hidden = self._mask(messages)
            try:
                text = self.render(masked)
            except TemplateError as error:
                encoded[messages] = f"the chat template refuses this conversation: {error}"
                continue
            if hidden:
                encoded[messages] = self._encode_masked(text, hidden)
            else:
                plain[messages] = text
        if plain:
            ids = self.tokenizer(list(plain.values()), add_special_tokens=False, verbose=False)["input_ids"]
            encoded.update(zip(plain, ids, strict=True))
        return encoded

    def render(self, messages: Messages) -> str:
        """The text that the template makes of a conversation, up to where the model is to go on.

        Raises:
            UserError: the template can't take the system message that is in it.
            jinja2.TemplateError: the template refuses the conversation.
        """
        if self._model.system == "merge":
            messages = merge_system(messages)
        elif messages[0].role == "system" and not self._keeps_system:
            raise UserError(
                f"the chat template of {self._model.name} has no place for a system message; write `system: merge` in "
                "the judge's YAML to put it into the first user turn"
            )
        return self._apply(messages)

    @cached_property
    def _keeps_system(self) -> bool:
        from jinja2 import TemplateError

        try:
            return "voirdire-system" in self._apply((Message("system", "voirdire-system"), Message("user", "?")))
        except TemplateError:
            return False

    def _apply(self, messages: Messages) -> str:
        turns = [{"role": m.role, "content": m.content} for m in messages]
        text: str = self.tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, **self._model.template_args
        )
        return text

    def _mask(self, messages: Messages) -> tuple[Messages, list[str]]:
        """Replaces control tokens in the contents by numbered marks; returns what the marks stand for."""
        if not any(self._control.search(m.content) for m in messages):
            return messages, []
        hidden: list[str] = []

        def mark(match: re.Match[str]) -> str:
            hidden.append(match[0])
            return f"{_OPEN}{len(hidden) - 1}{_CLOSE}"

        return tuple(replace(m, content=self._control.sub(mark, m.content)) for m in messages), hidden

    def _encode_masked(self, text: str, hidden: list[str]) -> list[int]:
        parts = _MASK.split(text)  # Text and mark numbers in turn.
        parts[1::2] = [hidden[int(number)] for number in parts[1::2]]
        ids: list[int] = []
        for i, part in enumerate(parts):
            options = {"add_special_tokens": False, "split_special_tokens": bool(i % 2), "verbose": False}
            ids += self.tokenizer(part, **options)["input_ids"]
        return ids


def stop_tokens(folder: Path, tokenizer: Any) -> frozenset[int]:
    """Every token that ends an answer: the tokenizer's, and those that the model's configuration lists.

    Chat models often end a turn by a token other than the tokenizer's end of sequence (Gemma's `<end_of_turn>`).
    """
    ids: set[int] = {tokenizer.eos_token_id} - {None}
    for name in ("generation_config.json", "config.json"):
        if (path := folder / name).is_file():
            named = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id")
            ids |= set(named if isinstance(named, list) else [named]) - {None}
    return frozenset(ids)
