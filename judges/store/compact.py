"""Merges finished shards, and what was merged before, into one Parquet file; loses nothing whenever it is stopped."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from judges.records import UserError
from judges.store import parquet
from judges.store.folder import File, check, drafts, explained, files, new_stem, sync, writer_is_gone
from judges.store.index import Index
from judges.store.tables import row_groups, standing

STALE_HOURS = 24.0
"""An open shard of another host to which nothing was added for so long has lost its writer."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction has done."""

    merged: tuple[File, ...]
    """The files whose records are now in `into`."""
    left: tuple[File, ...]
    """Open shards whose writers may be alive."""
    into: File | None
    """The new file; None if there was nothing to merge."""
    records: int


def compact(folder: Path, stale_hours: float = STALE_HOURS) -> Compacted:
    """Merges all files whose writers have finished or are gone into one, then removes them.

    Of a key's records the one that stands is kept: the first answer, or the last error if there is no answer.
    Damaged lines are dropped.

    Args:
        folder: of the store.
        stale_hours: how long an open shard must have been silent to be merged although nobody knows whether its
            writer, on another host, still runs. A writer that comes back to a merged shard begins a new one.

    Raises:
        UserError: the folder is no store, the disk is full, or somebody else compacts it; the store is as it was.
    """
    check(folder)
    with explained(f"cannot compact {folder}", "Nothing is lost; mend that and compact again."):
        present = files(folder)
        sizes = {file: file.path.stat().st_size for file in present if _finished(file, stale_hours)}
        left = tuple(file for file in present if file not in sizes)
        if all(file.kind == "parquet" for file in sizes) and len(sizes) < 2:
            return Compacted((), left, None, 0)
        into, records = _merge(folder, list(sizes))
        _remove(folder, sizes, stale_hours)
    return Compacted(tuple(sizes), left, into, records)


def _finished(file: File, stale_hours: float) -> bool:
    if file.kind != "open.jsonl" or writer_is_gone(file.stem):
        return True
    return _hours_silent(file.path) > stale_hours


def _hours_silent(path: Path) -> float:
    return (time.time() - path.stat().st_mtime) / 3600


def _merge(folder: Path, sources: list[File]) -> tuple[File, int]:
    index = Index(lambda: sources)
    index.refresh()
    into = File(new_stem(), "parquet", folder)
    draft = folder / f".{into.path.name}"
    records = 0
    try:
        with parquet.writer(draft) as out:
            for table in row_groups(standing(index, parquet.schema().names)):
                out.write_table(table)
                records += table.num_rows
        if records != len(index):
            raise UserError(f"cannot compact {folder}: its files changed meanwhile. Nothing is lost; compact again.")
        draft.rename(into.path)
        sync(folder)
    finally:
        draft.unlink(missing_ok=True)
    return into, records


def _remove(folder: Path, sizes: dict[File, int], stale_hours: float) -> None:
    for file, size in sizes.items():
        # A shard that has grown has a living writer after all; it is merged next time.
        with contextlib.suppress(FileNotFoundError):
            if file.path.stat().st_size == size:
                file.path.unlink()
    for draft in drafts(folder):
        with contextlib.suppress(FileNotFoundError):
            if writer_is_gone(draft.name[1:].split(".")[0]) or _hours_silent(draft) > stale_hours:
                draft.unlink()
