"""How a step on passages is put: the passages first, which calls share, then what differs, the instruction last."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judges.formats import Thinking
from judges.grounded.records import Passage
from judges.prompts import Prompt, fill
from judges.records import Constraint, Message, ModelSpec, Request, Sampling


@dataclass(frozen=True)
class Asker:
    """Whom a step asks, and in which words."""

    model: ModelSpec
    prompt: Prompt
    thinking: Thinking | None = None
    max_tokens: int | None = None
    """Caps a step's own limit, where given."""
    constrained: bool = False
    """Holds replies to the step's JSON schema."""
    patience: int = 0
    """How often a reply that the length limit cut off is asked for again, each time with twice the room."""

    def request(
        self, passages: Sequence[Passage], fields: Mapping[str, str], limit: int, schema: Constraint, attempt: int = 0
    ) -> Request:
        """The call that shows the passages and the fields of the template."""
        all_fields = {"passages": listed(passages), **fields, "instruction": self.prompt.instruction}
        user = Message("user", fill(self.prompt.user, all_fields))
        system = (Message("system", self.prompt.system),) if self.prompt.system else ()
        room = min(limit, self.max_tokens or limit) * 2**attempt + (self.thinking.max_tokens if self.thinking else 0)
        return Request(self.model, (*system, user), Sampling(room), constraint=schema if self.constrained else None)

    def again(self, outcomes: Sequence[str]) -> bool:
        """Is a reply to be asked for (again), given how those before it ended?"""
        return not outcomes or (outcomes[-1] == "truncated" and len(outcomes) <= self.patience)


def listed(passages: Sequence[Passage]) -> str:
    """Passages as a model sees them, each between tags with its id; a tag spelt out in a text ends nothing.

    >>> listed([Passage("p1", "It rose 48%.")])
    '<passage id="p1">\\nIt rose 48%.\\n</passage>'
    """
    shown = ((p.id, p.text.replace("</passage", "</ passage")) for p in passages)
    return "\n".join(f'<passage id="{i}">\n{text}\n</passage>' for i, text in shown)


def schema(properties: Mapping[str, object]) -> Constraint:
    """A JSON object with these properties, all of them required."""
    return Constraint(
        "json",
        json.dumps(
            {
                "type": "object",
                "properties": dict(properties),
                "required": list(properties),
                "additionalProperties": False,
            }
        ),
    )


def text(longest: int) -> Mapping[str, object]:
    """A text of at most so many characters: those of one reply together fit into its limit of tokens."""
    return {"type": "string", "maxLength": longest}


SHORT, TEXT = text(200), text(600)
SHARE: Mapping[str, object] = {"type": "number", "minimum": 0, "maximum": 100}
FLAG: Mapping[str, object] = {"type": "boolean"}
