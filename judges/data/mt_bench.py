"""MT-Bench: pairs of six models' answers to 80 two-turn questions, with the votes of experts and the authors.

Upstream: github.com/lm-sys/FastChat (`fastchat/llm_judge/data/mt_bench`), Apache-2.0, for questions and answers; the
hub data set lmsys/mt_bench_human_judgments, CC BY 4.0, for votes (Zheng et al. 2023, arXiv 2306.05685).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from judges.data.conversations import Conversations, embedded, in_folder, shown_answer, shown_question
from judges.data.fields import Record, integer, named, text
from judges.data.files import locate, read_lines, read_parquet
from judges.data.hub import fetch
from judges.data.intake import Raw, Row
from judges.data.votes import TIE, settle
from judges.records import Item, UserError

REPO = "lmsys/mt_bench_human_judgments"
REVISION = "f7d2896d2cc5d80f8b55c2bbc722613555233c25"
HUB_FILE = "data/human-00000-of-00001-25f4910818759289.parquet"
SPLITS: Mapping[str, tuple[int, ...]] = {"all": (1, 2), "turn1": (1,), "turn2": (2,)}

_VOTES = ("human_votes.jsonl", "human-*.parquet", "data/human-*.parquet")
_WINNER = {"model_a": "A", "model_b": "B", "tie": TIE}
_MIRRORED = {"A": "B", "B": "A", TIE: TIE}


class Pair(NamedTuple):
    """What people vote on: two models' answers to a question, up to a turn."""

    question: int
    models: tuple[str, str]
    """In alphabetical order; the first one's answer is A."""
    turn: int


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the pairs from a folder or file, or from the pinned revision on the hub if `path` is None.

    The gold is the verdict of more than half of a pair's votes, ties being votes like any other. Pairs whose majority
    is a tie, that have no majority, or that nobody voted on have no gold and are unfit (`votes.settle`).

    A pair of turn 1 shows the first message and the first replies. A pair of turn 2 shows the whole conversation, and
    says that the second reply decides; its references are those of the second message.

    Args:
        path: a folder with votes (`human_votes.jsonl`) beside FastChat's `question.jsonl`, `model_answer/*.jsonl` and
            (optional) `reference_answer/gpt-4.jsonl`, plain or .gz; or the hub's `human-*.parquet`, or a folder of it,
            which holds the conversations but no references.
        split: `turn1`, `turn2`, or `all` (default), both.

    Raises:
        UserError: an unknown split, files that are missing or ill-formed, or a vote about an answer that is not there.
    """
    split = split or "all"
    if split not in SPLITS:
        raise UserError(f"data.split={split} is unknown; mt_bench has {', '.join(SPLITS)}.")
    file, origin = next(fetch(REPO, [HUB_FILE], REVISION)) if path is None else (locate(path, *_VOTES), "")
    source, records = (read_parquet if ".parquet" in file.suffixes else read_lines)(file, origin)
    votes = [(*_vote(record, place), place) for place, record in records]
    if any("conversation_a" in record for _, record in records):
        said = embedded(records)
    else:
        said = in_folder(file.parent, {model for pair, _, _ in votes for model in pair.models})
    rows = tuple(_rows(votes, said, SPLITS[split]))
    return Raw(rows, (source, *said.sources), said.warnings)


def pair_id(pair: Pair) -> str:
    """The id of a pair, whatever order a record names its models in.

    >>> pair_id(Pair(81, ("alpaca", "vicuna"), 2))
    '81-alpaca-vicuna-2'
    """
    return f"{pair.question}-{'-'.join(pair.models)}-{pair.turn}"


def _vote(record: Record, place: str) -> tuple[Pair, str]:
    models = (text(record, "model_a", place), text(record, "model_b", place))
    if models[0] == models[1]:
        raise UserError(f"{place}: {models[0]!r} is compared with itself.")
    first, second = sorted(models)
    winner = named(record, "winner", place, _WINNER)
    if (turn := integer(record, "turn", place)) not in SPLITS["all"]:
        raise UserError(f"{place}: a vote on turn {turn}; MT-Bench has turns 1 and 2.")
    pair = Pair(integer(record, "question_id", place), (first, second), turn)
    return pair, winner if models == pair.models else _MIRRORED[winner]


def _rows(votes: Sequence[tuple[Pair, str, str]], said: Conversations, turns: tuple[int, ...]) -> Iterator[Row]:
    """Every pair of two models that people compared, on every question that both answered: judges saw these too."""
    cast: dict[Pair, list[str]] = {}
    for pair, winner, place in votes:
        _check_answered(pair, said, place)
        cast.setdefault(pair, []).append(winner)
    compared = sorted({pair.models for pair in cast})
    for question in sorted(said.asked):
        for models in compared:
            for turn in turns:
                pair = Pair(question, models, turn)
                if pair in cast or all(_answered(pair, said)):
                    gold, unfit = settle(cast.get(pair, []))
                    yield Row(_item(pair, said, gold), pair_id(pair), unfit)


def _answered(pair: Pair, said: Conversations) -> tuple[bool, bool]:
    first, second = (len(said.replies.get((pair.question, model), ())) >= pair.turn for model in pair.models)
    return first, second


def _check_answered(pair: Pair, said: Conversations, place: str) -> None:
    where = f"question {pair.question}, turn {pair.turn}"
    if pair.question not in said.asked or len(said.asked[pair.question].messages) < pair.turn:
        raise UserError(f"{place}: a vote on {where}, which is not among the questions.")
    for model, there in zip(pair.models, _answered(pair, said), strict=True):
        if not there:
            raise UserError(
                f"{place}: a vote on {where} about {model!r}, of which there is no answer to it. "
                "Add its file to model_answer, or remove the vote."
            )


def _item(pair: Pair, said: Conversations, gold: str | None) -> Item:
    asked = said.asked[pair.question]
    first, second = (shown_answer(said.replies[pair.question, model], pair.turn) for model in pair.models)
    references = {name: given[pair.turn - 1 : pair.turn] for name, given in asked.references.items()}
    return Item(
        id=pair_id(pair),
        dataset="mt_bench",
        question=shown_question(asked.messages, pair.turn),
        answers=(first, second),
        gold=gold,
        source=asked.category,
        group=str(pair.question),
        references={name: given[0] for name, given in references.items() if given and given[0]},
    )
