"""MT-Bench judgements: human votes, folded GPT-4 verdicts, and FastChat's raw pairwise and single-answer texts.

A pair is named by its models in alphabetical order, whatever order the record has, so that votes and verdicts on it
meet; A is the first of them. Upstream: lmsys/mt_bench_human_judgments and github.com/lm-sys/FastChat, `llm_judge`.
"""

from collections.abc import Iterator
from typing import Any

from experiments.imports.files import Origin
from experiments.imports.judged import (
    Judged,
    Malformed,
    Record,
    flipped,
    from_reading,
    from_word,
    need,
    on_scale,
    tail,
    word,
)
from experiments.imports.readings import read_pair, read_rating
from judges.records import Order, Verdict

MARKS = (
    frozenset({"question_id", "model_a", "model_b", "winner", "turn"}),
    frozenset({"question_id", "model_1", "model_2", "g1_winner", "turn"}),
    frozenset({"question_id", "model", "judgment", "score", "turn"}),
)
DISAGREED = "tie (inconsistent)"
"""The source's word for a pair on which the two orders disagreed; it counts as a tie there."""

_WINNER = {"model_a": "A", "model_b": "B", "model_1": "A", "model_2": "B", "tie": "tie", DISAGREED: "tie"}
_ERROR = "$ERROR$"
_SCALE = (1, 10)


def read(record: Record, origin: Origin) -> Iterator[Judged]:
    """One row a vote or folded verdict, two a pair of raw texts, one a graded answer."""
    if "g1_winner" in record:
        yield from _raw_pair(record)
    elif "model_a" in record:
        yield _vote(record)
    else:
        yield _grade(record)


def pair_id(question: int, models: tuple[str, str], turn: int) -> str:
    """The id of a pair: its question, its models in alphabetical order, and the turn.

    >>> pair_id(81, ("vicuna", "alpaca"), 2)
    '81-alpaca-vicuna-2'
    """
    return "-".join((str(question), *sorted(models), str(turn)))


def _vote(record: Record) -> Judged:
    """A verdict on a pair; the order is the record's own, which for a folded verdict stands for both."""
    judge = need(record, "judge", str)
    models = (need(record, "model_a", str), need(record, "model_b", str))
    order = _order(models)
    verdict, remark = from_word(flipped(word(record, "winner", _WINNER), order) or "")
    remark = "the two orders disagreed" if record["winner"] == DISAGREED else remark
    human = judge.startswith(("expert", "author"))
    return Judged(
        judge=judge,
        dataset="mt_bench",
        item=_pair(record, models),
        group=str(record["question_id"]),
        verdict=verdict,
        order=order,
        method="human" if human else "pairwise",
        format="vote" if human else "two_orders",
        remark=remark,
    )


def _raw_pair(record: Record) -> Iterator[Judged]:
    models = (need(record, "model_1", str), need(record, "model_2", str))
    judge, prompt = _judge(record)
    own = _order(models)
    shown: Order
    for game, shown in (("g1", own), ("g2", "BA" if own == "AB" else "AB")):
        text = need(record, f"{game}_judgment", str)
        verdict, remark = from_reading(read_pair(text), shown)
        if text.strip() == _ERROR:
            verdict, remark = Verdict("error"), "the call failed"
        stored = word(record, f"{game}_winner", _WINNER | {"error": "none"})
        yield Judged(
            judge=judge,
            dataset="mt_bench",
            item=_pair(record, models),
            group=str(record["question_id"]),
            verdict=verdict,
            order=shown,
            format=prompt,
            stored=flipped(stored, own) or "",
            remark=remark,
            text_end=tail(text),
        )


def _grade(record: Record) -> Judged:
    text = need(record, "judgment", str)
    judge, prompt = _judge(record)
    found = read_rating(text)
    score, fault = (None, found.problem) if found.value is None else on_scale(found.value, *_SCALE)
    stored, _ = on_scale(record["score"], *_SCALE)
    if score != stored:
        fault = f"{fault or f'the text says {score:g}'}; the source stored {record['score']}"
    return Judged(
        judge=judge,
        dataset="mt_bench",
        item=f"{need(record, 'question_id', int)}-{need(record, 'model', str)}-{need(record, 'turn', int)}",
        group=str(record["question_id"]),
        verdict=Verdict("unreadable" if score is None else "ok", score_a=score),
        method="pointwise",
        format=prompt,
        remark=fault,
        text_end=tail(text),
    )


def _order(models: tuple[str, str]) -> Order:
    return "AB" if models[0] <= models[1] else "BA"


def _pair(record: Record, models: tuple[str, str]) -> str:
    return pair_id(need(record, "question_id", int), models, need(record, "turn", int))


def _judge(record: Record) -> tuple[str, str]:
    named: list[Any] = need(record, "judge", list)
    if len(named) != 2:
        raise Malformed("the field 'judge' must be [model, prompt]")
    return str(named[0]), str(named[1])
