"""How long the trust metrics of a whole audit take: 120 cells x 100 pairs x 2 orders x 10 repeats."""

import resource
import time

import numpy as np
import pandas as pd

from analysis.reliability import trust

TARGET_SECONDS = 10


def verdicts(rng: np.random.Generator) -> pd.DataFrame:
    """240,000 verdicts of six judges on four data sets in five formats, 2 % of them unreadable."""
    levels = {"judge": 6, "dataset": 4, "format": 5, "item": 100, "order": 2, "repeat": 10}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    readable = rng.random(len(table)) > 0.02
    names = {c: table[c].astype(str) for c in ("judge", "dataset", "format", "item")}
    return table.assign(
        **names,
        study="trust",
        temperature=0.0,
        gold=np.where(table["item"] % 2, "A", "B"),
        order=np.where(table["order"], "BA", "AB"),
        winner=np.where(readable, rng.choice(["A", "B"], len(table), p=[0.9, 0.1]), None),
        outcome=np.where(readable, "ok", "unreadable"),
    )


def main() -> None:
    """Prints what was measured beside its target."""
    table = verdicts(np.random.default_rng(0))
    start, cpu = time.perf_counter(), time.process_time()
    metrics = trust(table, rng=np.random.default_rng(0), replicates=10_000)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"trust metrics, 10,000 replicates, {len(table):,} verdicts: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time: {cpu:.1f} s (target: none set)")
    print(f"peak memory, {len(metrics):,} numbers: {peak:.2f} GiB (target: none set)")


if __name__ == "__main__":
    main()
