"""Stages, one after the other: each makes a table that a person can open, edit and feed back; knows no study.

A stage asks models through the store, so making a table again costs no call that was made before. What a person has
edited is used as it stands and not made again.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import files
from analysis.columns import TEXT, TableError, rows_where
from experiments.console import console
from experiments.rehearsal import Rehearsed
from experiments.stagefiles import StageFiles
from experiments.workshop import Lacking, Workshop
from judges.records import UserError

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Stage:
    """One step of a pipeline: from the tables of earlier stages to a table of its own.

    A row whose `outcome` is there and not `ok` has no result: it is counted, and later stages don't see it.
    """

    name: str
    says: str
    """What a row is: `a swapped answer`."""
    make: Callable[[Workshop, Tables], pd.DataFrame]
    needs: tuple[str, ...] = ()
    """Stages whose tables it takes; `stage.input=` stands in for the first."""
    columns: tuple[str, ...] = ()
    """Its columns of text, without which its table is none; of others, numbers and flags are read as such."""
    role: str = ""
    """Which role `stage.model=` recasts when this stage is run alone."""
    final: bool = False
    """Its table is the verdicts, which the run folder holds as such."""
    key: tuple[str, ...] = ()
    """Columns of text that tell its rows apart: never empty, and no two rows alike."""


@dataclass(frozen=True)
class Choice:
    """Which stages of a pipeline to run."""

    name: str = ""
    """Only this one; empty: all, in order."""
    input: Path | None = None
    """A table to use in place of the first one that the stage needs."""


def run(stages: Sequence[Stage], workshop: Workshop, choice: Choice, folder: Path) -> dict[str, pd.DataFrame]:
    """Makes the tables of the stages chosen and writes them under `folder`.

    Returns:
        The table of each stage that was made, or that a person had edited, by name.

    Raises:
        UserError: there is no such stage; one lacks its input, and its calls are not all in the store.
    """
    made = _Line(stages, workshop, choice, StageFiles(folder))
    return {stage.name: made.table(stage) for stage in _chosen(stages, choice)}


def usable(stage: Stage, table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows that have a result, and a sentence on those that have none; empty where all have."""
    if "outcome" not in table:
        return table, ""
    there = table["outcome"] == "ok"
    why = ", ".join(f"{n} {outcome or 'of no outcome: write ok'}" for outcome, n in _counted(table[~there]))
    lost = f"{stage.name}: {int((~there).sum())} of {len(table)} rows have no"
    lacking = f"{lost} verdict ({why})" if stage.final else f"{lost} result ({why}) and are left out"
    return table[there].reset_index(drop=True), lacking if why else ""


def _counted(table: pd.DataFrame) -> Iterator[tuple[str, int]]:
    found = table["outcome"].fillna("").astype(str).str.strip().value_counts()
    return zip(found.index, found, strict=True)


class _Line:
    """The tables of one run, each made or read once."""

    def __init__(self, stages: Sequence[Stage], workshop: Workshop, choice: Choice, kept: StageFiles) -> None:
        self._stages = {stage.name: stage for stage in stages}
        self._workshop, self._choice, self._kept = workshop, choice, kept
        self._tables: dict[str, pd.DataFrame] = {}

    def table(self, stage: Stage) -> pd.DataFrame:
        """The table of a stage that is to be run."""
        if (edited := self._kept.edited(stage.name)) is not None:
            self._workshop.note(f"{edited} was edited by hand and is used as it stands; delete it to have it made anew")
            table = self._read(stage, edited)
        else:
            if not isinstance(self._workshop.engine, Lacking):
                console.print(f"stage {stage.name}", markup=False)
            table = self._made(stage)
            if not stage.final:
                # Read back, so that later stages see the same whether a table is new, kept or edited.
                table = self._read(stage, self._kept.write(stage.name, table))
        return self._remember(stage, table)

    def _made(self, stage: Stage) -> pd.DataFrame:
        try:
            return stage.make(self._workshop, dict(self._given(stage)))
        except Rehearsed as rehearsed:
            raise Rehearsed(
                f"{rehearsed}. The dry run ends here, in stage {stage.name}: what other models of this stage and later "
                "stages would be asked is not counted; make these calls, and a dry run gets further"
            ) from None

    def _given(self, stage: Stage) -> Iterator[tuple[str, pd.DataFrame]]:
        for number, name in enumerate(stage.needs):
            if number == 0 and self._choice.input is not None:
                need = self._stages[name]
                table, lacking = usable(need, self._read(need, self._choice.input))
                if lacking:
                    self._workshop.note(lacking)
                yield name, table
            else:
                yield name, usable(self._stages[name], self._needed(self._stages[name], stage))[0]

    def _needed(self, stage: Stage, by: Stage) -> pd.DataFrame:
        """The table of an earlier stage: of this run, from its file, or remade if the store has all its calls."""
        if stage.name in self._tables:
            return self._tables[stage.name]
        if (path := self._kept.find(stage.name)) is not None:
            return self._remember(stage, self._read(stage, path))
        lacking = Lacking()
        stored = replace(self._workshop, engine=lacking, watch=lacking)
        try:
            line = _Line(tuple(self._stages.values()), stored, Choice(), self._kept)
            line._tables = self._tables
            return line.table(stage)
        except Lacking.Calls as calls:
            raise UserError(
                f"stage {by.name} needs the table of stage {stage.name} ({stage.says} a row): "
                f"{self._kept.path(stage.name)} is not there, and {calls.missing} of the {calls.total} calls behind "
                f"it have not been made. Make it: {self._workshop.command(stage=stage.name)}"
            ) from None

    def _read(self, stage: Stage, path: Path) -> pd.DataFrame:
        try:
            table = files.load(path, stage.columns)
        except TableError as error:
            raise UserError(str(error)) from error
        if absent := [c for c in stage.columns if c not in table]:
            raise UserError(
                f"{path} has no column {', '.join(map(repr, absent))}: the table of stage {stage.name} has "
                f"{', '.join(stage.columns)}; it has {', '.join(map(str, table.columns))}"
            )
        texts = {name: [_text(cell) for cell in table[name].tolist()] for name in stage.columns}
        table = table.assign(**{name: pd.Series(cells, table.index, TEXT) for name, cells in texts.items()})
        _check_key(stage, table, path)
        return table

    def _remember(self, stage: Stage, table: pd.DataFrame) -> pd.DataFrame:
        if lacking := usable(stage, table)[1]:
            self._workshop.note(lacking)
        self._tables[stage.name] = table
        return table


def _text(cell: Any) -> str:
    """A cell of a column of text; other formats than CSV may hold numbers, lists or nothing there."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and (isnan(cell) or cell.is_integer()):
        return "" if isnan(cell) else str(int(cell))
    if isinstance(cell, list | np.ndarray):
        return json.dumps(list(cell), ensure_ascii=False)
    return "" if cell is None or cell is pd.NA else str(cell)


def _check_key(stage: Stage, table: pd.DataFrame, path: Path) -> None:
    lines = table.set_axis(pd.RangeIndex(2, len(table) + 2))  # as lines of a CSV file
    for name in stage.key:
        if (empty := lines[name].str.strip() == "").any():
            raise UserError(f"{path}: the column {name!r} is empty in {rows_where(empty)}; each row needs one")
    if stage.key and (again := lines.duplicated(list(stage.key))).any():
        what = ", ".join(lines.loc[again, list(stage.key)].iloc[0])
        raise UserError(
            f"{path}: {rows_where(again)} has the {' and '.join(stage.key)} of an earlier row again, {what}; keep one"
        )


def _chosen(stages: Sequence[Stage], choice: Choice) -> list[Stage]:
    if not choice.name:
        return list(stages)
    found = [stage for stage in stages if stage.name == choice.name]
    if not found:
        raise UserError(f"there is no stage {choice.name!r} here; there are: {', '.join(s.name for s in stages)}")
    return found
