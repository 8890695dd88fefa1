"""A Python function in place of a model: for tests and dry runs."""

import re
import time
from collections.abc import Callable, Iterator, Sequence

from judges.engines import oracles
from judges.engines.scripted_grounded import grounded_reply
from judges.records import Completion, Request, UserError

Script = Callable[[Request], str | Completion]


class Scripted:
    """Answers every request by a function of that request alone."""

    def __init__(self, answer: Script, name: str = "function", delay: float = 0.0) -> None:
        self._answer = answer
        self._delay = delay
        self.fingerprint = f"scripted {name}"

    def generate(self, requests: Sequence[Request], /) -> Iterator[tuple[Request, Completion]]:
        """Yields one completion a request; an exception in the function becomes outcome `error`."""
        for request in requests:
            if self._delay:
                time.sleep(self._delay)
            yield request, self._complete(request)

    def close(self) -> None:
        """Nothing to free."""

    def _complete(self, request: Request) -> Completion:
        try:
            answer = self._answer(request)
        except Exception as error:
            note = f"{type(error).__name__}: {error}"
            return Completion("", outcome="error", finish="error", note=note, engine=self.fingerprint)
        return answer if isinstance(answer, Completion) else Completion(answer, engine=self.fingerprint)


def _first(request: Request) -> str:
    return _phrase("A", request)


def _coin(request: Request) -> str:
    return _phrase("AB"[request.call_seed & 1], request)


SCRIPTS: dict[str, Script] = {"first": _first, "coin": _coin}
"""Judges that can be named in a YAML: one that always takes the answer shown first, and one that tosses a coin."""


def script(name: str, knowledge: str = "") -> Script:
    """A script by its name.

    Args:
        name: of a script here, or of a rule in `judges.engines.oracles`.
        knowledge: a file of what a judge by such a rule knows.

    Raises:
        UserError: no script has this name, or its knowledge can't be read.
    """
    if name in oracles.RULES:
        return oracles.oracle(oracles.RULES[name], oracles.read_knowledge(knowledge))
    if name not in SCRIPTS:
        raise UserError(f"engine.script={name!r} is no script; there are: {', '.join([*SCRIPTS, *oracles.RULES])}")
    return SCRIPTS[name]


_FORMS = (
    (re.compile(r"<verdict>"), "<verdict>{}</verdict>\n<reason>Scripted.</reason>"),
    (re.compile(r'"verdict"'), '{{"verdict": "{}", "reason": "Scripted."}}'),
    (re.compile(r"\[\[[AB]>"), "[[{0}>{1}]]"),
    (re.compile(r"\[\[A\]\]"), "[[{}]]"),
    (re.compile(r"\[RESULT\]"), "Scripted. [RESULT] {}"),
    (re.compile(r"final decision is"), "So, the final decision is Response {2}."),
)


def _phrase(letter: str, request: Request) -> str:
    """The letter, in the form that the prompt asks for; what a step on passages asks for is no letter."""
    if (reply := grounded_reply(request)) is not None:
        return reply
    asked = request.messages[-1].content
    for sign, form in _FORMS:
        if sign.search(asked):
            return form.format(letter, "B" if letter == "A" else "A", "1" if letter == "A" else "2")
    return letter
