"""The small YAML that says what the columns of somebody's table are; checked when it is read.

columns:                        # a column of the verdict table: where a record has it (dots go into objects)
  item: id
  judge: model
  order: position
  text: response                # the judge's text, read again by the format named under `read`
  winner: verdict               # the source's own verdict; the only one where there is no text
  score_a: rating_1
constants: {dataset: mine, format: arena_hard}
values:                         # what the source's words stand for
  winner: {"1": A, "2": B, "0": tie}
  order: {original: AB, swapped: BA}
read: arena_hard                # a format of judges.formats
shown: true                     # stored verdicts and scores are in the order shown, not in the item's own
scale: [1, 10]                  # lowest and highest score
missing: [-1]                   # scores that mean 'no score'
"""

import difflib
import math
from pathlib import Path
from typing import Any, Literal, Self, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from judges.formats import FORMATS
from judges.records import UserError

Name = Literal[
    "judge", "dataset", "item", "order", "method", "format", "source", "group", "gold", "reference", "generator",
    "repeat", "temperature", "prompt_tokens", "completion_tokens", "winner", "score_a", "score_b", "text", "outcome",
]  # fmt: skip
REQUIRED: tuple[Name, ...] = ("judge", "dataset", "item")


class Mapping(BaseModel):
    """What the columns of a table are; see the module's example."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: dict[Name, str]
    constants: dict[Name, str | int | float] = Field(default_factory=dict)
    values: dict[Name, dict[str, str]] = Field(default_factory=dict)
    read: str | None = None
    shown: bool = False
    scale: tuple[float, float] = (-math.inf, math.inf)
    missing: tuple[float, ...] = (-1,)

    @field_validator("values", mode="before")
    @classmethod
    def _words(cls, values: Any) -> Any:
        """YAML reads an unquoted 1 or yes as no text; what it stands for is looked up by its text."""
        if not isinstance(values, dict):
            return values
        return {
            name: {str(k): v for k, v in words.items()} if isinstance(words, dict) else words
            for name, words in values.items()
        }

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = self.columns.keys() | self.constants.keys()
        if lacking := [name for name in REQUIRED if name not in given]:
            raise ValueError(f"neither columns nor constants say what {', '.join(lacking)} is")
        if not given & {"text", "winner", "score_a"}:
            raise ValueError("columns must say where the verdict is: text, winner, or score_a (and score_b)")
        if ("text" in given) != (self.read is not None):
            raise ValueError("text and read go together: text says where the judge's words are, read how to read them")
        if self.read is not None and self.read not in FORMATS:
            raise ValueError(f"read: there is no format {self.read!r}{_near(self.read, list(FORMATS))}")
        return self


def read_mapping(path: Path) -> Mapping:
    """Reads a mapping.

    Raises:
        UserError: the file cannot be read, or says something that no mapping says; names the key.
    """
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not YAML: {error}") from None
    try:
        return Mapping.model_validate(found)
    except ValidationError as error:
        raise UserError("\n".join(f"{path}: {_fault(e)}" for e in error.errors())) from None


def _fault(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"] if part != "[key]")
    key = str(error["loc"][-2 if "[key]" in error["loc"] else -1]) if error["loc"] else ""
    if error["type"] == "extra_forbidden":
        return f"there is no key {where!r}{_near(key, list(Mapping.model_fields))}"
    if error["type"] == "literal_error":
        return f"{where}: the verdict table has no column {key!r} to be filled{_near(key, list(get_args(Name)))}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _near(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(known)}"
