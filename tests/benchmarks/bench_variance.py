"""How long a whole trust report takes: 240,000 verdicts, 10,000 replicates, every table; and a G-study alone."""

import resource
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.dependability import d_study
from analysis.generalizability import g_study
from analysis.repeats import items
from analysis.studies import STUDIES, Findings, Options, find
from analysis.variance import anova
from analysis.verdicts import CELL

LEVELS = {"judge": 6, "dataset": 4, "format": 5, "item": 100, "order": 2, "repeat": 10}
TARGET_SECONDS, TARGET_GIB = 15, 3
G_STUDY = {"judge": 7, "format": 5, "item": 500, "order": 2}
TARGET_G_STUDY_MS = 50


def verdicts(levels: dict[str, int], rng: np.random.Generator) -> pd.DataFrame:
    """Crossed verdicts; nine in ten for the item's own answer, by an even number A, else B."""
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    gold = np.where(table["item"] % 2, "A", "B")
    named = {c: table[c].astype(str) for c in ("judge", "dataset", "format", "item") if c in table}
    return table.assign(
        **{"dataset": "d", "temperature": 0.0} | named,
        study="trust",
        method="pairwise",
        gold=gold,
        order=np.where(table["order"], "BA", "AB"),
        winner=np.where(rng.random(len(table)) < 0.9, gold, np.where(gold == "A", "B", "A")),
        outcome="ok",
    )


def report(table: pd.DataFrame) -> tuple[Findings, int]:
    """All that the study prints, with the analyses of variance."""
    found = find(STUDIES["trust"], table, Options("drop"))
    more = [anova(found.metrics), g_study(found.items), g_study(found.items, response="correct"), d_study(found.items)]
    return found, len(found.tables) + len(more)


def timed(run: Callable[[], object], times: int = 1) -> float:
    """The shortest of several runs, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Prints what was measured beside its target."""
    rng = np.random.default_rng(0)
    start, cpu = time.perf_counter(), time.process_time()
    found, tables = report(verdicts(LEVELS, rng))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    cells = len(found.metrics[[*CELL]].drop_duplicates()) - found.metrics["metric"].eq("delta_T_fmt").sum()
    print(f"trust report, {cells} cells, {tables} tables: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time: {cpu:.1f} s (target: none set)")
    print(f"peak memory: {peak:.2f} GiB (target <= {TARGET_GIB} GiB)")
    units = items(verdicts(G_STUDY, rng))
    best = 1000 * timed(lambda: g_study(units), 5)
    print(f"G-study, {2 * len(units):,} responses: {best:.0f} ms (target <= {TARGET_G_STUDY_MS} ms)")


if __name__ == "__main__":
    main()
