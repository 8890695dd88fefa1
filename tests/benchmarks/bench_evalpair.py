"""How long the analysis of a matrix of judges and generators takes, every table of it, with 10,000 replicates."""

import resource
import time

import numpy as np
import pandas as pd

from analysis.grounded import BEHAVIOURS, ERROR, NO_ERROR
from analysis.studies import STUDIES, Options, find

SIZES = {(300, 3): 3, (3000, 6): 30}
"""Records and models, each of which writes and judges, and the seconds that their analysis may take."""
TARGET_GIB = 2


def verdicts(records: int, models: int, rng: np.random.Generator) -> pd.DataFrame:
    """Verdicts of every model on every model's answers, with all that the study can read; 0.5 % unreadable."""
    levels = {"item": records, "generator": models, "judge": models}
    table = pd.MultiIndex.from_product([range(n) for n in levels.values()], names=list(levels)).to_frame(index=False)
    behaviour = rng.choice(BEHAVIOURS, records * models, p=[0.5, 0.05, 0.02, 0.02, 0.16, 0.25])
    behaviour = behaviour[table["item"] * models + table["generator"]]
    adopted = np.isin(behaviour, BEHAVIOURS[:2])
    flagged = rng.random(len(table)) < np.where(adopted, 0.83, 0.19)
    readable = rng.random(len(table)) >= 0.005
    grade = np.where(flagged, ERROR, NO_ERROR).astype(object)
    names = {c: "m" + table[c].astype(str) for c in levels}
    return table.assign(
        **names,
        study="evalpair",
        dataset="d",
        method="grounded",
        order="AB",
        winner=None,
        gold=np.where(adopted, ERROR, NO_ERROR),
        grade=np.where(readable, grade, None),
        outcome=np.where(readable, "ok", "unreadable"),
        behaviour=behaviour,
        status=np.where(table["item"] % 12, "validated", "diagnostic"),
        perturbation_type=np.where(table["item"] % 3, "entity", "numerical"),
        perturber=np.where(table["item"] % 2, "m0", "m1"),
        modified_passages=table["item"] % 9 + 1,
        cites_modified=flagged,
        claim_has_replacement=flagged,
    )


def main() -> None:
    """Prints what was measured beside its target."""
    for (records, models), target in SIZES.items():
        table = verdicts(records, models, np.random.default_rng(0))
        start, cpu = time.perf_counter(), time.process_time()
        found = find(STUDIES["evalpair"], table, Options("drop"))
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        size = f"{records:,} records x {models} x {models}, {len(found.tables)} tables"
        print(f"evalpair, {size}: {seconds:.1f} s (target <= {target} s)")
        print(f"of it CPU time: {cpu:.1f} s (target: none set)")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory: {peak:.2f} GiB (target <= {TARGET_GIB} GiB)")


if __name__ == "__main__":
    main()
