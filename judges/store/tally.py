"""Counts a store fast, without the texts: for who wants to know how far a study has come, many times a day."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from judges.records import Outcome, UserError
from judges.store import parquet
from judges.store.folder import NOTE, File, check, explained, files

if TYPE_CHECKING:
    import pyarrow as pa

OUTCOMES: tuple[str, ...] = get_args(Outcome)
RECENT = 60.0
"""Seconds over which speed is measured."""
_STALE = 2 * RECENT  # A writer that was silent for so long isn't at it.
_BLOCK = 1 << 25  # Bytes of lines that are held at a time.
_TAIL = 1 << 20  # Bytes that surely hold the last line.
_TRIES = 10
_ERROR = OUTCOMES.index("error")
_CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}


class _Brief(msgspec.Struct, gc=False):
    key: str
    at: str
    outcome: str
    prompt_tokens: int
    cached_tokens: int


@dataclass(frozen=True)
class Tally:
    """The completions that stand, one an entry of each array, sorted by key."""

    keys: NDArray[np.uint64]
    """See `short`."""
    outcome: NDArray[np.uint8]
    """Place in `OUTCOMES`."""
    prompt_tokens: NDArray[np.int64]
    cached_tokens: NDArray[np.int64]
    rate: NDArray[np.float64]
    """Calls per second that an entry stands for: 1 / `RECENT` if its writer, still at it, stored it in the last
    `RECENT` seconds of its own clock (or since it began, if later), else 0. Clocks of hosts are never compared."""
    silent: float
    """Seconds since anything was stored, by this host's clock and the file system's; infinite for an empty store."""

    def among(self, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Where those of the keys lie that are here; keys must be sorted and distinct."""
        if not len(self.keys):
            return np.zeros(0, np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray(places[self.keys[places] == keys], np.intp)


def short(keys: list[str]) -> NDArray[np.uint64]:
    """The first 64 bits of each key, in order: among a million keys, two agree with a chance of 3e-8.

    >>> short(["00000000000000ff" + "0" * 48]).tolist()
    [255]
    """
    return np.frombuffer(bytes.fromhex("".join([key[:16] for key in keys])), ">u8").astype(np.uint64)


def tally(folder: Path, now: float | None = None) -> Tally:
    """Counts what a store holds; reads every file once and writes nothing.

    Args:
        folder: of the store.
        now: seconds since 1970; None asks this host's clock.

    Raises:
        UserError: the folder is no store or cannot be read.
    """
    check(folder)
    if not (folder / NOTE).exists():
        raise UserError(f"there is no completion store in {folder}. Check the path.")
    with explained(f"cannot read the store {folder}", "Check the path and the disk."):
        parts, touched = _read(folder)
    silent = (time.time() if now is None else now) - max(touched, default=-np.inf)
    columns = [np.concatenate([np.zeros(0, t), *(p[i] for p in parts)], dtype=t) for i, t in enumerate(_TYPES)]
    keys, outcome = columns[0], columns[1]
    # Of a key's records an answer stands before an error, the earlier file's before the later one's.
    order = np.lexsort((outcome == _ERROR, keys))
    first = np.ones(len(order), bool)
    first[1:] = keys[order][1:] != keys[order][:-1]
    keys, outcome, prompt, cached, rate = (column[order[first]] for column in columns)
    return Tally(keys, outcome, prompt, cached, rate if silent < _STALE else np.zeros_like(rate), silent)


_TYPES: tuple[Any, ...] = (np.uint64, np.uint8, np.int64, np.int64, np.float64)
_Part = tuple[Any, Any, Any, Any, Any]


def _read(folder: Path) -> tuple[list[_Part], list[float]]:
    """The columns of each file's blocks, and when each file was last written to."""
    for tries in range(_TRIES):
        try:
            present = files(folder)
            touched = [file.path.stat().st_mtime for file in present]
            at_it = [t > max(touched) - _STALE for t in touched]
            return [p for file, busy in zip(present, at_it, strict=True) for p in _parts(file, busy)], touched
        except FileNotFoundError:  # Closed or compacted meanwhile.
            if tries == _TRIES - 1:
                raise
    raise AssertionError


def _parts(file: File, busy: bool) -> Iterator[_Part]:
    return _table(file) if file.kind == "parquet" else _lines(file, busy)


def _lines(file: File, busy: bool) -> Iterator[_Part]:
    decode = msgspec.json.Decoder(_Brief).decode
    since, weight = _pace(file) if busy and file.kind == "open.jsonl" else ("~", 0.0)
    with file.path.open("rb") as shard:
        while lines := shard.readlines(_BLOCK):
            found = list(_sound(lines, decode))
            yield (
                short([r.key for r in found]),
                np.array([_CODES.get(r.outcome, _ERROR) for r in found], np.uint8),
                np.array([r.prompt_tokens for r in found], np.int64),
                np.array([r.cached_tokens for r in found], np.int64),
                np.array([r.at >= since for r in found]) * weight,
            )


def _sound(lines: list[bytes], decode: Any) -> Iterator[_Brief]:
    for line in lines:
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):  # Torn, or no record.
            continue


def _pace(file: File) -> tuple[str, float]:
    """From when on a shard's records are recent, by its writer's clock, and what each adds to the calls per second."""
    decode = msgspec.json.Decoder(_Brief).decode
    with file.path.open("rb") as shard:
        first = list(_sound([shard.readline()], decode))
        shard.seek(max(0, file.path.stat().st_size - _TAIL))
        tail = list(_sound(shard.readlines(), decode))
    if not first or not tail:
        return "~", 0.0  # After every time.
    begun, last = (datetime.fromisoformat(r.at) for r in (first[0], tail[-1]))
    seconds = min(RECENT, max(1.0, (last - begun).total_seconds()))
    return (last - timedelta(seconds=RECENT)).isoformat().replace("+00:00", "Z"), 1 / seconds


def _table(file: File) -> Iterator[_Part]:
    for group in parquet.columns(file.path, ["key", "outcome", "prompt_tokens", "cached_tokens"]):
        yield _arrays(group)


def _arrays(table: "pa.Table") -> _Part:
    n = table.num_rows
    outcome = np.array([_CODES.get(o, _ERROR) for o in table.column("outcome").to_pylist()], np.uint8)
    numbers = [np.asarray(table.column(c).to_numpy(), np.int64) for c in ("prompt_tokens", "cached_tokens")]
    return short(table.column("key").to_pylist()), outcome, numbers[0], numbers[1], np.zeros(n)
