"""Where the completion of each key lies, over all files of a folder; kept up to date by reading only what is new."""

import errno
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from judges.records import Completion, UserError
from judges.store import parquet, shard
from judges.store.folder import File
from judges.store.record import Record, completion

Place = tuple[bool, float, str, int]
"""Error or not, rank in time, stem of the file, offset or row there. Of two places of a key the smaller one stands:
an answer before an error, the first answer, the last error. (A plain tuple: a million of them are held.)"""

TRIES = 10
"""How often the folder is looked at anew while others compact it."""

T = TypeVar("T")


class Moved(Exception):
    """A file holds no longer what the index says."""


class Index:
    """The places of all keys in the files that `listing` names, oldest first, whenever it is called."""

    def __init__(self, listing: Callable[[], list[File]]):
        self._listing = listing
        self._places: dict[str, Place] = {}
        self._files: dict[str, File] = {}
        self._ends: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def answered(self, key: str) -> bool:
        """Whether there is a completion other than an error."""
        place = self._places.get(key)
        return place is not None and not place[0]

    def refresh(self) -> None:
        """Takes in what was written since the last time; starts over if a file is gone."""
        self._retry(self._refresh)

    def add(self, record: Record, file: File, start: int, end: int) -> None:
        """Takes in a record that this process has just appended to its own shard."""
        self._files[file.stem], self._ends[file.stem] = file, end
        self._place(record.key, record.outcome == "error", record.at.timestamp(), file.stem, start)

    def read(self, keys: Iterable[str]) -> dict[str, Completion]:
        """The completions of the keys that have one, in the order of the keys."""
        keys = list(keys)
        found = self._retry(lambda: dict(self._read(keys)))
        return {key: found[key] for key in keys if key in found}

    def standing(self) -> list[tuple[File, list[int]]]:
        """Each file, oldest first, and the ascending offsets or rows of the records in it that stand."""
        positions: dict[str, list[int]] = defaultdict(list)
        for _, _, stem, position in self._places.values():
            positions[stem].append(position)
        return [(self._files[stem], sorted(positions[stem])) for stem in sorted(self._files)]

    def _refresh(self) -> None:
        present = {file.stem: file for file in self._listing()}
        if self._files.keys() - present.keys():
            self._forget()
        for stem, file in present.items():
            # Noted first: should the file go while it is read, the next look must see that it is gone.
            self._files[stem] = file
            self._take_in(file)

    def _take_in(self, file: File) -> None:
        end = self._ends.get(file.stem, 0)
        if file.path.stat().st_size == end:
            return
        if file.kind == "parquet":
            for row, (key, error, at) in enumerate(parquet.rows(file.path)):
                self._place(key, error, at, file.stem, row)
            end = file.path.stat().st_size
        else:
            for offset, line, record in shard.lines(file.path, end):
                if record:
                    self._place(record.key, record.outcome == "error", record.at.timestamp(), file.stem, offset)
                end = offset + len(line)
        self._ends[file.stem] = end

    def _place(self, key: str, error: bool, at: float, stem: str, position: int) -> None:
        place = (error, -at if error else at, stem, position)
        if (known := self._places.get(key)) is None or place < known:
            self._places[key] = place

    def _read(self, keys: list[str]) -> Iterator[tuple[str, Completion]]:
        wanted: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for key in dict.fromkeys(keys):
            if place := self._places.get(key):
                wanted[place[2]].append((place[3], key))
        for stem, places in wanted.items():
            places.sort()
            found = _completions(self._files[stem], [position for position, _ in places])
            for (_, key), (there, answer) in zip(places, found, strict=True):
                if there != key:
                    raise Moved
                yield key, answer

    def _retry(self, act: Callable[[], T]) -> T:
        for attempt in range(TRIES):
            try:
                if attempt:
                    time.sleep(0.01 * 2**attempt)
                    self._refresh()
                return act()
            except Moved:
                self._forget()
            except OSError as e:
                if e.errno not in (errno.ENOENT, errno.ESTALE):
                    raise UserError(f"cannot read the store: {e}. Check the path and the disk.") from e
        raise UserError("the files of the store keep changing. Try again when nobody compacts it.")

    def _forget(self) -> None:
        self._places.clear()
        self._files.clear()
        self._ends.clear()


def _completions(file: File, positions: list[int]) -> Iterator[tuple[str, Completion]]:
    if file.kind == "parquet":
        yield from parquet.completions(file.path, positions)
        return
    for record in shard.records(file.path, positions):
        if record is None:
            raise Moved
        yield record.key, completion(record)
