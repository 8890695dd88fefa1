"""The whole way with the real small judge on real engines, as a user types it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

CHECKOUT = Path(__file__).parents[2]
DESIGN = ["data.limit=4", "format=[direct,vf_xml]", "repeats=2", "model.max_tokens=40", "model.context=1024"]


def command(root, *overrides):
    return [sys.executable, "-m", "experiments", *overrides, f"root={root}"]


def run(root, *overrides):
    done = subprocess.run(command(root, *overrides), capture_output=True, text=True, cwd=CHECKOUT, timeout=900)
    assert done.returncode == 0, done.stderr
    return done


def completions(root):
    lines = (line for shard in (root / "store").glob("*.jsonl") for line in shard.open() if line.endswith("}\n"))
    return {found["key"]: found for found in map(json.loads, lines)}


def children(pid):
    """Process ids below a process, its own included."""
    below = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        below += [p for child in task.read_text().split() for p in children(int(child))]
    return below


@pytest.mark.vllm
def test_a_killed_audit_goes_on_and_leaves_no_process(tmp_path):
    killed = subprocess.Popen(command(tmp_path, *DESIGN), cwd=CHECKOUT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 600
    while not (kept := completions(tmp_path)) and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    processes = children(killed.pid) if killed.poll() is None else []
    killed.send_signal(signal.SIGKILL)
    _, said = killed.communicate()
    assert kept, said
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{p}").exists() for p in processes) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [p for p in processes if Path(f"/proc/{p}").exists()] == []

    kept = completions(tmp_path)
    done = run(tmp_path, *DESIGN)
    assert f"asking for {32 - len(kept)}" in done.stderr
    after = completions(tmp_path)
    assert len(after) == 32
    assert {key: after[key]["text"] for key in kept} == {key: found["text"] for key, found in kept.items()}

    folder = tmp_path / "trust/verifiable/smollm2"
    table = pd.read_parquet(folder / "verdicts.parquet")
    assert len(table) == 32
    assert table["engine"].str.startswith("vllm ").all()
    assert (table["prompt_tokens"] > 100).all()
    assert (table["outcome"] == "ok").mean() > 0.5
    # SmolLM2 takes the answer shown first nearly always: right in about one order of two.
    found = pd.read_csv(folder / "metrics.csv").query("slice == 'overall' and format == 'direct'").set_index("metric")
    assert found.loc["A", "value"] <= found.loc["bound", "value"]
    note = json.loads((folder / "manifest.json").read_text())
    assert note["model"]["revision"]
    assert sum(note["calls"]["outcomes"].values()) == 32

    again = run(tmp_path, *DESIGN)
    assert "no model is loaded" in again.stderr
    assert again.stdout == done.stdout


def test_an_audit_on_torch_alone(tmp_path):
    run(tmp_path, *DESIGN, "engine=transformers", "model.dtype=float32", "repeats=1")
    table = pd.read_parquet(tmp_path / "trust/verifiable/smollm2/verdicts.parquet")
    assert len(table) == 16
    assert table["engine"].str.startswith("transformers ").all()
    assert (table["outcome"] == "ok").mean() > 0.5
