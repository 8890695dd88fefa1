"""Completions by request key, in a folder on any shared file system: no server, no locks, no verdicts.

Each process appends JSON lines to a shard of its own; `python -m judges.store compact` merges what is finished into
one Parquet file. Both have the columns of `record.Record` and are read by others in one line:

    duckdb.sql("from read_json('runs/store/*.jsonl', ignore_errors=true)")
    pandas.read_json(shard, lines=True, dtype=False)
    duckdb.sql("from read_parquet('runs/store/*.parquet')")
    pandas.read_parquet(file)

What the texts mean is not known here.
"""

from judges.store.store import Store

__all__ = ["Store"]
