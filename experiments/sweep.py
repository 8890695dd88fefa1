"""The points of a sweep: each is tried whatever became of the others; a table at the end says what is left to do."""

import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich import box
from rich.table import Table
from rich.text import Text

from experiments import complaints
from experiments.console import wide
from experiments.preemption import requeued
from experiments.rehearsal import Rehearsed
from experiments.settings import label
from experiments.status import Progress, overview
from judges.records import UserError
from judges.shares import Unfinished
from judges.store.folder import NOTE, written_by

Run = Callable[[dict[str, Any], set[int]], None]
"""Validates a plain configuration and runs its study; the set takes in the processes that store calls for it."""


@dataclass(frozen=True)
class Point:
    """One study of one judge on one data set, or a shard of it."""

    study: str
    data: str
    judge: str
    folder: Path
    """Its run folder."""
    words: tuple[str, ...] = ()
    """What the command says beside `python -m experiments`."""


@dataclass(frozen=True)
class Report:
    """What became of a point."""

    point: Point
    problem: str = ""
    """What must be mended; empty if nothing is wrong."""
    left: int = 0
    """Calls that other shards have yet to make."""
    rehearsed: bool = False
    """It was a dry run."""


REHEARSED = "dry run"
"""The state of a point that nothing was asked for."""
REPORTS: list[Report] = []
"""Of the points that this command has tried."""


def point(config: Mapping[str, Any], words: Sequence[str] = ()) -> Point:
    """The point that a plain configuration stands for."""
    study, data, judge = (str(name) for name in (config["study"], config["data"]["label"], config["model"]["name"]))
    judge = str(config.get("panel") or judge)  # A study of many judges has one name for all of them.
    return Point(study, data, judge, Path(config["root"]) / study / data / label(judge), tuple(words))


def attempt(config: dict[str, Any], run: Run, words: Sequence[str] = ()) -> Report:
    """Runs a point and says what became of it; a person's mistake, or ours, ends no other point.

    Raises:
        KeyboardInterrupt: somebody, or the cluster, wants it to end.
    """
    here = point(config, words)
    begun, pids = datetime.now(UTC), {os.getpid()}
    try:
        with requeued(lambda: written_by(Path(config["root"]) / "store", pids, begun)):
            run(config, pids)
    except Rehearsed as rehearsed:
        print(rehearsed, file=sys.stderr)
        return Report(here, rehearsed=True)
    except Unfinished as unfinished:
        return Report(here, left=unfinished.missing)
    except ValidationError as error:
        return Report(here, complaints.of_validation(error))
    except (UserError, OSError) as error:
        return Report(here, str(error))
    except Exception as error:
        traceback.print_exc()
        return Report(here, f"{type(error).__name__}: {error}")
    return Report(here)


def close(reports: Sequence[Report], again: Sequence[str] = ()) -> bool:
    """Prints what became of each point, and the command that completes it; returns whether all are complete.

    Args:
        reports: of the points, shards of one among them.
        again: words that a command to complete a point begins with, such as `-m hydra/launcher=slurm`.
    """
    counted = {str(row.plan.folder): row for root in roots(reports) for row in overview(root)[0]}
    shown = Table(title="what became of the sweep", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("study", "data", "judge", "calls", "state"):
        shown.add_column(name, overflow="fold")
    left: list[str] = []
    for folder, parts in by_folder(reports).items():
        here, row = parts[0].point, counted.get(folder)
        state = state_of(parts, row)
        calls = f"{row.done:,}/{row.total:,}" if row else "–"
        shown.add_row(here.study, here.data, here.judge, calls, Text(state))
        if state not in ("done", REHEARSED):
            left.append(shlex.join(["python", "-m", "experiments", *again, *here.words]))
    wide().print(shown)
    if left:
        print("to complete what is left, calls that are stored are not made again:")
        print("\n".join(f"  {command}" for command in left))
    return not left


def state_of(parts: Sequence[Report], row: Progress | None) -> str:
    """`done`, `dry run`, `missing` or `failed`, and why; of a point that was split, over all its shards."""
    problems = dict.fromkeys(report.problem for report in parts if report.problem)
    if problems:
        return "failed: " + "; ".join(problem.strip().splitlines()[0] for problem in problems)
    if any(report.rehearsed for report in parts):
        return REHEARSED
    if row is None or row.plan.tabulated:
        return "done"
    missing = row.total - row.done
    return f"missing: {missing:,} calls" if missing else "missing: the tables; all calls are stored"


def by_folder(reports: Iterable[Report]) -> dict[str, list[Report]]:
    """The reports on each run folder, in order."""
    found: dict[str, list[Report]] = {}
    for report in reports:
        found.setdefault(str(report.point.folder), []).append(report)
    return found


def roots(reports: Iterable[Report]) -> list[Path]:
    """Where the points lie, if anything was stored there."""
    found = dict.fromkeys(report.point.folder.parents[2] for report in reports)
    return [root for root in found if (root / "store" / NOTE).exists()]
