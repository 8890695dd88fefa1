"""A progress bar over several processes of this host, from what they store."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np

from experiments.console import ProgressBar
from experiments.plans import read
from judges.records import Completion
from judges.shares import Share
from judges.store import shard
from judges.store.folder import NOTE, files, writer
from judges.store.record import completion
from judges.store.tally import tally


class Following:
    """A progress bar over all workers, from what they store."""

    def __init__(self, store: Path, folder: Path, share: Share) -> None:
        self._store, self._folder, self._share = store, folder, share
        self._bar = ProgressBar()
        self._begun = False
        self._ends: dict[str, int] = {}
        self._calls: Counter[int | None] = Counter()
        self._early: list[Completion] = []
        self._before = tally(store).keys if (store / NOTE).exists() else None

    def calls(self, pid: int) -> int:
        """How many calls a process has stored."""
        self.look({pid})
        return self._calls[pid]

    def look(self, pids: Collection[int]) -> None:
        """Takes in what these processes have stored since the last time."""
        self._begin()
        for file in files(self._store):
            pid = writer(file.stem)
            if pid not in pids:
                continue
            for offset, line, record in shard.lines(file.path, self._ends.get(file.stem, 0)):
                self._ends[file.stem] = offset + len(line)
                if record:
                    self._calls[pid] += 1
                    self._early.append(completion(record))
        if self._begun:
            for found in self._early:
                self._bar.finished(found)
            self._early.clear()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def _begin(self) -> None:
        """Starts the bar once a worker has left the plan."""
        if self._begun or (plan := read(self._folder)) is None:
            return
        ours = plan.keys[self._share.own(plan.keys)]
        stored = 0 if self._before is None else int(np.isin(ours, self._before).sum())
        self._bar.begin(len(ours), stored)
        self._begun = True
