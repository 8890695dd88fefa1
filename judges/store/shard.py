"""An append-only file of JSON lines that one process writes and any number read."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from judges.records import UserError
from judges.store.folder import File, explained, found, new_stem, sync
from judges.store.record import Record, decode

_KEPT = "All completions before it are kept. {} Then start the same command again: it goes on where it stopped."
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Shard:
    """The file that this process appends to."""

    def __init__(self, folder: Path):
        self._pid = os.getpid()
        self.file = File(new_stem(), "open.jsonl", folder)
        self._fd = self._create()

    @property
    def usable(self) -> bool:
        """False in a forked child, whose parent goes on writing here, and once the file is removed or beyond repair."""
        return self._fd >= 0 and self._pid == os.getpid()

    def append(self, line: bytes) -> int | None:
        """Appends a line.

        Returns:
            The offset of the line once it is with the operating system, so that it outlives this process.
            None if somebody has removed the file: the line must go to another shard.

        Raises:
            UserError: the disk is full or fails; the shard holds what it held before.
        """
        try:
            start = os.fstat(self._fd).st_size
            self._write(line, start)
            removed = os.fstat(self._fd).st_nlink == 0
        except OSError as e:
            if e.errno != errno.ESTALE:
                raise _refused(self.file.path, e) from e
            removed = True
        if removed:
            self._abandon()
            return None
        return start

    def close(self) -> None:
        """Puts everything on the disk itself and marks the shard as closed; an empty one goes away."""
        if not self.usable:
            return
        fd, self._fd = self._fd, -1
        path = self.file.path
        with explained(f"cannot close {path}", "Completions that were not yet on the disk are asked again next time."):
            try:
                os.fsync(fd)
                empty = os.fstat(fd).st_size == 0
            finally:
                os.close(fd)
            with contextlib.suppress(FileNotFoundError):
                if empty:
                    path.unlink()
                else:
                    path.rename(File(self.file.stem, "jsonl", self.file.folder).path)
            sync(path.parent)

    def _create(self) -> int:
        try:
            found(self.file.folder)
            return os.open(self.file.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as e:
            raise _refused(self.file.folder, e) from e

    def _write(self, line: bytes, start: int) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except BaseException:
            self._cut_back(start)
            raise

    def _cut_back(self, size: int) -> None:
        # A later line must not be glued to half a line.
        try:
            os.ftruncate(self._fd, size)
        except OSError:
            self._abandon()

    def _abandon(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes, Record | None]]:
    """Offset, bytes and record of each finished line from offset `start` on; None for a line that is no record.

    A last line without its end is not finished: its writer may be at it.
    """
    with path.open("rb") as shard:
        shard.seek(start)
        for line in shard:
            if not line.endswith(b"\n"):
                return
            yield start, line, decode(line)
            start += len(line)


def records(path: Path, offsets: Iterable[int]) -> Iterator[Record | None]:
    """What stands on the lines that begin at the offsets; None for a line that is no record."""
    with path.open("rb") as shard:
        for offset in offsets:
            shard.seek(offset)
            yield decode(shard.readline())


def _refused(where: Path, e: OSError) -> UserError:
    remedy = "Free some space." if e.errno in _FULL else "See to it that the folder can be written to."
    return UserError(f"cannot store a completion in {where}: {e.strerror}. {_KEPT.format(remedy)}")
