"""Asks a model a question, without a document and without a hint of what is right."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judges import languages
from judges.formats import Thinking, split_thinking
from judges.prompts import Prompt, fill
from judges.records import Completion, Item, Message, ModelSpec, Outcome, Request, Sampling

Kind = Literal["answer", "belief"]
"""`answer`: in a sentence or two; `belief`: nothing but the name, number or phrase asked for."""
TOKENS: dict[Kind, int] = {"answer": 256, "belief": 64}
_AROUND = re.compile(r"^[\s\"'`*“”„]*(?:(?:the\s+)?answer\s*(?:is\b|:)[\s\"'`*“”„:]*)?|[\s\"'`*“”„.]*$", re.I)
_LONGEST = 120
"""Characters of a belief: whoever writes more does not name anything."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote. No text to go on with exactly when `outcome` is not ok."""

    text: str
    outcome: Outcome = "ok"
    reason: str = ""
    """What is wrong with the text."""


@dataclass(frozen=True)
class Answerer:
    """Answers questions in its own words.

    An empty reply is an answer, too, and one that the length limit cut off is what the model had to say within it, with
    `reason` saying so; neither is a belief.
    """

    model: ModelSpec
    prompt: Prompt
    kind: Kind = "answer"
    thinking: Thinking | None = None
    max_tokens: int | None = None
    """Caps a reply below the kind's own limit, where given."""

    def ask(self, item: Item, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One greedy call."""
        if so_far:
            return []
        fields = {"question": item.question, "language": languages.named(item.language)}
        limit = min(TOKENS[self.kind], self.max_tokens or TOKENS[self.kind])
        return [written_request(self.model, self.prompt, fields, limit, self.thinking)]

    def read(self, item: Item, completions: Sequence[Completion], /) -> Written:
        """The reply without its reasoning."""
        found = reply(completions[0], self.thinking)
        if self.kind == "answer" and found.outcome == "truncated" and found.text:
            return replace(found, outcome="ok")
        if self.kind == "answer" or found.outcome != "ok":
            return found
        named = _AROUND.sub("", found.text)
        if not named or "\n" in named or len(named) > _LONGEST:
            return Written(found.text, "unreadable", "names nothing" if named == "" else "is more than a short answer")
        return Written(named)


def written_request(
    model: ModelSpec, prompt: Prompt, fields: dict[str, str], limit: int, thinking: Thinking | None
) -> Request:
    """A greedy call for a text; of the fields, `language` and the prompt's own instruction may go unused."""
    offered = fields | {"instruction": prompt.instruction}
    used = {k: v for k, v in offered.items() if k not in ("language", "instruction") or f"{{{k}}}" in prompt.user}
    system = (Message("system", prompt.system),) if prompt.system else ()
    messages = (*system, Message("user", fill(prompt.user, used)))
    return Request(model, messages, Sampling(limit + (thinking.max_tokens if thinking else 0)))


def reply(completion: Completion, thinking: Thinking | None) -> Written:
    """What a completion says; one that was cut off has not been said."""
    if completion.outcome not in ("ok", "truncated"):
        return Written("", completion.outcome, completion.note)
    text = split_thinking(completion.text, thinking)[1].strip()
    if completion.outcome == "truncated":
        return Written(text, "truncated", "cut off by the length limit")
    return Written(text)
