"""A study from the command to its files, on scripted judges whose results can be told in advance."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from experiments.manifest import caveats

CHECKOUT = Path(__file__).parents[2]
FILES = ["items.csv", "manifest.json", "metrics.csv", "verdicts.parquet"]


def command(root, *overrides):
    return [sys.executable, "-m", "experiments", *overrides, "engine=scripted", f"root={root}"]


def run(root, *overrides):
    done = subprocess.run(command(root, *overrides), capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr
    return done


def metrics(root, study="trust", data="verifiable"):
    table = pd.read_csv(root / study / data / "smollm2" / "metrics.csv")
    overall = table[table["slice"] == "overall"]
    return overall.set_index(["format", "metric"])["value"]


def test_a_judge_that_always_takes_the_first_answer(tmp_path):
    run(tmp_path, "engine.script=first", "data.limit=20", "repeats=3", "bootstrap.replicates=200")
    found = metrics(tmp_path)
    for form in ("direct", "vf_json", "vf_xml", "cot_json", "cot_xml"):
        # Reproducible, always flipped, right in exactly one order of each pair: on the bound, and not to be trusted.
        assert found[form, "C"] == 1
        assert found[form, "phi"] == 1
        assert found[form, "A"] == found[form, "bound"] == 0.5
        assert found[form, "T"] == found[form, "T_joint"] == 0
    assert found["*", "delta_T_fmt"] == 0


def test_judgebench_counts_a_judge_that_always_takes_the_first_answer_as_wrong(tmp_path):
    run(tmp_path, "engine.script=first", "experiment=judgebench", "data.limit=20", "bootstrap.replicates=200")
    found = metrics(tmp_path, "judgebench")
    for form in ("vanilla", "arena_hard"):
        assert found[form, "accuracy"] == 0
        assert found[form, "inconsistent"] == found[form, "first_position"] == 1
        assert found[form, "accuracy_AB"] + found[form, "accuracy_BA"] == 1


def test_a_run_folder_has_everything_and_a_second_run_makes_the_same(tmp_path):
    first = run(tmp_path, "data.limit=10", "repeats=2", "bootstrap.replicates=200")
    assert "asking for 200" in first.stderr
    folder = tmp_path / "trust" / "verifiable" / "smollm2"
    assert sorted(p.name for p in folder.iterdir() if p.is_file()) == FILES
    assert {p.suffix for p in (folder / "tables").iterdir()} == {".csv", ".md", ".tex"}
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json"}
    second = run(tmp_path, "data.limit=10", "repeats=2", "bootstrap.replicates=200")
    assert "no model is loaded" in second.stderr
    assert second.stdout == first.stdout
    assert {p: p.read_bytes() for p in before} == before
    calls = json.loads((folder / "manifest.json").read_text())["calls"]
    assert (calls["total"], calls["asked_now"], calls["from_store"]) == (200, 0, 200)


def test_the_manifest_says_what_was_run(tmp_path):
    run(tmp_path, "data.limit=4", "repeats=1", "bootstrap.replicates=0")
    note = json.loads((tmp_path / "trust/verifiable/smollm2/manifest.json").read_text())
    assert note["settings"]["data"]["limit"] == 4
    assert note["model"]["name"] == "scripted:coin"
    assert note["data"]["items"] == 4
    assert set(note["prompts"]) == {f"pairwise/{form}" for form in note["settings"]["format"]}
    assert note["calls"]["outcomes"] == {"ok": 40}
    assert note["versions"]["numpy"]


@pytest.mark.parametrize(
    ("engines", "asked", "said"),
    [
        ({"vllm 0.32.0 cpu": 10}, 10, []),
        ({"vllm 0.32.0 cpu": 10}, 0, []),
        ({"vllm 0.32.0 cpu": 10}, 4, ["resumed: 6 calls"]),
        ({"vllm 0.33.0 gpu batch-invariant": 10}, 4, []),
        ({"vllm 0.32.0 cpu": 6, "vllm 0.33.0 gpu": 4}, 4, ["more than one engine answered: 6 by", "resumed: 6"]),
        ({"scripted coin": 10}, 4, []),
    ],
)
def test_the_manifest_says_what_a_reader_should_know(engines, asked, said):
    found = caveats({"engines": engines, "total": 10, "asked_now": asked, "from_store": 10 - asked})
    assert len(found) == len(said)
    assert all(one.startswith(start) for one, start in zip(found, said, strict=True))


def test_analysis_gives_the_same_numbers_from_the_table_alone(tmp_path):
    run(tmp_path, "data.limit=10", "repeats=2", "bootstrap.replicates=500")
    folder = tmp_path / "trust" / "verifiable" / "smollm2"
    alone = [sys.executable, "-m", "analysis", "trust", str(folder / "verdicts.parquet"), "--replicates", "500"]
    subprocess.run([*alone, "--out", str(tmp_path / "out")], check=True, capture_output=True, cwd=CHECKOUT)
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == (folder / "metrics.csv").read_bytes()


def test_a_sweep_goes_on_past_a_point_that_fails(tmp_path):
    sweep = command(tmp_path, "-m", "data.limit=4", "repeats=1", "data=judgebench,verifiable", "data.path=/nowhere")
    done = subprocess.run(sweep, capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "/nowhere" in done.stderr
    done = subprocess.run(
        command(tmp_path, "-m", "repeats=1", "data.limit=2", "judge=smollm2,qwen3-4b"),
        capture_output=True,
        cwd=CHECKOUT,
    )
    assert done.returncode == 0
    assert (tmp_path / "trust/verifiable/qwen3-4b/metrics.csv").exists()


@pytest.mark.parametrize("name", ["org/model", "two words", "модель", "../../up", "a\\b:c"])
def test_a_judges_name_makes_one_folder_of_its_own(tmp_path, name):
    run(
        tmp_path / "runs",
        "data.limit=2",
        "repeats=1",
        "format=direct",
        f'model.name="{name}"',
        "bootstrap.replicates=0",
    )
    (folder,) = (tmp_path / "runs/trust/verifiable").iterdir()
    assert pd.read_parquet(folder / "verdicts.parquet")["judge"].unique().tolist() == [name]


def keys_in(root):
    return [
        json.loads(line)["key"] for p in (root / "store").glob("*.jsonl") for line in p.open() if line.endswith("}\n")
    ]


def test_ten_kills_lose_no_call_and_make_none_twice(tmp_path):
    overrides = ["data.limit=60", "repeats=2", "engine.delay=0.003", "bootstrap.replicates=200"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    run(whole, *overrides)
    rng = random.Random(7)
    for _ in range(10):
        process = subprocess.Popen(command(killed, *overrides), cwd=CHECKOUT, stderr=subprocess.DEVNULL)
        before = len(keys_in(killed))
        deadline = time.monotonic() + 30
        while len(keys_in(killed)) < before + 20 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(rng.random() / 10)
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = set(keys_in(killed))
    assert 0 < len(kept) < 1200
    done = run(killed, *overrides)
    assert f"asking for {1200 - len(kept)}" in done.stderr
    keys = keys_in(killed)
    assert len(keys) == len(set(keys)) == 1200
    columns = ["item", "format", "order", "repeat", "winner", "outcome", "requests"]
    one, other = (pd.read_parquet(r / "trust/verifiable/smollm2/verdicts.parquet")[columns] for r in (whole, killed))
    pd.testing.assert_frame_equal(one, other)


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    process = subprocess.Popen(
        command(tmp_path, "data.limit=60", "repeats=5", "engine.delay=0.003"),
        cwd=CHECKOUT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not list((tmp_path / "store").glob("*.jsonl")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    assert len(keys_in(tmp_path)) > 0


def test_a_folder_that_cannot_be_written_is_an_error_for_people(tmp_path):
    (tmp_path / "runs").write_text("a file where the folder should be")
    done = subprocess.run(command(tmp_path / "runs", "data.limit=2"), capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 2
    assert str(tmp_path / "runs") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_from_a_newer_version_is_refused(tmp_path):
    run(tmp_path, "data.limit=2", "repeats=1", "format=direct")
    note = tmp_path / "store" / "store.json"
    written = json.loads(note.read_text())
    key = next(k for k, v in written.items() if isinstance(v, int))
    note.write_text(json.dumps(written | {key: written[key] + 1}))
    done = subprocess.run(command(tmp_path, "data.limit=2"), capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 2
    assert "newer" in done.stderr
    assert os.listdir(tmp_path / "store")
