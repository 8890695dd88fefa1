"""Waits for tasks in Slurm's queue, whatever ends them, and says what became of each."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.console import console
from experiments.preemption import about
from experiments.sweep import Point, Report

GRACE = 3
"""Looks at the queue for which the report of a task that is not in it may still be on its way over the file system."""
ORDINARY = {"None", "Priority", "Resources", "BeginTime", "JobArrayTaskLimit", "Cleaning", ""}
"""Reasons to be pending that pass by themselves."""


@dataclass(frozen=True)
class Task:
    """A task of an array job."""

    handle: Any
    """submitit's."""
    point: Point

    @property
    def number(self) -> str:
        """`12_0`, as Slurm has it; `12` where it is the only one."""
        return str(self.handle.job_id)

    @property
    def log(self) -> Path:
        """What it writes to its standard error."""
        return Path(self.handle.paths.stderr)

    def report(self) -> Report | None:
        """What it has reported; None if it has not."""
        if not self.handle.paths.result_pickle.exists():
            return None
        if self.handle.exception() is None:
            found: Report = self.handle.result()
            return found
        return Report(self.point, f"task {self.number} broke off; {self.log} says why")

    def lost(self) -> Report:
        """What became of it, once it has left the queue without a report."""
        end = about(self.number)
        how = f"{end.get('JobState', 'ended')}{f', {why}' if (why := end.get('Reason', 'None')) != 'None' else ''}"
        return Report(self.point, f"task {self.number} ended without a report ({how}); {self.log} may say why")


def await_all(tasks: Sequence[Task], poll: float) -> list[Report]:
    """Returns when every task has reported, or has left the queue without.

    Raises:
        KeyboardInterrupt: somebody wants to wait no longer; the tasks go on.
    """
    found: dict[str, Report] = {}
    gone: Counter[str] = Counter()
    said: Counter[str] = Counter()
    try:
        while len(found) < len(tasks):
            open_tasks = [task for task in tasks if task.number not in found]
            found |= {task.number: report for task in open_tasks if (report := task.report())}
            states = queued([task for task in open_tasks if task.number not in found])
            found |= {task.number: task.lost() for task in _lost(open_tasks, found, states, gone)}
            now = Counter({**(states or {}), **dict.fromkeys(found, "finished")}.values())
            if now != said:
                console.print(", ".join(f"{n} {state}" for state, n in sorted(now.items())), markup=False)
                said = now
            if len(found) < len(tasks):
                time.sleep(poll)
    except KeyboardInterrupt:
        arrays = " ".join(sorted({task.number.partition("_")[0] for task in tasks}))
        console.print(
            f"\nthe tasks go on. To see how far: python -m experiments.status; to end them: scancel {arrays}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        raise
    return [found[task.number] for task in tasks]


def queued(tasks: Sequence[Task]) -> dict[str, str] | None:
    """The state of each of the tasks that are in the queue; None where the queue can't be read."""
    if not tasks:
        return {}
    arrays = ",".join(sorted({task.number.partition("_")[0] for task in tasks}))
    command = ["squeue", "--noheader", "--array", "--format=%i %T %r", f"--jobs={arrays}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode and "invalid job id" not in done.stderr.lower():
        return None
    wanted = {task.number for task in tasks}
    found = {number: state for number, _, state in (line.partition(" ") for line in done.stdout.splitlines())}
    return {number: _said(*state.split(" ", 1)) for number, state in found.items() if number in wanted}


def _said(state: str, reason: str = "") -> str:
    """A state, and why a task is pending where waiting alone may not help."""
    return f"{state.lower()} ({reason})" if state == "PENDING" and reason not in ORDINARY else state.lower()


def _lost(
    tasks: Sequence[Task], found: dict[str, Report], states: dict[str, str] | None, gone: Counter[str]
) -> Iterator[Task]:
    """Tasks that were missed in more than `GRACE` looks in a row, which `gone` counts."""
    for task in tasks:
        if states is None or task.number in states:
            gone.pop(task.number, None)
        elif task.number not in found:
            gone[task.number] += 1
            if gone[task.number] > GRACE:
                yield task
