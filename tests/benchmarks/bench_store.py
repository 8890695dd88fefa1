"""How fast the store is with a million completions: python tests/benchmarks/bench_store.py [COMPLETIONS]."""

import hashlib
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from judges.records import Completion, Message, ModelSpec, Request, Sampling
from judges.store import Store
from judges.store.compact import compact
from judges.store.record import encode, record

MODEL = ModelSpec("HuggingFaceTB/SmolLM2-135M-Instruct", "main")
WORDS = (
    "The second answer carries the one in the tens column, so its sum is right; the first forgets it and is not. " * 2
    + "[[B]]"
)


def request(i: int) -> Request:
    return Request(MODEL, (Message("user", f"Question {i}"),), Sampling(32))


def completion(i: int) -> Completion:
    return Completion(
        f"{i}: {WORDS}",
        prompt_tokens=1200,
        cached_tokens=1100,
        completion_tokens=24,
        seconds=0.7,
        label_logprobs={"A": -1.2 - i % 7, "B": -0.4},
        engine="vllm 0.33.0 bfloat16",
    )


def key(i: int) -> str:
    return hashlib.sha256(b"%d" % i).hexdigest()


def fill(folder: Path, n: int) -> int:
    """Shards as eight processes would have left them, their keys those of `key`; returns the bytes of a record."""
    with Store(folder) as store:
        store.put(request(0), completion(0))
    line = encode(record(request(0), completion(0)))
    start = line.index(b'"key":"') + len(b'"key":"')
    for shard in range(8):
        with (folder / f"20260101T00000{shard}000000Z-host-{shard}-00000000.jsonl").open("wb") as file:
            file.writelines(line[:start] + key(i).encode() + line[start + 64 :] for i in range(shard, n, 8))
    return len(line)


def open_and_miss(folder: Path, n: int) -> str:
    keys = [key(i) for i in range(n // 10, n + n // 10)]
    before = _peak()
    start = time.perf_counter()
    missing = Store(folder).missing(keys)
    seconds = time.perf_counter() - start
    assert len(missing) == n // 10
    return f"{seconds:.1f} s, {_peak():.2f} GiB peak, {before:.2f} GiB of it before opening (target 10 s, 2 GiB)"


def read_all(folder: Path, n: int) -> str:
    store = Store(folder)
    keys = [key(i) for i in range(n // 5)]
    start = time.perf_counter()
    assert len(store.read(keys)) == len(keys)
    return f"{len(keys) / (time.perf_counter() - start):,.0f} completions/s (target 30,000)"


def put(folder: Path, n: int) -> str:
    calls = [(request(i), completion(i)) for i in range(n // 10)]
    assert all(r.key for r, _ in calls)  # keys are computed once, before and apart from storing
    with Store(folder) as store:
        start = time.perf_counter()
        for r, c in calls:
            store.put(r, c)
        return f"{len(calls) / (time.perf_counter() - start):,.0f} completions/s on one core (target 20,000)"


def compacting(folder: Path, n: int) -> str:
    start = time.perf_counter()
    assert compact(folder).records == n + 1
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    return f"{time.perf_counter() - start:.1f} s, {_peak():.2f} GiB peak, {size / 2**20:,.0f} MiB (target 60 s, 2 GiB)"


def main(n: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "store"
        print(f"{n:,} completions of {fill(folder, n)} bytes")
        _alone("store, put", put, Path(scratch) / "fresh", n)
        for files in ("JSON lines", "Parquet"):
            _alone(f"store, open and list what is missing among {n:,}, {files}", open_and_miss, folder, n)
            _alone(f"store, read, {files}", read_all, folder, n)
            if files == "JSON lines":
                _alone("store, compact", compacting, folder, n)


def _alone(name: str, measure: Callable[[Path, int], str], folder: Path, n: int) -> None:
    # A process of its own, so that its peak memory is its own.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(f"{name}: {pool.apply(measure, (folder, n))}", flush=True)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
