"""JudgeBench's output files: a judge's two looks at every pair, as text, as two scores, or as two rewards.

Upstream: github.com/ScalerLab/JudgeBench and its forks, `outputs/*.jsonl`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from experiments.imports.files import Origin
from experiments.imports.judged import (
    NO_VERDICT,
    Judged,
    Malformed,
    Record,
    flipped,
    from_reading,
    from_scores,
    need,
    on_scale,
    tail,
    word,
)
from experiments.imports.readings import Score, read_score, read_score_as_published
from judges.formats import read_brackets, split_thinking
from judges.records import Order, Verdict

MARKS = (frozenset({"pair_id", "label", "judgments"}),)
SPLITS = {"gpt": "judgebench-gpt", "claude": "judgebench-claude"}

_WINNER = {"A>B": "A", "B>A": "B", "A=B": "tie", "B=A": "tie"}
_SCALE = (0, 1)


def read(record: Record, origin: Origin) -> Iterator[Judged]:
    """The two rows of one pair; a pointwise judgement with one score missing has no verdict."""
    return _read(record, origin, read_score, missing_loses=False)


def read_as_published(record: Record, origin: Origin) -> Iterator[Judged]:
    """As `read`, by the fork's own rule for pointwise judges: an answer without a score loses to one with a score."""
    return _read(record, origin, read_score_as_published, missing_loses=True)


def _read(record: Record, origin: Origin, score: Callable[[str], Score], missing_loses: bool) -> Iterator[Judged]:
    judgments = need(record, "judgments", list)
    if not 1 <= len(judgments) <= 2:
        raise Malformed(f"'judgments' must hold one judgement an order, one or two; it holds {len(judgments)}")
    orders: tuple[Order, ...] = ("AB", "BA")
    for order, judgment in zip(orders, judgments, strict=False):
        yield _judged(record, order, judgment, origin, score, missing_loses)


def _judged(
    record: Record, order: Order, entry: Any, origin: Origin, score: Callable[[str], Score], missing_loses: bool
) -> Judged:
    said: Record = (entry or {}).get("judgment") or {}
    verdict, remark, text = _verdict(said, order, score, missing_loses)
    stored = word(entry, "decision", _WINNER) if entry else NO_VERDICT
    rubric = said.get("rubric_model", "")
    return Judged(
        judge=_judge(record),
        dataset=_dataset(record, origin),
        item=need(record, "pair_id", str),
        verdict=verdict,
        order=order,
        method=_method(said),
        format=_format(record, said),
        source=need(record, "source", str),
        gold=_gold(record),
        reference=f"rubric by {rubric}" if rubric else "",
        stored=flipped(stored, order) or "",
        remark=remark,
        text_end=tail(text),
    )


def _verdict(
    said: Record, order: Order, score: Callable[[str], Score], missing_loses: bool
) -> tuple[Verdict, str, str]:
    """The verdict in the item's own order, a remark, and the text that it was read from."""
    if not said:
        return Verdict("error"), "the call failed: there is no judgement", ""
    if "scores" in said:
        rewards = [on_scale(s, float("-inf"), float("inf"), missing=()) for s in need(said, "scores", list)]
        (a, fault_a), (b, fault_b) = rewards if order == "AB" else rewards[::-1]
        return from_scores(a, b), fault_a or fault_b, ""
    if "score_A" in said:
        return _pointwise(said, order, score, missing_loses)
    text = need(said, "response", str)
    return *from_reading(read_brackets(split_thinking(text, None)[1]), order), text


def _pointwise(
    said: Record, order: Order, score: Callable[[str], Score], missing_loses: bool
) -> tuple[Verdict, str, str]:
    shown = [_score(said, name, score) for name in "AB"]
    (a, fault_a), (b, fault_b) = shown if order == "AB" else shown[::-1]
    verdict = from_scores(a, b)
    if missing_loses and (a is None) != (b is None):
        verdict = Verdict("ok", winner="B" if a is None else "A", score_a=a, score_b=b)
    faults = "; ".join(f"answer {x}: {fault}" for x, fault in zip("AB", (fault_a, fault_b), strict=True) if fault)
    return verdict, faults, str(said.get("raw_judge_A", "")) + "\n" + str(said.get("raw_judge_B", ""))


def _score(said: Record, name: str, score: Callable[[str], Score]) -> tuple[float | None, str]:
    if f"raw_judge_{name}" not in said:
        return on_scale(said.get(f"score_{name}"), *_SCALE)
    found = score(str(said[f"raw_judge_{name}"]))
    return (None, found.problem) if found.value is None else on_scale(found.value, *_SCALE)


def _method(said: Record) -> str:
    return "reward" if "scores" in said else "pointwise" if "score_A" in said else "pairwise"


def _format(record: Record, said: Record) -> str:
    """The judge's class upstream; pointwise files carry the model's name there, and are told apart by their rubric."""
    if "score_A" in said:
        return "rubric" if "rubric" in said else "no_rubric"
    return str(record.get("judge_name", ""))


def _judge(record: Record) -> str:
    for entry in need(record, "judgments", list):
        if entry and (entry.get("judgment") or {}).get("judge_model"):
            return str(entry["judgment"]["judge_model"])
    return need(record, "judge_name", str)


def _dataset(record: Record, origin: Origin) -> str:
    wrote = str(record.get("response_model", origin.file))
    return next((dataset for model, dataset in SPLITS.items() if model in wrote), "judgebench")


def _gold(record: Record) -> str:
    gold = word(record, "label", _WINNER)
    if gold not in ("A", "B"):
        raise Malformed(f"the label {record['label']!r} names no answer; it must be 'A>B' or 'B>A'")
    return gold
