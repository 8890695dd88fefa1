"""The records that stand, as Arrow tables: what compacting writes and counting counts."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from judges.store import parquet, shard
from judges.store.index import Index

if TYPE_CHECKING:
    import pyarrow as pa


def standing(index: Index, columns: Sequence[str]) -> "Iterator[pa.Table]":
    """The named columns of all records that stand, file by file, oldest first, in tables of a few thousand rows."""
    for file, positions in index.standing():
        if file.kind == "parquet":
            yield from parquet.tables(file.path, positions, columns)
            continue
        records = (record for record in shard.records(file.path, positions) if record)
        while batch := list(islice(records, parquet.ROWS)):
            yield parquet.table(batch, columns)


def row_groups(tables: "Iterator[pa.Table]") -> "Iterator[pa.Table]":
    """The same rows in tables of at least `parquet.ROWS` rows, the last one excepted."""
    import pyarrow as pa

    pending: list[pa.Table] = []
    for table in tables:
        pending.append(table)
        if sum(part.num_rows for part in pending) >= parquet.ROWS:
            yield pa.concat_tables(pending)
            pending = []
    if pending:
        yield pa.concat_tables(pending)
