"""Judges of single answers whose behaviour is known, so that what a study finds can be worked out by hand.

They see what a model would see, the prompt, and beside it what they are given to know: a file of questions and answers.
"""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from judges.answers import names, names_any
from judges.records import Request, UserError

Knowledge = Mapping[str, tuple[str, ...]]
"""From a question to the answers that a judge believes to be right."""
FLIP_RATE = 0.25
"""Share of verdicts that `flips_at_random` turns round."""

_INSTRUCTION = re.compile(r".*</(?:question|answer|reference)>", re.S)


@dataclass(frozen=True, slots=True)
class Task:
    """What a prompt asks, taken apart."""

    question: str
    answer: str | None
    """What is to be graded or written about; None where the question itself is to be answered."""
    reference: str
    instruction: str
    believed: tuple[str, ...]
    seed: int


Rule = Callable[[Task], bool]
"""Is the answer to be called correct?"""


def follows_reference(task: Task) -> bool:
    """Goes by the reference and nothing else; without one it has nothing to go by, and accepts."""
    return names(task.answer or "", task.reference) if task.reference else True


def believes_itself(task: Task) -> bool:
    """Goes by what it believes, whatever the reference says."""
    return names_any(task.answer or "", task.believed)


def accepts_all(task: Task) -> bool:
    """Finds nothing wrong."""
    return True


def flips_at_random(task: Task) -> bool:
    """Follows the reference, but turns its verdict round in `FLIP_RATE` of calls, each on its own."""
    return follows_reference(task) != (task.seed % 10_000 < FLIP_RATE * 10_000)


RULES: Mapping[str, Rule] = {
    rule.__name__: rule for rule in (follows_reference, believes_itself, accepts_all, flips_at_random)
}


def oracle(rule: Rule, knowledge: Knowledge) -> Callable[[Request], str]:
    """A judge that grades by a rule, in whatever format it is asked for.

    It can play the other roles of a study, too: asked a question, it says what it believes; asked for a sentence, it
    writes `The answer is ...`; asked for a type, it tells numbers from other things.
    """

    def reply(request: Request) -> str:
        task = _task(request, knowledge)
        if task.answer is None:
            brief = "nothing else" in task.instruction
            return task.believed[0] if brief else f"The answer is {task.believed[0]}."
        if "CORRECT" in task.instruction:
            return _phrase("CORRECT" if rule(task) else "INCORRECT", task)
        if "labels" in task.instruction:
            return "number" if any(c.isdigit() for c in task.answer) else "other"
        return f"The answer is {task.answer}."

    return reply


def read_knowledge(path: str) -> Knowledge:
    """What a judge knows, from a CSV file with the columns `question` and `answers` (a JSON list).

    The table of a study's stage `sample` is such a file. No path: it knows nothing that others know.

    Raises:
        UserError: there is no such file, or it lacks a column.
    """
    if not path:
        return {}
    try:
        with Path(path).expanduser().open(encoding="utf-8-sig", newline="") as file:
            return {_plain(row["question"]): tuple(json.loads(row["answers"])) for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        raise UserError(
            f"engine.knowledge={path} must be a CSV file with the columns question and answers (a JSON list): {error}"
        ) from error


def fingerprint(path: str) -> str:
    """Tells one file of knowledge from another, so that nothing stored for the one is served for the other."""
    if not path:
        return ""
    read_knowledge(path)
    return hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest()[:16]


def _plain(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it."""
    return re.sub(r"^'(?='*[=+\-@\t\r])", "", cell)


def _task(request: Request, knowledge: Knowledge) -> Task:
    asked = request.messages[-1].content
    question = _between("question", asked) or ""
    made_up = hashlib.sha256(question.encode()).hexdigest()
    return Task(
        question,
        _between("answer", asked),
        _between("reference", asked) or "",
        _INSTRUCTION.sub("", asked),
        knowledge.get(question) or (f"belief {made_up[:8]}",),
        request.call_seed,
    )


def _between(tag: str, text: str) -> str | None:
    match = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", text, re.S)
    return match[1] if match else None


def _phrase(grade: str, task: Task) -> str:
    if '"verdict"' in task.instruction:
        extracted = (task.answer or "").removeprefix("The answer is ").removesuffix(".")
        return json.dumps(
            {"extracted_answer": extracted, "explanation": "Scripted.", "verdict": grade}, ensure_ascii=False
        )
    return f"Scripted.\nVerdict: {grade}" if "Verdict:" in task.instruction else grade
