"""Ends a study in time when Slurm wants its node back, and puts its job into the queue again."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from experiments.console import console
from judges.records import UserError

SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
"""Slurm sends the first when it preempts or cancels, one of the others (`--signal`) before the time is up."""


FRUITLESS = 3
"""Times that a job is put into the queue again although it was told to end before it had stored anything."""


class Preempted(KeyboardInterrupt):
    """The cluster has asked us to end."""


@contextmanager
def requeued(stored: Callable[[], bool]) -> Iterator[None]:
    """Within it, one of `SIGNALS` ends what goes on as Ctrl-C would; then the job goes into the queue again.

    Does nothing outside a batch job of Slurm.

    Args:
        stored: whether any call has been stored since the job began to run.

    Raises:
        Preempted: after a signal, once the job is in the queue again or is Slurm's own to end.
        UserError: the time limit has come before the first call was stored, so it would come again.
    """
    job = _job(os.environ)
    if not job or about(job).get("BatchFlag") != "1":
        yield
        return
    caught: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise Preempted

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        yield
    except BaseException:
        if not caught:
            raise
        _requeue(job, signal.Signals(caught[0]), stored())
        raise Preempted from None
    finally:
        if not caught:  # Else Slurm may send more of them before we are gone.
            for number, handler in before.items():
                signal.signal(number, handler)


def _job(environment: Mapping[str, str]) -> str:
    """`12`, or `12_3` for a task of an array, one of which bears the number of the whole array as its own."""
    if array := environment.get("SLURM_ARRAY_JOB_ID", ""):
        return f"{array}_{environment['SLURM_ARRAY_TASK_ID']}"
    return environment.get("SLURM_JOB_ID", "")


def _requeue(job: str, number: signal.Signals, stored: bool) -> None:
    found = about(job)
    if found.get("JobState") != "RUNNING":
        console.print(f"{number.name}: Slurm ends this job; what was finished is stored", markup=False)
        return
    limit, run = seconds(found.get("TimeLimit", "")), seconds(found.get("RunTime", ""))
    late = limit is not None and run is not None and run > 0.4 * limit
    if number != signal.SIGTERM and not stored and (late or int(found.get("Restarts", "0")) >= FRUITLESS):
        raise UserError(
            f"the time limit ({found['TimeLimit']}) has come before the first call was answered: the model takes "
            "longer to load. Not put into the queue again, for it would end the same way. Give it more time, "
            "such as model.resources.hours=4"
        )
    done = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True)
    if done.returncode:
        raise UserError(
            f"{number.name}: this job must end, and Slurm does not put it into the queue again: {done.stderr.strip()}. "
            "What was finished is stored; submit it again and it goes on from there"
        )
    console.print(f"{number.name}: what was finished is stored; the job is in the queue again", markup=False)


def seconds(text: str) -> float | None:
    """From Slurm's way of writing times; None for what is no time, such as UNLIMITED.

    >>> seconds("1-02:00:03"), seconds("00:01:00"), seconds("UNLIMITED")
    (93603, 60, None)
    """
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", text)
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def about(job: str) -> Mapping[str, str]:
    """What the controller says of a job; nothing where it can't be asked."""
    try:
        done = subprocess.run(
            ["scontrol", "show", "job", "--oneliner", job], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    words = (word.partition("=") for word in done.stdout.partition("\n")[0].split())
    return {key: value for key, _, value in words}
