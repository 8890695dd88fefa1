"""Processes that share one study on one machine: started, watched and started again by one command."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from experiments.settings import PairwiseSettings
from experiments.workers import gpus_each
from judges.records import UserError

CHECKOUT = Path(__file__).parents[2]
DESIGN = ["engine=scripted", "data.limit=6", "repeats=4", "format=direct", "bootstrap.replicates=0"]  # 48 calls
RUN = Path("trust/verifiable/smollm2")


def command(root, *overrides):
    return [sys.executable, "-m", "experiments", *DESIGN, *overrides, f"root={root}"]


def start(root, *overrides, **environment):
    return subprocess.Popen(
        command(root, *overrides), cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip


def workers(parent):
    """Processes of the workers."""
    below = [int(p) for p in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return [p for p in below if b"experiments.workers" in Path(f"/proc/{p}/cmdline").read_bytes()]


def keys_in(root):
    lines = (line for path in (root / "store").glob("*.jsonl") for line in path.open() if line.endswith("}\n"))
    return [json.loads(line)["key"] for line in lines]


def until(condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def writer(path):
    return int(path.name.split("-")[2])


def test_a_worker_that_dies_is_reported_and_its_share_goes_on(tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    process = start(there, "workers=2", "engine.delay=0.2")
    until(lambda: len(workers(process.pid)) == 2)
    victim = workers(process.pid)[1]
    until(lambda: any(writer(p) == victim and p.stat().st_size for p in (there / "store").glob("*.open.jsonl")))
    os.kill(victim, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "worker 2 was killed by signal 9 after" in err
    assert "it is started again" in err
    assert "48/48 calls" in err
    assert "Traceback" not in err
    keys = keys_in(there)
    assert len(keys) == len(set(keys)) == 48
    assert out.count("trust: smollm2 on verifiable") == 1
    subprocess.run(command(here), check=True, cwd=CHECKOUT, capture_output=True)
    one, other = (pd.read_parquet(root / RUN / "verdicts.parquet").drop(columns="seconds") for root in (there, here))
    pd.testing.assert_frame_equal(one, other)


def test_workers_end_with_the_command_that_started_them_and_the_next_one_goes_on(tmp_path):
    process = start(tmp_path, "workers=2", "engine.delay=0.2")
    until(lambda: (tmp_path / "store").exists() and keys_in(tmp_path))
    crew = workers(process.pid)
    process.kill()
    process.communicate()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in crew), 20)
    stored = len(keys_in(tmp_path))
    assert 0 < stored < 48
    done = subprocess.run(command(tmp_path), cwd=CHECKOUT, capture_output=True, text=True)
    assert f"asking for {48 - stored}" in done.stderr


def test_a_worker_that_cannot_work_says_why_and_nothing_is_tabulated(tmp_path):
    process = start(tmp_path, "workers=2", "engine.script=nosuch")
    _, err = process.communicate(timeout=90)
    assert process.returncode == 2
    assert "worker 1: error: engine.script='nosuch' is no script" in err.replace("\n", " ")
    assert "workers/2.log" in err
    assert not (tmp_path / RUN / "verdicts.parquet").exists()


def settings(workers, kind="transformers", **model):
    return PairwiseSettings.model_validate(
        {
            "study": "trust",
            "workers": workers,
            "model": {"name": "m", "family": "f", "weights": "w", "context": 512, **model},
            "data": {"name": "verifiable", "label": "verifiable"},
            "engine": {"kind": kind},
            "format": "direct",
        }
    )


def test_each_worker_gets_gpus_of_its_own():
    assert gpus_each(settings(2), {"CUDA_VISIBLE_DEVICES": "0,1"}) == ["0", "1"]
    assert gpus_each(settings(2, tensor_parallel=2), {"CUDA_VISIBLE_DEVICES": "4,5,6,7,8"}) == ["4,5", "6,7"]
    assert gpus_each(settings(3, kind="scripted"), {"CUDA_VISIBLE_DEVICES": "0"}) == ["", "", ""]


def test_too_few_gpus_are_counted_out():
    with pytest.raises(UserError, match=r"workers=3 need 6 GPUs \(2 each\), and there are 4.*workers=2"):
        gpus_each(settings(3, tensor_parallel=2), {"CUDA_VISIBLE_DEVICES": "0,1,2,3"})


def test_a_worker_sees_its_own_gpus_alone(tmp_path):
    words = ["workers=2", "engine=transformers", "model.path=/nowhere"]
    process = start(tmp_path, *words, CUDA_VISIBLE_DEVICES="6,7")
    process.communicate(timeout=90)
    logs = [(tmp_path / RUN / "workers" / f"{i}.log").read_text() for i in (1, 2)]
    assert [log.splitlines()[0] for log in logs] == [
        "worker 1, shard 1/2, GPUs 6",
        "worker 2, shard 2/2, GPUs 7",
    ]


@pytest.mark.vllm
def test_two_real_engines_answer_one_study(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    words = ["engine=transformers", "model.dtype=float32", "model.max_tokens=8", "model.context=1024", "data.limit=3"]
    process = start(tmp_path, *words, "repeats=1", "workers=2")
    _, err = process.communicate(timeout=400)
    assert process.returncode == 0, err
    table = pd.read_parquet(tmp_path / RUN / "verdicts.parquet")
    assert len(table) == 6
    assert table["engine"].str.startswith("transformers ").all()
    assert len(list((tmp_path / "store").glob("*.jsonl"))) == 2
