"""What was asked and replied on MT-Bench's two-turn questions, and how a judge is shown it; knows no verdicts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from judges.data.fields import Record, integer, records, text, texts
from judges.data.files import locate, read_lines, within
from judges.data.intake import Source
from judges.records import UserError

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
"""Upstream's, in the order of the questions: ten of each, from `FIRST` on."""
FIRST = 81

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the user's messages, and what goes with them."""

    messages: tuple[str, ...]
    category: str
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By origin, one text a message; empty where upstream gives none."""


class Conversations(NamedTuple):
    """Questions by id, and replies by question and model."""

    asked: Mapping[int, Asked]
    replies: Mapping[tuple[int, str], tuple[str, ...]]
    sources: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()


def shown_question(messages: tuple[str, ...], turn: int) -> str:
    """The task as a judge is shown it: the first message, or both with a word on which reply decides."""
    if turn == 1:
        return messages[0]
    return (
        "A user writes two messages, one after the other, and each answer consists of the replies to both. What "
        "decides is the reply to the second message; the first exchange is its context.\n\n"
        f"First message:\n{messages[0]}\n\nSecond message:\n{messages[1]}"
    )


def shown_answer(replies: tuple[str, ...], turn: int) -> str:
    """An answer as a judge is shown it: the first reply, or both, each under a line that says which it is."""
    if turn == 1:
        return replies[0]
    return f"Reply to the first message:\n{replies[0]}\n\nReply to the second message:\n{replies[1]}"


def in_folder(folder: Path, models: Collection[str]) -> Conversations:
    """Reads questions, references and the answers of these models from a folder in FastChat's layout.

    Raises:
        UserError: `question.jsonl` or `model_answer` is missing, a record is ill-formed, or a question or an answer
            is there twice.
    """
    file = within(folder, "reference_answer/gpt-4.jsonl", "reference_answer_gpt-4.jsonl")[:1]
    read, references = _by_question(file)
    source, lines = read_lines(locate(folder, "question.jsonl"))
    asked = _unique((integer(r, "question_id", place), _asked(r, place, references), place) for place, r in lines)
    absent = "mt_bench: reference_answer/gpt-4.jsonl was not found, so that no item has GPT-4's reference."
    answered, replies = _answers(folder, models)
    return Conversations(asked, replies, (source, *read, *answered), () if file else (absent,))


def embedded(votes: Sequence[tuple[str, Record]]) -> Conversations:
    """The conversations that the votes themselves hold, as on the hub; references are not among them.

    Where two votes show differing texts for one reply, the first stands, and a warning counts the others.
    """
    asked: dict[int, tuple[str, ...]] = {}
    replies: dict[tuple[int, str], tuple[str, ...]] = {}
    differing = 0
    for place, record in votes:
        question = integer(record, "question_id", place)
        for side in ("a", "b"):
            said = [text(m, "content", place) for m in records(record, f"conversation_{side}", place)]
            of = (question, text(record, f"model_{side}", place))
            first, now = replies.get(of, ()), tuple(said[1::2])
            differing += first[: len(now)] != now[: len(first)]
            replies[of] = max(first, now, key=len)
            asked[question] = max(asked.get(question, ()), tuple(said[::2]), key=len)
    warned = (f"mt_bench: {differing} replies differ from those that earlier votes show; the first stand.",)
    questions = {n: Asked(messages, _category(n)) for n, messages in asked.items()}
    return Conversations(questions, replies, (), warned if differing else ())


def _category(question: int) -> str:
    tens = (question - FIRST) // 10
    return CATEGORIES[tens] if 0 <= tens < len(CATEGORIES) else ""


def _by_question(files: list[Path]) -> tuple[list[Source], dict[int, tuple[str, ...]]]:
    read = [read_lines(file) for file in files]
    entries = ((integer(r, "question_id", place), _turns(r, place), place) for _, lines in read for place, r in lines)
    return [source for source, _ in read], _unique(entries)


def _asked(record: Record, place: str, gpt4: Mapping[int, tuple[str, ...]]) -> Asked:
    question = integer(record, "question_id", place)
    given = {"question": texts(record, "reference", place)} if "reference" in record else {}
    written = {"gpt-4": gpt4[question]} if question in gpt4 else {}
    return Asked(texts(record, "turns", place), text(record, "category", place), given | written)


def _answers(folder: Path, models: Collection[str]) -> tuple[list[Source], dict[tuple[int, str], tuple[str, ...]]]:
    if not (files := within(folder, "model_answer/*.jsonl")):
        raise UserError(f"data.path={folder} holds no model_answer/<model>.jsonl, plain or .gz.")
    sources, found = [], []
    for file in files:
        source, lines = read_lines(file)
        wanted = [(r, place) for place, r in lines if text(r, "model_id", place) in models]
        sources += [source] if wanted else []
        found += [((integer(r, "question_id", at), text(r, "model_id", at)), _turns(r, at), at) for r, at in wanted]
    return sources, _unique(found)


def _turns(record: Record, place: str) -> tuple[str, ...]:
    choices = records(record, "choices", place)
    if not choices:
        raise UserError(f"{place}: the field 'choices' is empty; the answer would be its first entry.")
    return texts(choices[0], "turns", place)


def _unique(entries: Iterable[tuple[K, V, str]]) -> dict[K, V]:
    places: dict[K, str] = {}
    values: dict[K, V] = {}
    for key, value, place in entries:
        if key in places:
            raise UserError(f"{key} occurs twice: {places[key]} and {place}. Remove one.")
        places[key], values[key] = place, value
    return values
