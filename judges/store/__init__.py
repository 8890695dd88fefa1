"""Completions by request key, in a folder on any shared file system: no server, no locks, no verdicts.

Each process appends JSON lines to a shard of its own, which pandas or DuckDB reads in one line; compacting turns
the shards into one Parquet file. What the texts mean is not known here.
"""

from judges.store.store import Store

__all__ = ["Store"]
