"""Sweeps on a real Slurm of one node: what is requeued, killed or failing there costs no call and hides nothing."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

CHECKOUT = Path(__file__).parents[2]
QUICK = ["engine=scripted", "repeats=2", "bootstrap.replicates=0"]
SLURM = ["-m", "hydra/launcher=slurm", "hydra.launcher.poll_s=0.5", "hydra.launcher.cpus_without_gpu=1"]
COLUMNS = ["item", "format", "order", "repeat", "winner", "outcome", "requests"]


def command(root, *overrides):
    return [sys.executable, "-m", "experiments", *overrides, f"root={root}"]


def run(root, *overrides, code=0, timeout=120):
    done = subprocess.run(command(root, *overrides), capture_output=True, text=True, cwd=CHECKOUT, timeout=timeout)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def keys_in(root):
    with contextlib.suppress(FileNotFoundError):  # A shard that is closed meanwhile has another name.
        return listed_in(root)
    return listed_in(root)


def listed_in(root):
    lines = (line for path in (root / "store").glob("*.jsonl") for line in path.open() if line.endswith("}\n"))
    return [json.loads(line)["key"] for line in lines]


def verdicts(root, study="trust", data="verifiable", judge="smollm2"):
    return pd.read_parquet(root / study / data / judge / "verdicts.parquet")[COLUMNS]


def same(one, other, **where):
    pd.testing.assert_frame_equal(verdicts(one, **where), verdicts(other, **where))


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def slurm(*words):
    """Output of one of its commands."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def cluster(absent):
    if os.geteuid() != 0 or not all(map(shutil.which, ("munged", "slurmctld", "slurmd"))):
        absent("a Slurm to test on needs root and Debian's slurm-wlm and munge")
    folder = Path(tempfile.mkdtemp(prefix="voirdire-slurm-"))  # munge, another user, must be able to reach it
    script = str(CHECKOUT / "slurm" / "test_cluster.sh")
    subprocess.run(["bash", script, "start", str(folder)], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        yield folder
        daemons = [int((folder / f"{name}.pid").read_text()) for name in ("munged", "slurmctld", "slurmd")]
        subprocess.run(["bash", script, "stop", str(folder)], check=True)
    assert not folder.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in daemons)


@pytest.fixture(scope="module")
def short_of_time(cluster, tmp_path_factory):
    """A sweep whose tasks may run for a minute and answer nothing in it; it runs beside the other tests."""
    root = tmp_path_factory.mktemp("short")
    words = [*SLURM, *QUICK, "engine.delay=300", "data.limit=2", "model.resources.hours=0.01"]
    words += ["hydra.launcher.signal_delay_s=1"]
    return root, subprocess.Popen(
        command(root, *words), cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def pairs(tmp_path):
    """Files of two data sets in one folder."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    bench = [
        {"pair_id": f"p{i}", "original_id": f"o{i}", "source": "livebench-math", "question": f"What is {i} + {i}?",
         "response_A": f"It is {2 * i}.", "response_B": f"It is {2 * i + 1}.", "label": "A>B"} for i in range(6)
    ]  # fmt: skip
    (folder / "gpt-00000-of-00001.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bench))
    bar = [{"input": f"Write {i}.", "output_1": f"{i}", "output_2": "no", "label": 1 + i % 2} for i in range(6)]
    (folder / "natural.json").write_text(json.dumps(bar))
    return folder


def test_a_sweep_of_judges_and_data_sets_where_some_points_fail(cluster, short_of_time, pairs, tmp_path):
    design = [*QUICK, f"data.path={pairs}", "judge=smollm2,qwen3-4b"]
    there, here = tmp_path / "there", tmp_path / "here"
    done = run(there, *SLURM, *design, "data=judgebench,llmbar,pandalm", "format=direct", code=2)
    assert "3 tasks, no GPU and 720 min each" in done.stderr  # qwen3-4b's YAML says so
    assert "3 tasks, no GPU and 1440 min each" in done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith((" trust", "  trust"))]
    assert Counter("failed" in row for row in rows) == {False: 4, True: 2}
    assert all("pandalm" in row for row in rows if "failed" in row)
    left = [line.strip() for line in done.stdout.splitlines() if line.startswith("  python -m experiments")]
    assert len(left) == 2
    assert all("data=pandalm" in line and "hydra/launcher=slurm" in line for line in left)
    run(here, "-m", *design, "data=judgebench,llmbar", "format=direct")
    for judge in ("smollm2", "qwen3-4b"):
        for data in ("judgebench", "llmbar"):
            same(there, here, data=data, judge=judge)
    assert len(keys_in(there)) == len(set(keys_in(there))) == len(keys_in(here))


def test_a_dry_run_waits_for_no_node(cluster, tmp_path):
    three_pairs_in_five_formats = "data.limit=3"
    done = run(tmp_path, *SLURM, *QUICK, "judge=smollm2,qwen3-4b", three_pairs_in_five_formats, "dry_run=true")
    assert "Slurm job" not in done.stderr and done.stderr.count("dry run: 60 calls") == 2
    assert done.stdout.count("dry run") == 2 and "to complete" not in done.stdout
    assert not (tmp_path / "store").exists()


def test_shards_that_are_requeued_signalled_and_killed(cluster, tmp_path):
    """One of each: `scontrol requeue`, SIGKILL, the signal before the time is up, SIGTERM of a preemption."""
    design = [*QUICK, "data.limit=20", "engine.delay=0.04"]  # 400 calls, 4 s a shard
    there, here = tmp_path / "there", tmp_path / "here"
    shards = "shard=1/4,2/4,3/4,4/4"
    sweep = subprocess.Popen(
        command(there, *SLURM, *design, shards), cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        until(lambda: len(list((there / "store").glob("*.jsonl"))) == 4 and len(keys_in(there)) > 30)
        job = next(path.name.split("_")[0] for path in sorted((there / "slurm").glob("*_0")))
        slurm("scontrol", "requeue", f"{job}_0")
        slurm("scancel", "--signal=KILL", f"{job}_1")
        slurm("scancel", "--signal=USR1", f"{job}_2")
        slurm("scancel", "--signal=TERM", f"{job}_3")
        interrupted = len(keys_in(there))
        assert interrupted < 300
        out, err = sweep.communicate(timeout=90)
    finally:
        sweep.kill()
    assert sweep.returncode == 2, out + err
    (row,) = [line for line in out.splitlines() if "smollm2" in line and "trust" in line and "python" not in line]
    assert f"failed: task {job}_1 ended without a report" in " ".join(out.split())
    logs = {i: "".join(p.read_text() for p in (there / "slurm").glob(f"*_{i}/*.err")) for i in range(4)}
    assert "SIGUSR1: what was finished is stored; the job is in the queue again" in logs[2]
    assert "SIGTERM: what was finished is stored; the job is in the queue again" in logs[3]
    assert not (there / "trust/verifiable/smollm2/verdicts.parquet").exists()
    stored = len(keys_in(there))
    assert interrupted < stored < 400
    assert f"{stored}/400" in row

    done = run(there, *design)  # As the closing table says, here without Slurm.
    assert f"asking for {400 - stored}" in done.stderr
    run(here, *QUICK, "data.limit=20")
    same(there, here)
    keys = keys_in(there)
    assert len(keys) == len(set(keys)) == 400


@pytest.mark.vllm
def test_a_real_judge_in_two_shards_on_two_gpus(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    design = ["engine=transformers", "model.dtype=float32", "model.max_tokens=8", "model.context=1024", "data.limit=3"]
    design += ["format=direct", "repeats=1", "bootstrap.replicates=0"]
    there, here = tmp_path / "there", tmp_path / "here"
    done = run(there, *SLURM, *design, "shard=1/2,2/2", "hydra.launcher.cpus_per_gpu=1", timeout=300)
    assert "2 tasks, 1 GPU and 1440 min each" in done.stderr
    assert "6/6" in done.stdout
    run(here, *design, timeout=300)
    same(there, here)
    assert len(keys_in(there)) == len(set(keys_in(there))) == 6


def test_a_partition_that_is_none_is_named_with_those_there_are(cluster, tmp_path):
    done = run(tmp_path, *SLURM, *QUICK, "data.limit=2", "hydra.launcher.partition=nope", code=2)
    assert "Invalid partition name specified; there are: main" in " ".join(done.stdout.split())


def test_a_key_of_the_launcher_that_is_none_is_named(cluster, tmp_path):
    done = run(tmp_path, *SLURM, *QUICK, "+hydra.launcher.partitoin=main", code=2)
    assert "partitoin" in done.stderr


def test_points_whose_judges_need_different_things_are_different_arrays(cluster, tmp_path):
    words = [*SLURM, "engine=transformers", "judge=smollm2,llama-3.1-70b", "model.resources.memory_gib=1"]
    words += ["model.resources.gpus=1,2", "+hydra.launcher.additional_parameters.hold=true"]
    sweep = subprocess.Popen(command(tmp_path, *words), cwd=CHECKOUT, stderr=subprocess.PIPE, text=True)
    try:
        said = [sweep.stderr.readline() for _ in range(5)]
    finally:
        sweep.send_signal(signal.SIGINT)
        rest = sweep.communicate(timeout=30)[1]
    jobs = [line.split()[2].rstrip(":") for line in said[:4]]
    found = [slurm("scontrol", "show", "job", "--oneliner", job) for job in jobs]
    slurm("scancel", *jobs)
    needs = ["1 GPU and 1440", "1 GPU and 2880", "2 GPUs and 1440", "2 GPUs and 2880"]
    assert all(f"1 tasks, {need} min each" in line for need, line in zip(needs, said, strict=False)), said
    assert "4 pending (JobHeldUser)" in said[4]
    assert f"to end them: scancel {' '.join(sorted(jobs))}" in rest
    assert all("MinMemoryNode=1G" in one and "Requeue=1" in one for one in found)
    assert ["gres:gpu:2" in one for one in found] == [False, False, True, True]


def test_what_slurm_refuses_does_not_hide_the_rest(cluster, tmp_path):
    words = [*SLURM, *QUICK, "data.limit=2", "model.resources.gpus=0,64"]
    done = run(tmp_path, *words, code=2)
    assert "Slurm refuses the sweep: More processors requested than permitted" in " ".join(done.stdout.split())
    assert (tmp_path / "trust/verifiable/smollm2/metrics.csv").exists()


def test_a_time_limit_shorter_than_the_load_is_said_and_not_tried_again(cluster, short_of_time):
    root, sweep = short_of_time
    out, err = sweep.communicate(timeout=150)
    assert sweep.returncode == 2
    assert "the time limit (00:01:00) has come before the first call was answered" in " ".join(out.split()), out + err
    assert "model.resources.hours" in " ".join(out.split())
    with contextlib.suppress(FileNotFoundError):
        assert keys_in(root) == []


def test_without_slurm_the_launcher_says_so(tmp_path):
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        command(tmp_path, *SLURM, *QUICK), capture_output=True, text=True, cwd=CHECKOUT, env=environment
    )
    assert done.returncode == 2
    assert "there is no Slurm here (no sbatch)" in done.stderr
    assert "Traceback" not in done.stderr
