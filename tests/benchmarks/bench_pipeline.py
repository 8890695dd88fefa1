"""What the harness itself costs: render, key, store, read, tabulate, on a scripted engine that costs nothing."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments.design import cross, tabulate
from experiments.settings import Model, PairwiseSettings
from judges import prompts
from judges.ask import carry_out
from judges.data import load
from judges.engines import ScriptedSettings
from judges.engines.scripted import SCRIPTS, Scripted
from judges.judge import PairwiseJudge
from judges.store import Store

FORMATS = ("direct", "vf_json", "vf_xml", "cot_json", "cot_xml")


def calls_per_second(root: Path) -> float:
    """300 pairs x 5 formats x 2 orders x 10 repeats = 30,000 calls, from items to the table, on one core."""
    model = Model(name="scripted", family="none", weights="none", context=8192)
    settings = PairwiseSettings(
        study="trust", model=model, data={"name": "verifiable", "label": "verifiable"},  # type: ignore[arg-type]
        engine=ScriptedSettings(), format=FORMATS, repeats=10,
    )  # fmt: skip
    judge = PairwiseJudge(model.spec("scripted", ""), {f: prompts.load("pairwise", f) for f in FORMATS})
    items = load("verifiable").items
    began = time.perf_counter()
    trials = cross(items, settings)
    with Store(root / "store") as store:
        answers = carry_out(judge, trials, Scripted(SCRIPTS["coin"]), store)
    tabulate("trust", model, trials, answers)
    return len(trials) / (time.perf_counter() - began)


def main() -> None:
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        rate = max(calls_per_second(Path(folder) / str(i)) for i in range(2))
    print(f"scripted engine, items to table, one core: {rate:,.0f} calls/s (target >= 5,000)")
    os.sched_setaffinity(0, range(os.cpu_count() or 1))

    with tempfile.TemporaryDirectory() as root:
        # 300 pairs x 5 formats x 2 orders x 34 repeats = 102,000 calls.
        command = [sys.executable, "-m", "experiments", "engine=scripted", "repeats=34", f"root={root}"]
        subprocess.run(command, check=True, capture_output=True)
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
    assert "no model is loaded" in done.stderr
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"a resumed complete run of 102,000 calls, all metrics: {seconds:.1f} s, {memory:.2f} GiB (target <= 10 s)")


if __name__ == "__main__":
    main()
