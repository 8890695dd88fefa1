"""Time of the metrics of a swapped-reference audit: 13 judges x 4 data sets x 2 swaps x 1,000 items x 4 triplets."""

import resource
import time

import numpy as np
import pandas as pd

from analysis.swapref import swapref

TARGET_SECONDS = 15


def verdicts(rng: np.random.Generator) -> pd.DataFrame:
    """416,000 grades, 10 % of them wrong and 2 % unreadable."""
    levels = {"judge": 13, "dataset": 4, "swap": 2, "item": 1000, "reference": 2, "candidate": 2}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    same = table["reference"] == table["candidate"]
    said = same ^ (rng.random(len(table)) < 0.1)
    readable = rng.random(len(table)) > 0.02
    names = {c: table[c].astype(str) for c in ("judge", "dataset", "item")}
    sides = {c: table[c].map({0: "original", 1: "swapped"}) for c in ("reference", "candidate")}
    return table.assign(
        **names,
        **sides,
        study="swapref",
        method="pointwise",
        format="standard",
        order="AB",
        winner=None,
        swap=table["swap"].map({0: "type_preserving", 1: "type_changing"}),
        gold=np.where(same, "CORRECT", "INCORRECT"),
        grade=np.where(readable, np.where(said, "CORRECT", "INCORRECT"), None),
        outcome=np.where(readable, "ok", "unreadable"),
    )


def main() -> None:
    """Prints what was measured beside its target."""
    table = verdicts(np.random.default_rng(0))
    start, cpu = time.perf_counter(), time.process_time()
    metrics = swapref(table, rng=np.random.default_rng(0), replicates=10_000)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"swapref metrics, 10,000 replicates, {len(table):,} grades: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time: {cpu:.1f} s (target: none set)")
    print(f"peak memory, {len(metrics):,} numbers: {peak:.2f} GiB (target: none set)")


if __name__ == "__main__":
    main()
