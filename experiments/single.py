"""What studies of single answers share: the questions as a table that a person can edit, and the judge who grades."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.console import console
from experiments.design import tabulate
from experiments.pipeline import Stage, Tables
from experiments.roster import Player
from experiments.settings import Settings
from experiments.workshop import Workshop
from judges.ask import Answered
from judges.data import Loaded, load
from judges.engines import RewardSettings
from judges.pointwise import PointwiseJudge, Single, Way
from judges.records import Factors, Item, Trial, UserError, Verdict

_TEXTS = ("item", "dataset", "question", "answers", "language", "source", "group", "entity_type")
QUESTIONS = ("verifiable_qa", "nq_open", "popqa", "sciq", "freshqa", "tydiqa", "mata")


def questions(settings: Settings) -> tuple[Loaded, Sequence[Item]]:
    """The questions of a study, and all those of the data set that they are drawn from.

    Raises:
        UserError: the data set holds pairs to be compared.
    """
    arguments = settings.data.model_dump(exclude={"label"})
    data = load(**arguments)
    if any(item.gold is not None for item in data.items):
        raise UserError(
            f"data={settings.data.name} holds pairs of answers to be compared; {settings.study} needs questions with "
            f"accepted answers: {', '.join(QUESTIONS)}"
        )
    for warning in data.warnings:
        console.print(f"note: {warning}", markup=False)
    return data, data.items if settings.data.limit is None else load(**(arguments | {"limit": None})).items


def sample(workshop: Workshop, tables: Tables) -> pd.DataFrame:
    """One row a question; `answers` is a JSON list of all that are accepted, the primary first."""
    items: Sequence[Item] = workshop.items
    return pd.DataFrame(
        {
            "item": [i.id for i in items],
            "dataset": [i.dataset for i in items],
            "question": [i.question for i in items],
            "answers": [json.dumps(i.answers, ensure_ascii=False) for i in items],
            "language": [i.language for i in items],
            "source": [i.source for i in items],
            "group": [i.group or i.id for i in items],
            "entity_type": [i.entity_type for i in items],
            "popularity": [i.popularity for i in items],
        }
    )


SAMPLE = Stage("sample", "a question", sample, columns=_TEXTS, key=("item",))


def sampled(workshop: Workshop, tables: Tables) -> dict[str, Item]:
    """The items of the sample's table, by id; says how far they are not those that the settings choose."""
    items, chosen = items_of(tables["sample"]), {item.id for item in workshop.items}
    if lacking := len(chosen - items.keys()):
        workshop.note(f"sample: its table lacks {lacking} of the {len(chosen)} questions that the settings choose")
    if further := len(items.keys() - chosen):
        workshop.note(f"sample: {further} of the {len(items)} questions in its table are not among those chosen")
    return items


def of_sample(stage: str, workshop: Workshop, table: pd.DataFrame, items: Mapping[str, Item]) -> pd.DataFrame:
    """The rows of a stage's table that are about one of the items; says how many are not."""
    known = table["item"].isin(items)
    if not known.all():
        other = table.loc[~known, "item"].iloc[0]
        workshop.note(f"{stage}: {(~known).sum()} rows on questions that the sample lacks are left out: {other}, ...")
    return table[known].reset_index(drop=True)


def items_of(table: pd.DataFrame) -> dict[str, Item]:
    """The items that a table of questions stands for, by id.

    Raises:
        UserError: a row has no question, or answers or page views that can't be read; names the item.
    """
    told = table[list(_TEXTS)].astype(object)
    rows: list[dict[str, str]] = told.where(told.notna(), "").to_dict("records")  # type: ignore[assignment]
    visits = table["popularity"] if "popularity" in table else [None] * len(table)
    return {row["item"]: _item(row, number) for row, number in zip(rows, visits, strict=True)}


def _item(row: Mapping[str, str], visits: Any) -> Item:
    if not row["question"].strip():
        raise UserError(f"item {row['item']}: the column question is empty; write one, or delete the row")
    return Item(
        id=row["item"],
        dataset=row["dataset"],
        question=row["question"],
        answers=_accepted(row["answers"], row["item"]),
        gold=None,
        source=row["source"],
        group=row["group"] or row["item"],
        language=row["language"],
        entity_type=row["entity_type"],
        popularity=_visits(visits, row["item"]),
    )


def judge(player: Player, ways: Mapping[str, Way], *, seed: int, logprobs: bool) -> PointwiseJudge:
    """The step by which a model grades.

    Raises:
        UserError: it is a reward model, which has no words for a grade.
    """
    if isinstance(player.engine, RewardSettings):
        raise UserError(
            f"{player.model.name} scores answers and writes nothing, so it can't grade CORRECT or INCORRECT"
        )
    model = player.model
    return PointwiseJudge(player.spec, ways, model.thinking, seed, model.max_tokens, logprobs)


def trial(item: Item, truth: str | None, **factors: Any) -> Trial:
    """A trial of one answer; `truth` is the right grade, where it is known."""
    return Trial(replace(item, gold=truth), Factors(method="pointwise", **factors))


def verdicts(
    study: str, player: Player, singles: Sequence[Single], answered: Sequence[Answered[Verdict]]
) -> pd.DataFrame:
    """The verdict table, a row an answer graded."""
    return tabulate(study, player.model, [single.trial for single in singles], answered)


def _visits(cell: Any, item: str) -> int | None:
    if pd.isna(cell) or cell == "":
        return None
    try:
        return int(float(cell))
    except (ValueError, OverflowError):
        raise UserError(f"item {item}: the column popularity must hold a number or nothing; got {cell!r}") from None


def _accepted(cell: str, item: str) -> tuple[str, ...]:
    try:
        found = json.loads(cell) if cell else []
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(answer, str) for answer in found):
        raise UserError(f'item {item}: the column answers must hold a JSON list of texts, ["..."]; got {cell[:80]!r}')
    return tuple(answer for answer in found if answer.strip())
