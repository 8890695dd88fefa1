"""A judge's words, from the stores of completions, and what it was asked; says why where they are not here."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd

from analysis.columns import TableError
from experiments.browser.asked import Asked, asked, thinking
from experiments.browser.columns import rows_of
from experiments.runs import Run
from judges.formats import Thinking
from judges.records import Completion, UserError
from judges.store import Store

NUMBERS = ("p_first", "p_tie", "label_mass", "confidence", "score_a", "score_b")
SAID = ("extracted", "explanation", "cited_passage", "repaired", "human", "text_end", "stored", "remark")
"""Further columns that are shown beside a verdict, where a table has them."""


class Words:
    """What lies behind the verdicts of some runs; holds the stores open that they are read from."""

    def __init__(self, runs: Sequence[Run], root: Path) -> None:
        self.reasons: dict[int, str] = {}
        self.tables = [_Rows(run) for run in runs]
        self.thinking = [thinking(run) for run in runs]
        self._root = root
        self._asked = {number: found for number, run in enumerate(runs) if (found := self._again(number, run))}
        self._stores: dict[Path, Store | None] = {}
        self._shelves = [self._places(run, rows) for run, rows in zip(runs, self.tables, strict=True)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failed: object) -> None:
        for store in self._stores.values():
            if store is not None:
                store.close()

    def asked(self, run: int) -> Asked | None:
        """What a run's judge was asked; None where that is not known, and `reasons` says why."""
        return self._asked.get(run)

    def marks(self, run: int, judge: str) -> Thinking | None:
        """How a judge marks its thinking."""
        return self.thinking[run].get(judge)

    def answers(self, rows: Iterable[tuple[int, int]]) -> "Answers":
        """The completions behind rows, given by run and row."""
        wanted: dict[Path, dict[str, None]] = defaultdict(dict)
        for run, row in rows:
            wanted[self.shelf(run, row)].update(dict.fromkeys(self.tables[run].keys[row]))
        return {shelf: self._read(shelf, keys) for shelf, keys in wanted.items()}

    def shelf(self, run: int, row: int) -> Path:
        """The store that holds a row's completions."""
        shelves = self._shelves[run]
        return shelves[row] if len(shelves) > 1 else shelves[0]

    def _places(self, run: Run, rows: "_Rows") -> list[Path]:
        """The store of each row, or one for all."""
        places = {condition: run.folder / "calls" / condition for condition in set(rows.conditions)}
        return [places[condition] for condition in rows.conditions] or [self._root / "store"]

    def _read(self, shelf: Path, keys: Iterable[str]) -> Mapping[str, Completion]:
        if shelf not in self._stores:
            try:
                self._stores[shelf] = Store(shelf, readonly=True)
            except UserError:
                self._stores[shelf] = None
        store = self._stores[shelf]
        return store.read(keys) if store else {}

    def _again(self, number: int, run: Run) -> Asked | None:
        try:
            return asked(run)
        except (UserError, TableError, KeyError, TypeError, OSError) as error:
            # Whatever an old manifest or an edited table lacks: the verdicts are shown without their prompts.
            told = isinstance(error, UserError | TableError | OSError)
            self.reasons[number] = str(error) if told else "the run folder is that of another version of voirdire"
            return None


Answers = dict[Path, Mapping[str, Completion]]


class _Rows:
    """The columns of a run's table that are shown, as lists."""

    def __init__(self, run: Run) -> None:
        table = rows_of(run)
        self.keys = [words.split() for words in _texts(table, "requests")]
        self.methods, self.formats = _texts(table, "method"), _texts(table, "format")
        self.judges, self.outcomes = _texts(table, "judge"), _texts(table, "outcome")
        self.gold = _texts(table, "gold")
        self.conditions = _texts(table, "condition") if "condition" in table else []
        self._numbers = {n: table[n].astype("float64").round(6).tolist() for n in NUMBERS if _has(table, n)}
        self._said = {name: table[name].tolist() for name in SAID if _has(table, name)}

    def shown(self, row: int) -> dict[str, Any]:
        """What is told beside a verdict; nothing that is null, empty or false."""
        numbers = {name: values[row] for name, values in self._numbers.items() if values[row] == values[row]}
        said = {name: _plain(values[row]) for name, values in self._said.items()}
        gold = {"gold": self.gold[row]} if self.gold[row] else {}
        return gold | numbers | {name: value for name, value in said.items() if value}


def _has(table: pd.DataFrame, name: str) -> bool:
    return name in table and bool(table[name].notna().any())


def _texts(table: pd.DataFrame, name: str) -> list[str]:
    if name not in table:
        return [""] * len(table)
    column = table[name].astype(object)
    return column.where(column.notna(), "").astype(str).tolist()


def _plain(value: Any) -> str:
    if value is None or value != value or value is pd.NA:
        return ""
    return {True: "yes", False: ""}.get(value, str(value)) if isinstance(value, bool) else str(value)
