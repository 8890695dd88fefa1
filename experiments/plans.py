"""What a study works towards: the keys of its calls, left in its run folder: others can count, without a model."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from experiments.console import ProgressBar
from experiments.settings import Settings
from experiments.shards import is_looking
from judges.ask import Step, Watch
from judges.records import Completion, Request
from judges.store.folder import explained, new_stem
from judges.store.tally import short

In = TypeVar("In")
Out = TypeVar("Out")
HOW = {"root", "shard", "workers"}
"""Settings that say how a study is carried out, and not which."""


@dataclass(frozen=True)
class Plan:
    """The calls of one study of one judge on one data set, as far as they are known."""

    folder: Path
    """The run folder."""
    study: str
    data: str
    judge: str
    settings: Mapping[str, Any]
    keys: NDArray[np.uint64]
    """Sorted and distinct; see `judges.store.tally.short`."""

    @property
    def tabulated(self) -> bool:
        """Whether the tables in the run folder are those of this design."""
        try:
            note = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(_which(note.get("settings", {})) == dict(self.settings))


class Keeper:
    """Writes the plan of a run as its rounds begin, and hands on all else to a progress bar.

    A round's calls are a file of their own, named by its content: all shards of a study write the same ones.
    """

    def __init__(self, folder: Path, settings: Settings, bar: ProgressBar) -> None:
        self._folder = folder / "plan"
        self._settings = settings
        self._bar = bar
        self._keys: list[str] = []
        self._design = ""

    def note(self, requests: Sequence[Request]) -> None:
        """Takes in requests of the round that is about to begin."""
        self._keys += [request.key for request in requests]

    def begin(self, total: int, stored: int, /) -> None:
        """Writes what was noted."""
        if is_looking():
            return
        if self._keys and not self._settings.dry_run:  # What is under way here keeps its plan.
            with explained(f"cannot write to {self._folder}", "See to it that the folder can be written to."):
                self._write(np.unique(short(self._keys)))
            self._keys = []
        self._bar.begin(total, stored)

    def finished(self, completion: Completion, /) -> None:
        """Tells the bar."""
        self._bar.finished(completion)

    def _write(self, keys: NDArray[np.uint64]) -> None:
        content = keys.astype("<u8").tobytes()
        digest = hashlib.sha256(content).hexdigest()[:16]
        if not self._design:
            self._begin(digest)
        path = self._folder / f"{self._design}.{digest}.keys"
        if not path.exists():
            _replace(path, content)

    def _begin(self, digest: str) -> None:
        which = _which(self._settings.model_dump(mode="json"))
        said = json.dumps({"settings": which, "first": digest}, indent=1, sort_keys=True)
        self._design = hashlib.sha256(said.encode()).hexdigest()[:16]
        note = self._folder / "plan.json"
        if not note.exists() or note.read_text(encoding="utf-8") != said:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(note, said.encode())
        for other in self._folder.glob("*.keys"):
            if not other.name.startswith(self._design):
                other.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Noted(Generic[In, Out]):
    step: Step[In, Out]
    keeper: Keeper

    def ask(self, x: In, so_far: Sequence[Completion], /) -> Sequence[Request]:
        requests = self.step.ask(x, so_far)
        self.keeper.note(requests)
        return requests

    def read(self, x: In, completions: Sequence[Completion], /) -> Out:
        return self.step.read(x, completions)


def noted(step: Step[In, Out], watch: Watch) -> Step[In, Out]:
    """The step, whose requests go into the plan if the watch keeps one."""
    return _Noted(step, watch) if isinstance(watch, Keeper) else step


def plans(root: Path) -> Iterator[Plan]:
    """All plans under a root, by study, data set and judge; one that is just being written is passed over."""
    for note in sorted(root.glob("*/*/*/plan/plan.json")):
        if plan := read(note.parents[1]):
            yield plan


def read(folder: Path) -> Plan | None:
    """The plan in a run folder, if there is a whole one."""
    note = folder / "plan" / "plan.json"
    try:
        said = note.read_bytes()
        settings = json.loads(said)["settings"]
        design = hashlib.sha256(said).hexdigest()[:16]
        rounds = [np.fromfile(path, "<u8") for path in sorted(note.parent.glob(f"{design}.*.keys"))]
    except (OSError, ValueError, KeyError):
        return None
    study, data, judge = folder.parts[-3:]
    return (
        Plan(folder, study, data, judge, settings, np.unique(np.concatenate(rounds)).astype(np.uint64))
        if rounds
        else None
    )


def _which(settings: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in settings.items() if key not in HOW}
    return found | {"model": {k: v for k, v in settings.get("model", {}).items() if k != "resources"}}


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{new_stem()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
