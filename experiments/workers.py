"""Several processes on one machine that share a study's calls, each with an engine and GPUs of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.console import console
from experiments.following import Following
from experiments.settings import Settings
from judges.engines import ApiSettings, ScriptedSettings
from judges.records import UserError
from judges.shares import Share, Unfinished

MARK = "VOIRDIRE_WORKER"
"""Set in the environment of a worker; it leaves the tables to the process that started it."""
POLL = 0.5
FRUITLESS = 3
"""How often in a row a worker may die without having stored anything."""


def conduct(config: Mapping[str, Any], settings: Settings, folder: Path, pids: set[int]) -> None:
    """Starts the workers, starts again those that die, and returns when every share is stored.

    Args:
        config: of the study, plain; its shard is split among the workers.
        settings: the same, validated.
        folder: the run folder; what each worker says goes into `workers/N.log` there.
        pids: takes in the processes of all workers.

    Raises:
        UserError: a worker could not finish its share, or there are too few GPUs.
    """
    share, n = Share.parse(settings.shard or "1/1"), settings.workers
    shares = [share.part(i, n) for i in range(1, n + 1)]
    gpus = gpus_each(settings)
    crew = [
        Worker(i, {**config, "workers": 1, "shard": str(part)}, own, folder / "workers" / f"{i}.log")
        for i, (part, own) in enumerate(zip(shares, gpus, strict=True), start=1)
    ]
    progress = Following(settings.root / "store", folder, share)
    try:
        with closing(progress):
            while any([worker.goes_on(progress.calls) for worker in crew]):  # A list: every one is looked at.
                pids.update(worker.pid for worker in crew)
                time.sleep(POLL)
                progress.look(pids)
            progress.look(pids)
    finally:
        for worker in crew:
            worker.end()
    if failed := [worker for worker in crew if worker.problem]:
        raise UserError("\n".join(f"worker {worker.number}: {worker.problem}" for worker in failed))


def gpus_each(settings: Settings, environment: Mapping[str, str] = os.environ) -> Sequence[str]:
    """CUDA_VISIBLE_DEVICES of each worker; empty where there are no GPUs or the engine uses none.

    Raises:
        UserError: there are some, and too few.
    """
    each = settings.model.tensor_parallel * settings.model.pipeline_parallel
    listed = [g for g in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if g] or _gpus()
    if not listed or isinstance(settings.engine, ScriptedSettings | ApiSettings):
        return [""] * settings.workers
    if len(listed) < (needed := each * settings.workers):
        raise UserError(
            f"workers={settings.workers} need {needed} GPUs ({each} each), and there are {len(listed)}: "
            f"{','.join(listed)}; set workers={len(listed) // each or 1} or less"
        )
    return [",".join(listed[i * each : (i + 1) * each]) for i in range(settings.workers)]


@dataclass
class Worker:
    """One process, started again when it dies."""

    number: int
    config: Mapping[str, Any]
    gpus: str
    log: Path
    problem: str = ""
    """Why its share is not finished and will not be."""
    _process: subprocess.Popen[bytes] | None = None
    _fruitless: int = 0
    _done: bool = False

    @property
    def pid(self) -> int:
        """Of the process that runs now, or ran last."""
        return self._process.pid if self._process else 0

    def goes_on(self, calls: Callable[[int], int]) -> bool:
        """Starts it if it has not been started or has died; False once it has ended for good."""
        if self._done or self.problem:
            return False
        code = self._process.poll() if self._process else 0
        if self._process is None:
            self._start("w")
        elif code == 0:
            self._done = True
        elif code == 2:
            self.problem = self._last_words()
        elif code is not None:
            self._again(code, calls(self.pid))
        return not (self._done or self.problem)

    def end(self) -> None:
        """Ends the process, if it runs."""
        if self._process:
            self._process.terminate()
            self._process.wait()
            if self._process.stdin:
                self._process.stdin.close()

    def _start(self, mode: str) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, MARK: str(self.number)} | (
            {"CUDA_VISIBLE_DEVICES": self.gpus} if self.gpus else {}
        )
        with self.log.open(mode) as log:
            command = [sys.executable, "-m", "experiments.workers"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        assert self._process.stdin
        with suppress(BrokenPipeError):  # Its end is noticed soon enough.
            self._process.stdin.write(json.dumps(self.config).encode() + b"\n")
            self._process.stdin.flush()  # And stays open: when it breaks, the worker knows that we are gone.

    def _again(self, code: int, calls: int) -> None:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        self._fruitless = 0 if calls else self._fruitless + 1
        if self._fruitless >= FRUITLESS:
            self.problem = f"{how}, {FRUITLESS} times without an answer. {self._last_words()}"
            return
        console.print(f"worker {self.number} {how} after {calls} calls; it is started again", markup=False)
        self._start("a")

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"{lines[-1] if lines else 'it said nothing'} (all of it: {self.log})"


def main() -> int:
    """A worker: takes its settings from standard input, and ends when the process that started it is gone."""
    from experiments.__main__ import run

    config = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    print(f"worker {os.environ[MARK]}, shard {config['shard']}, GPUs {os.environ.get('CUDA_VISIBLE_DEVICES', '-')}")
    try:
        run(config)
    except Unfinished:
        return 0
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _gpus() -> list[str]:
    """Numbers of the NVIDIA GPUs, as the driver's own tool lists them."""
    try:
        query = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True, timeout=10).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []


if __name__ == "__main__":
    sys.exit(main())
