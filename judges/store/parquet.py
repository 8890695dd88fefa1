"""The compacted file: one Parquet row a completion, in the columns of `Record`."""

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from judges.records import Completion, UserError
from judges.store.record import Record, numbers

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile, ParquetWriter

ROWS = 8192
"""Fewest rows of a row group, the smallest part that is read at once; the last group has what is left."""

_FEW_VALUES = ["model", "outcome", "finish", "engine", "note"]
_COMPLETION = [field.name for field in fields(Completion)]


@cache
def schema() -> "pa.Schema":
    """Column names and types, those of `Record` in its order."""
    import pyarrow as pa

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    special = {
        "at": pa.timestamp("us", tz="UTC"),
        "outcome": pa.string(),
        "label_logprobs": pa.map_(pa.string(), pa.float64()),
        "score": pa.float64(),
        "label_rest": pa.float64(),
    }
    return pa.schema([(f.name, special.get(f.name) or types[f.type]) for f in msgspec.structs.fields(Record)])


def rows(path: Path) -> Iterator[tuple[str, bool, float]]:
    """Key, whether it is an error, and POSIX time of each row."""
    with _opened(path) as file:
        for batch in file.iter_batches(ROWS, columns=["key", "outcome", "at"], use_threads=False):
            outcomes = batch.column("outcome").to_pylist()
            times = batch.column("at").cast("int64").to_numpy() / 1_000_000
            errors = [outcome == "error" for outcome in outcomes]
            yield from zip(batch.column("key").to_pylist(), errors, times.tolist(), strict=True)


def completions(path: Path, rows: Sequence[int]) -> Iterator[tuple[str, Completion]]:
    """Key and completion on each of the rows, which must ascend."""
    logprobs = _COMPLETION.index("label_logprobs")
    for table in tables(path, rows, ["key", *_COMPLETION]):
        keys, *columns = (column.to_pylist() for column in table.columns)
        columns[logprobs] = [pairs if pairs is None else dict(pairs) for pairs in columns[logprobs]]
        yield from zip(keys, map(Completion, *columns), strict=True)


def tables(path: Path, rows: Sequence[int], columns: Sequence[str]) -> "Iterator[pa.Table]":
    """The rows, which must ascend, as one table for each row group that holds some of them."""
    # On one thread, here and above: Arrow's pools now and then abort a process that ends soon after a read
    # (apache/arrow#34314).
    with _opened(path) as file:
        lengths = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        ends = np.cumsum(lengths)
        wanted = np.asarray(rows, dtype=np.int64)
        group = np.searchsorted(ends, wanted, side="right")
        for g in np.unique(group):
            table = _all_columns(file.read_row_group(int(g), columns=list(columns), use_threads=False), columns)
            here = wanted[group == g] - (ends[g] - lengths[g])
            yield table if len(here) == table.num_rows else table.take(here)


def columns(path: Path, names: Sequence[str]) -> "Iterator[pa.Table]":
    """The named columns of all rows, a row group at a time."""
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            yield _all_columns(file.read_row_group(group, columns=list(names), use_threads=False), names)


def table(records: Iterable[Record], columns: Sequence[str]) -> "pa.Table":
    """The records as a table of the named columns."""
    import pyarrow as pa

    records = list(records)
    data = {name: [getattr(record, name) for record in records] for name in columns}
    if "score" in data:
        data["score"] = [None if score is None else float(score) for score in data["score"]]
    if "label_logprobs" in data:
        logprobs = map(numbers, data["label_logprobs"])
        data["label_logprobs"] = [None if pairs is None else list(pairs.items()) for pairs in logprobs]
    return pa.table(data, schema=pa.schema([schema().field(name) for name in columns]))


def _all_columns(found: "pa.Table", columns: Sequence[str]) -> "pa.Table":
    """The named columns in that order; one that the file was written without is empty."""
    import pyarrow as pa

    for name in columns:
        if name not in found.column_names:
            found = found.append_column(schema().field(name), pa.nulls(found.num_rows, schema().field(name).type))
    return found.select(list(columns))


@contextmanager
def writer(path: Path) -> "Iterator[ParquetWriter]":
    """Writes a file in the columns of `schema`; at the end it is on the disk itself."""
    from pyarrow.parquet import ParquetWriter

    options = {"compression": "zstd", "use_dictionary": _FEW_VALUES, "write_page_checksum": True}
    with path.open("wb") as sink:
        with ParquetWriter(sink, schema(), **options) as file:
            yield file
        sink.flush()
        os.fsync(sink.fileno())


@contextmanager
def _opened(path: Path) -> "Iterator[ParquetFile]":
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (OSError, pa.ArrowException) as e:
        if isinstance(e, OSError) and e.errno in (errno.ENOENT, errno.ESTALE):
            raise
        raise UserError(
            f"{path} cannot be read: {e}. Restore it from a copy, or move it out of the folder: "
            "what it held is then asked again."
        ) from e
