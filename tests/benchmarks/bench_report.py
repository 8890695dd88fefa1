"""How long the report of a whole audit takes: 120 cells, 240,000 verdicts of six judges on four data sets."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from analysis import verdicts

JUDGES, FORMATS = 6, ("direct", "vf_json", "vf_xml", "cot_json", "cot_xml")
PARTS = {"mt_bench": 8, "alpacafarm": 1, "judgebench": 17, "llmbar": 5}
"""Data sets of the study's source, and the parts that each has."""
TARGET_SECONDS, TARGET_GIB, TARGET_MB = 60, 3, 3


def run(root: Path, judge: str, dataset: str, rng: np.random.Generator) -> None:
    """One run folder: 10,000 verdicts in five formats, 2 % of them unreadable, and a manifest."""
    levels = [FORMATS, range(100), ("AB", "BA"), range(10)]
    table = pd.MultiIndex.from_product(levels, names=["format", "item", "order", "repeat"]).to_frame(index=False)
    readable = rng.random(len(table)) > 0.02
    names = {"study": "trust", "judge": judge, "dataset": dataset, "method": "pairwise", "temperature": 0.0}
    keys = [f"{x:064x}" for x in rng.integers(2**63, size=len(table))]
    table = table.assign(
        **names,
        gold=np.where(table["item"] % 2, "A", "B"),
        source=table["item"].mod(PARTS[dataset]).map("part_{}".format),
        item=table["item"].map("item-{}".format),
        winner=np.where(readable, rng.choice(["A", "B"], len(table), p=[0.7, 0.3]), None),
        outcome=np.where(readable, "ok", "unreadable"),
        requests=keys,
    )
    folder = root / "trust" / dataset / judge
    folder.mkdir(parents=True)
    verdicts.write(table, folder / "verdicts.parquet")
    note = {
        "settings": {"model": {"name": judge}, "repeats": 10, "format": FORMATS},
        "data": {"dataset": dataset, "items": 100},
        "calls": {
            "total": len(table),
            "asked_now": len(table),
            "from_store": 0,
            "outcomes": {"ok": len(table)},
            "engines": {"vllm 0.33.0 gpu": len(table)},
        },
    }
    (folder / "manifest.json").write_text(json.dumps(note))


def main() -> None:
    """Prints what was measured beside its target."""
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as name:
        root = Path(name)
        for judge in range(JUDGES):
            for dataset in PARTS:
                run(root, f"judge-{judge}", dataset, rng)
        started = time.perf_counter()
        command = [sys.executable, "-m", "experiments.report", "experiment=trust", f"root={root}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        page = (root / "trust" / "report" / "index.html").stat().st_size / 1e6
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"report of 120 cells, 240,000 verdicts, 10,000 replicates: {seconds:.1f} s (target <= {TARGET_SECONDS} s)")
    print(f"of it CPU time: {used.ru_utime + used.ru_stime:.1f} s (target: none set)")
    print(f"peak memory: {used.ru_maxrss / 2**20:.2f} GiB (target <= {TARGET_GIB} GiB)")
    print(f"page: {page:.2f} MB (target <= {TARGET_MB} MB)")


if __name__ == "__main__":
    main()
