"""What a store holds, counted by model, outcome and engine, and whether its files are sound."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judges.records import UserError
from judges.store import parquet, shard
from judges.store.folder import File, check, files
from judges.store.index import Index
from judges.store.tables import standing


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the completions of one model, outcome and engine."""

    model: str
    outcome: str
    engine: str
    completions: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    """Summed over calls, which run side by side: not the time that passed."""


def stats(folder: Path) -> list[Totals]:
    """Totals over the completions that stand, the largest groups first.

    Raises:
        UserError: the folder is no store or cannot be read.
    """
    import pyarrow as pa

    check(folder)
    index = Index(partial(files, folder))
    index.refresh()
    by = ["model", "outcome", "engine"]
    sums = ["prompt_tokens", "cached_tokens", "completion_tokens", "seconds"]
    tables = list(standing(index, by + sums))
    if not tables:
        return []
    groups = pa.concat_tables(tables).group_by(by).aggregate([([], "count_all"), *((name, "sum") for name in sums)])
    names = [*by, "count_all", *(f"{name}_sum" for name in sums)]
    rows = zip(*(groups.column(name).to_pylist() for name in names), strict=True)
    return sorted((Totals(*row) for row in rows), key=lambda totals: -totals.completions)


@dataclass(frozen=True, slots=True)
class Soundness:
    """What reading one file from end to end has shown."""

    file: File
    records: int
    damaged: tuple[int, ...] = ()
    """Numbers, from 1, of the lines that are no records."""
    torn: bool = False
    """The last line has no end: its writer was killed, or is at it."""
    unreadable: str = ""
    """Why the file could not be read at all."""


def verify(folder: Path) -> list[Soundness]:
    """Reads every record of every file.

    Raises:
        UserError: the folder is no store.
    """
    check(folder)
    return [_verify_parquet(file) if file.kind == "parquet" else _verify_shard(file) for file in files(folder)]


def _verify_parquet(file: File) -> Soundness:
    try:
        count = sum(1 for _ in parquet.rows(file.path))
        return Soundness(file, sum(1 for _ in parquet.completions(file.path, range(count))))
    except UserError as e:
        return Soundness(file, 0, unreadable=str(e))


def _verify_shard(file: File) -> Soundness:
    records, damaged, end = 0, [], 0
    for number, (offset, line, record) in enumerate(shard.lines(file.path), start=1):
        end = offset + len(line)
        if record:
            records += 1
        else:
            damaged.append(number)
    return Soundness(file, records, tuple(damaged), torn=file.path.stat().st_size > end)
