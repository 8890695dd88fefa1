"""The store's folder: its format version, the names of its files, and whose writers are gone.

A file is called `<opened, UTC>-<host>-<pid>-<random>.<kind>`, so that names sort by age and never meet.
"""

import json
import os
import re
import secrets
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, get_args

from judges.records import UserError

FORMAT = 1
NOTE = "store.json"

Kind = Literal["open.jsonl", "jsonl", "parquet"]
"""A shard being written, a shard that is closed, and the compacted whole."""


@dataclass(frozen=True, slots=True, order=True)
class File:
    """One file of completions."""

    stem: str
    """Its name without the kind; stays the same when a shard is closed."""
    kind: Kind
    folder: Path

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / f"{self.stem}.{self.kind}"


def new_stem() -> str:
    """A name for a new file of this process that no other process chooses."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def files(folder: Path) -> list[File]:
    """All files of completions in the folder, oldest first; hidden and foreign files are passed over."""
    # A listing may pass over what is renamed or replaced at that moment; two that agree did not.
    before, now = None, _listed(folder)
    while now != before:
        before, now = now, _listed(folder)
    return now


def drafts(folder: Path) -> list[Path]:
    """Files that were not finished when they were last touched."""
    return [path for path in folder.glob(".*") if path.suffix in (".parquet", ".json")]


def writer_is_gone(stem: str) -> bool:
    """Whether the process that opened the file surely runs no more; of other hosts nothing is known."""
    pid = writer(stem)
    return pid is not None and not _runs(pid)


def written_by(folder: Path, pids: Collection[int], since: datetime) -> bool:
    """Whether processes of this host have stored anything in files that they opened since then."""
    later = (file for file in files(folder) if file.stem >= f"{since.astimezone(UTC):%Y%m%dT%H%M%S%fZ}")
    return any(writer(file.stem) in pids and file.path.stat().st_size for file in later)


def writer(stem: str) -> int | None:
    """The process of this host that opened the file; None if it was opened on another one."""
    match stem.split("-"):
        case [_, host, pid, _] if host == _host() and pid.isdigit():
            return int(pid)
    return None


def check(folder: Path) -> None:
    """Raises UserError unless the folder is a store of this version, is empty, or does not exist yet."""
    with explained(f"cannot open the store {folder}", "Check the path and its permissions, or choose another folder."):
        try:
            note = (folder / NOTE).read_bytes()
        except FileNotFoundError:
            others = [name for name in os.listdir(folder) if not name.startswith(".")] if folder.exists() else []
            # Another process may have founded the store between the two looks.
            if others and not (folder / NOTE).exists():
                raise UserError(
                    f"{folder} is not a completion store: it holds {others[0]!r} but no {NOTE}. "
                    "Choose another folder, or an empty one."
                ) from None
            return
    _check_note(folder / NOTE, note)


def found(folder: Path) -> None:
    """Makes the folder a store, unless it is one."""
    if (folder / NOTE).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{new_stem()}.json"
    try:
        draft.write_text(json.dumps({"format": FORMAT, "written_by": f"voirdire {_version()}"}) + "\n")
        draft.rename(folder / NOTE)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def explained(what: str, remedy: str) -> Iterator[None]:
    """Turns what the operating system refuses into a UserError that says what failed and what to do."""
    try:
        yield
    except OSError as e:
        raise UserError(f"{what}: {os.strerror(e.errno) if e.errno else e}. {remedy}") from e


def sync(folder: Path) -> None:
    """Returns once the list of the folder's files is on the disk itself."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _listed(folder: Path) -> list[File]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    parts = (name.split(".", 1) for name in names)
    return sorted(File(p[0], p[1], folder) for p in parts if p[0] and p[-1] in get_args(Kind))  # type: ignore[arg-type]


def _check_note(path: Path, note: bytes) -> None:
    try:
        content = json.loads(note)
        written = int(content["format"])
    except (ValueError, TypeError, KeyError):
        raise UserError(
            f"{path} does not say which format the store has. Restore it, or choose another folder."
        ) from None
    if written > FORMAT:
        by = content.get("written_by", "a newer version")
        raise UserError(
            f"The store {path.parent} has format {written}, written by {by}; this is voirdire {_version()}, "
            f"which reads formats up to {FORMAT}. Upgrade voirdire, or choose another folder."
        )


def _version() -> str:
    try:
        return version("voirdire")
    except PackageNotFoundError:
        return "(not installed)"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _host() -> str:
    """This host and its process-number space, for a process number means nothing outside it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{socket.gethostname()}{space.removeprefix('pid:')}").strip("_")
