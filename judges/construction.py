"""Steps that make material for judges of single answers: what kind of thing an answer is, and a sentence that gives it.

Source: 000_65c668a7267fc0e4.txt, 3.1; studies.md, swapref.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from judges import answers, languages
from judges.answering import Written, reply, written_request
from judges.entity_types import ENTITY_TYPES
from judges.formats import Thinking
from judges.prompts import Prompt
from judges.records import Completion, Item, ModelSpec, Request

_TYPE_TOKENS, _SENTENCE_TOKENS = 16, 128


@dataclass(frozen=True, slots=True)
class Claim:
    """A question, and an answer to it that is to be typed or put into a sentence."""

    item: Item
    answer: str


@dataclass(frozen=True)
class Typer:
    """Says which of `ENTITY_TYPES` an answer is."""

    model: ModelSpec
    prompt: Prompt
    thinking: Thinking | None = None

    def ask(self, claim: Claim, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One greedy call."""
        prompt = replace(self.prompt, instruction=self.prompt.instruction.replace("{labels}", ", ".join(ENTITY_TYPES)))
        return [] if so_far else [_request(self.model, prompt, claim, _TYPE_TOKENS, self.thinking)]

    def read(self, claim: Claim, completions: Sequence[Completion], /) -> Written:
        """The label: alone, or the only one that the reply names."""
        found = reply(completions[0], self.thinking)
        if found.outcome not in ("ok", "truncated"):
            return found
        named = [label for label in ENTITY_TYPES if answers.names(found.text, label)]
        if len(named) == 1:
            return Written(named[0])
        return Written(found.text, "unreadable", "names several types" if named else "names no type")


@dataclass(frozen=True)
class Writer:
    """Puts an answer into one sentence."""

    model: ModelSpec
    prompt: Prompt
    thinking: Thinking | None = None

    def ask(self, claim: Claim, so_far: Sequence[Completion], /) -> Sequence[Request]:
        """One greedy call."""
        return [] if so_far else [_request(self.model, self.prompt, claim, _SENTENCE_TOKENS, self.thinking)]

    def read(self, claim: Claim, completions: Sequence[Completion], /) -> Written:
        """The sentence; whether it says what it should is for `fault` to tell."""
        return reply(completions[0], self.thinking)


def fault(sentence: str, own: Iterable[str], other: Iterable[str]) -> str:
    """What keeps a sentence from being a candidate; empty where nothing does.

    Args:
        sentence: what was written.
        own: names of the answer that it is to give; one is enough.
        other: names of the answer that it must not give.

    >>> fault("The capital is Rome.", ["Rome"], ["Paris"]), fault("Rome, not Paris.", ["Rome"], ["Paris"])
    ('', 'names the other answer, too')
    """
    if not sentence.strip():
        return "is empty"
    if "\n" in sentence.strip():
        return "is more than one line"
    if not answers.names_any(sentence, own):
        return "does not name its answer"
    return "names the other answer, too" if answers.names_any(sentence, other) else ""


def _request(model: ModelSpec, prompt: Prompt, claim: Claim, limit: int, thinking: Thinking | None) -> Request:
    item = claim.item
    fields = {"question": item.question, "answer": claim.answer, "language": languages.named(item.language)}
    return written_request(model, prompt, fields, limit, thinking)
