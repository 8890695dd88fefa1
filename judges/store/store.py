"""The store as a study sees it: what is missing, put, read."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from judges.records import Completion, Request, UserError
from judges.store.folder import NOTE, check, files
from judges.store.index import Index
from judges.store.record import encode, record
from judges.store.shard import Shard


class Store:
    """The completions in a folder.

    Any number of processes may have it open and put at once. What this process put is there at once; what others
    put since it was opened, after `refresh()`. Of several completions of a key the first that is no `error` stands.
    """

    def __init__(self, folder: Path, *, readonly: bool = False):
        """Opens the store and finds out what it holds; writes nothing until the first `put`.

        Args:
            folder: made by the first `put` if it does not exist.
            readonly: refuse to put, and refuse a folder that is no store yet.

        Raises:
            UserError: the folder is something else, cannot be read, or was written by a newer version.
        """
        self.folder = Path(folder)
        self.readonly = readonly
        check(self.folder)
        if readonly and not (self.folder / NOTE).exists():
            raise UserError(f"there is no completion store in {self.folder}. Check the path.")
        self._index = Index(partial(files, self.folder))
        self._shard: Shard | None = None
        self.refresh()

    def refresh(self) -> None:
        """Takes in what other processes put meanwhile; reads only what is new."""
        self._index.refresh()

    def missing(self, requests: Mapping[str, Request] | Iterable[str]) -> list[str]:
        """The keys that have no completion, or only an `error`, in their order, each once."""
        return list(dict.fromkeys(key for key in requests if not self._index.answered(key)))

    def put(self, request: Request, completion: Completion) -> None:
        """Stores a completion; on return it outlives this process, however that ends.

        Raises:
            UserError: the disk is full or read-only; what was stored before stays readable.
        """
        if self.readonly:
            raise UserError(f"the store {self.folder} was opened for reading only: nothing can be put into it.")
        if self._index.answered(request.key):
            return
        entry = record(request, completion)
        line = encode(entry)
        shard = self._own_shard()
        while (start := shard.append(line)) is None:
            shard = self._own_shard()
        self._index.add(entry, shard.file, start, start + len(line))

    def read(self, keys: Iterable[str]) -> dict[str, Completion]:
        """The completions of the keys, in their order; keys that have none are left out.

        A key that was answered with errors only gives the last of them.
        """
        return self._index.read(keys)

    def close(self) -> None:
        """Puts everything on the disk itself and marks this process's shard as finished; reading goes on to work."""
        if self._shard:
            shard, self._shard = self._shard, None
            shard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _own_shard(self) -> Shard:
        if self._shard is None or not self._shard.usable:
            self._shard = Shard(self.folder)
        return self._shard
