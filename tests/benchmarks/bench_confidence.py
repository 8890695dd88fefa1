"""How long the metrics of confidence take for a whole audit: 120 cells x 100 pairs x 2 orders x 10 repeats."""

import os
import time

# The products are small: threads would only wait for each other, the more so on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from analysis.confidence import places
from analysis.correction import prediction_powered, rogan_gladen
from analysis.expected_audit import expected_audit
from analysis.quality import confidence
from analysis.signal_contrast import compared

REPLICATES = 2_000
TARGET_SECONDS = 20
COVERAGE = 0.93


def verdicts(rng: np.random.Generator) -> pd.DataFrame:
    """240,000 verdicts of six judges on four data sets in five formats, with log-probabilities."""
    levels = {"judge": 6, "dataset": 4, "format": 5, "item": 100, "order": 2, "repeat": 10}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    p = 1 / (1 + np.exp(-rng.normal(0, 2, len(table) // 10))).repeat(10)
    readable = rng.random(len(table)) > 0.02
    names = {c: table[c].astype(str) for c in ("judge", "dataset", "item")}
    return table.assign(
        **names,
        format=np.array(["direct", "vf_json", "vf_xml", "cot_json", "cot_xml"])[table["format"]],
        study="confidence",
        temperature=1.0,
        gold=np.where(table["item"] % 2, "A", "B"),
        order=np.where(table["order"], "BA", "AB"),
        winner=np.where(readable, np.where(rng.random(len(table)) < p, "A", "B"), None),
        outcome=np.where(readable, "ok", "unreadable"),
        p_first=p,
        label_mass=0.8,
        confidence=rng.random(len(table)).round(2),
        requests=[f"{i:064x}" for i in range(len(table))],
        prompt_tokens=500,
        completion_tokens=1,
    )


def coverage(labels: int, simulations: int = 500) -> tuple[float, float]:
    """Share of 95 % intervals of Rogan-Gladen and PPI++ that hold the true rate 0.7."""
    rng, hits = np.random.default_rng(labels), []
    for _ in range(simulations):
        truth = (rng.random(5000 + labels) < 0.7).astype(float)
        said = np.where(truth == 1, rng.random(len(truth)) < 0.85, rng.random(len(truth)) > 0.75).astype(float)
        data = said[labels:], said[:labels], truth[:labels]
        hits.append([r.low <= 0.7 <= r.high for r in (rogan_gladen(*data), prediction_powered(*data))])
    one, two = np.mean(hits, axis=0)
    return float(one), float(two)


def main() -> None:
    """Prints what was measured beside its target."""
    table, rng = verdicts(np.random.default_rng(0)), np.random.default_rng(0)
    start, cpu = time.perf_counter(), time.process_time()
    metrics = confidence(table, rng=rng, replicates=REPLICATES)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    shown = f"confidence metrics, {REPLICATES:,} replicates, {len(table):,} verdicts"
    print(f"{shown}: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time, {len(metrics):,} numbers: {cpu:.1f} s (target: none set)")
    start = time.perf_counter()
    differences = compared(places(table), rng=rng, replicates=REPLICATES)
    print(f"{len(differences):,} differences of signals: {time.perf_counter() - start:.1f} s (target: none set)")
    start = time.perf_counter()
    audit = expected_audit(table, rng=rng, replicates=REPLICATES)
    took = time.perf_counter() - start
    saved = audit.loc[audit["metric"] == "calls_saved", "value"].mean()
    print(f"expected beside sampled audit of 24 cells: {took:.1f} s (target: none set)")
    print(f"calls that the expected audit saves: {100 * saved:.0f} % (target: none set)")
    for labels in (50, 200, 1000):
        for name, share in zip(("Rogan-Gladen", "PPI++"), coverage(labels), strict=True):
            print(f"coverage of {name}, {labels} labels: {100 * share:.1f} % (target >= {100 * COVERAGE:.0f} %)")


if __name__ == "__main__":
    main()
