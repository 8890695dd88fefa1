"""Many writers on one store, and how fast it is counted: python tests/benchmarks/bench_shards.py [COMPLETIONS]."""

import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bench_store import completion, fill, key, request

from experiments.plans import short
from judges.store import Store

WRITERS = 8
PACE = 200
"""Completions a second that an engine gives: more than any judge on one GPU."""
SECONDS = 8.0


def paced(folder: Path, number: int, gate: Any, results: Any) -> None:
    """Puts completions as an engine gives them, at a fixed pace; tells how many a second it managed."""
    calls = [(request(number * 10**6 + i), completion(i)) for i in range(int(PACE * SECONDS))]
    assert all(r.key for r, _ in calls)
    with Store(folder) as store:
        gate.wait()
        begun = time.perf_counter()
        for i, (r, c) in enumerate(calls):
            time.sleep(max(0.0, begun + i / PACE - time.perf_counter()))
            store.put(r, c)
        results.put(len(calls) / (time.perf_counter() - begun))


def flat_out(folder: Path, number: int, gate: Any, results: Any) -> None:
    """Puts completions as fast as it can; tells how many a second of its own CPU time."""
    calls = [(request(number * 10**6 + i), completion(i)) for i in range(5_000)]
    assert all(r.key for r, _ in calls)
    with Store(folder) as store:
        gate.wait()
        begun = time.process_time()
        for r, c in calls:
            store.put(r, c)
        results.put(len(calls) / (time.process_time() - begun))


def rates(write: Any, writers: int) -> list[float]:
    """What each of so many writers on one store manages, all beginning together."""
    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(writers), context.Queue()
    with tempfile.TemporaryDirectory() as scratch:
        crew = [context.Process(target=write, args=(Path(scratch), i, gate, results)) for i in range(writers)]
        for process in crew:
            process.start()
        found = [results.get(timeout=300) for _ in crew]
        for process in crew:
            process.join()
    return found


def plan(root: Path, n: int) -> None:
    """Leaves the plans of four judges over the keys of `fill`, a fifth of them not answered yet."""
    import hashlib

    import numpy as np

    for judge in range(4):
        folder = root / "trust" / "verifiable" / f"judge{judge}" / "plan"
        folder.mkdir(parents=True)
        said = json.dumps({"settings": {"judge": judge}, "first": "x"})
        (folder / "plan.json").write_text(said)
        keys = np.unique(short([key(i) for i in range(judge, n + n // 5, 4)]))
        design = hashlib.sha256(said.encode()).hexdigest()[:16]
        keys.astype("<u8").tofile(folder / f"{design}.0.keys")


def status(root: Path) -> tuple[float, float]:
    """Seconds that the command takes, start-up included, and of CPU time."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "experiments.status", f"root={root}"], capture_output=True, check=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(n: int = 1_000_000) -> None:
    cores = os.cpu_count() or 1
    one, all_of_them = rates(paced, 1), rates(paced, WRITERS)
    ratio = sum(all_of_them) / (WRITERS * one[0])
    print(f"{WRITERS} writers on one store, each fed {PACE} completions/s: {sum(all_of_them):,.0f} completions/s, "
          f"{ratio:.3f} of {WRITERS} x one (target >= 0.9)", flush=True)  # fmt: skip
    fast, slow = statistics.median(rates(flat_out, 1)), statistics.median(rates(flat_out, WRITERS))
    print(f"flat out, on {cores} cores: {slow:,.0f} completions per second of CPU time with {WRITERS} writers, "
          f"{fast:,.0f} with one: {slow / fast:.3f} (target >= 0.9)", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        fill(Path(scratch) / "store", n)
        plan(Path(scratch), n)
        seconds = [status(Path(scratch)) for _ in range(3)]
    wall, cpu = (statistics.median(column) for column in zip(*seconds, strict=True))
    print(f"status over {n:,} completions of four judges: {wall:.1f} s (target <= 5 s), {cpu:.1f} s of it CPU time")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
