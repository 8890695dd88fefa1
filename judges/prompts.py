"""Prompt templates: text files, filled in one pass; knows nothing of what the fields mean."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from judges.records import Message, UserError

TEMPLATES = Path(__file__).parent / "templates"
_FIELD = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts that make one kind of call: what the model is told, and how it is to answer."""

    system: str
    user: str
    instruction: str
    follow_up: str = ""
    """What is said when the first reply holds no verdict; empty where nothing is."""

    @property
    def sha256(self) -> str:
        """Hash of all the texts, for the manifest."""
        texts = (self.system, self.user, self.instruction, self.follow_up)
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def fill(template: str, fields: Mapping[str, str]) -> str:
    """Replaces each `{name}` by its field, in a single pass, so that no field's text is ever read as a template.

    >>> fill("Q: {question}", {"question": "What does {answer_a} mean?"})
    'Q: What does {answer_a} mean?'

    Raises:
        UserError: the template names a field that is not offered, or leaves an offered one out.
    """
    named = set(_FIELD.findall(template))
    if named != fields.keys():
        unknown, unused = sorted(named - fields.keys()), sorted(fields.keys() - named)
        raise UserError(
            f"a prompt template does not fit its fields: unknown {unknown}, not used {unused}; "
            f"the template begins {template[:60]!r}"
        )
    return _FIELD.sub(lambda match: fields[match[1]], template)


def load(method: str, name: str, folder: Path | None = None) -> Prompt:
    """The prompt of one format.

    Args:
        method: the folder of templates, such as `pairwise`.
        name: the format. `<name>.txt` holds its closing instruction; `<name>.system.txt` and
            `<name>.user.txt`, where they exist, stand in for `system.txt` and `user.txt`.
        folder: a user's own templates, or a folder of them for each method; files that it lacks come from ours.
    """

    def text(*names: str) -> str | None:
        return find((method,), names, folder)

    system, user, instruction = text(f"{name}.system", "system"), text(f"{name}.user", "user"), text(name)
    if user is None or instruction is None:
        raise UserError(f"no template for format {name!r} of method {method!r}; looked for {name}.txt")
    return Prompt(system or "", user, instruction, text(f"{name}.follow_up") or "")


def find(methods: Sequence[str], names: Sequence[str], folder: Path | None = None) -> str | None:
    """The text of the first template there is: a user's before ours, then by method, then by name; None if none is.

    Args:
        methods: folders of templates, such as `pairwise`.
        names: of files, without `.txt`.
        folder: a user's own templates, or a folder of them for each method.

    Raises:
        UserError: the user's folder holds no templates.
    """
    places = [TEMPLATES / method for method in methods]
    if folder is not None:
        own = [folder / method for method in methods if (folder / method).is_dir()] or [folder]
        known = [folder, *(folder / method.name for method in TEMPLATES.iterdir())]
        if not any(file for place in known for file in place.glob("*.txt")):
            raise UserError(
                f"prompt.path={folder}: no *.txt templates there; expected names such as user.txt, {names[0]}.txt"
            )
        places = [*own, *places]
    candidates = (place / f"{name}.txt" for place in places for name in names)
    return next((path.read_text(encoding="utf-8").strip() for path in candidates if path.is_file()), None)


@lru_cache(maxsize=256)
def pair_messages(
    prompt: Prompt, question: str, answer_a: str, answer_b: str, more: tuple[tuple[str, str], ...] = ()
) -> tuple[Message, ...]:
    """The conversation that shows a pair, answers in the order given; the instruction comes last.

    `more` holds further fields of the template, as (name, text). Cached, because a pair is put many times over: the
    repeats of a cell share their messages.
    """
    fields = {"question": question, "answer_a": answer_a, "answer_b": answer_b, **dict(more)}
    if "{instruction}" in prompt.user:
        fields["instruction"] = prompt.instruction
    user = Message("user", fill(prompt.user, fields))
    return (Message("system", prompt.system), user) if prompt.system else (user,)
