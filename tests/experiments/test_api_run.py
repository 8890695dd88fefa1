"""A study on a judge behind an API, as a user types it, against a server on loopback."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import chat, endpoint, refuses
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import ValidationError

from experiments.__main__ import run
from experiments.configuration import conf_folder
from experiments.status import overview
from judges.records import UserError

CHECKOUT = Path(__file__).parents[2]
KEY = "sk-planted-0123456789abcdef"
DESIGN = ["judge=openai_compatible", "model.name=m", "format=direct", "data.limit=20", "bootstrap.replicates=100"]


def overridden(server, root, *overrides):
    address = [f"api.base_url={server.url}", f"root={root}", "api.backoff_s=0.01", "api.attempts=3"]
    return [*DESIGN, *address, *overrides]


def audit(server, root, *overrides):
    """The study in this process."""
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        config = compose("config", [*overridden(server, root, *overrides), "+data.label=verifiable"])
    run(OmegaConf.to_container(config, resolve=True))


def command(server, root, *overrides):
    return [sys.executable, "-m", "experiments", *overridden(server, root, *overrides)]


def typed(server, root, *overrides, returns=0, **environment):
    """The study as a command."""
    sweep, overrides = (["-m"], overrides[1:]) if overrides[0] == "-m" else ([], overrides)
    words = command(server, root, *overrides)
    words[3:3] = sweep
    done = subprocess.run(words, capture_output=True, text=True, cwd=CHECKOUT, env=os.environ | environment)
    assert done.returncode == returns, done.stderr
    assert "Traceback" not in done.stderr
    return done


def stored(root):
    lines = (line for shard in (root / "store").glob("*.jsonl") for line in shard.open() if line.endswith("}\n"))
    return list(map(json.loads, lines))


def first(call):
    return chat("A", model=call.body["model"], usage=(100, 40, 1))


def test_an_audit_with_its_cost_and_again_without_a_call(tmp_path, capsys):
    price = "model.price={input: 2.0, cached: 0.5, output: 8.0, as_of: '2025-06-03'}"
    with endpoint(first) as server:
        audit(server, tmp_path, price, "repeats=2")
        assert "asking for 80" in capsys.readouterr().err and len(server.calls) == 80
        folder = tmp_path / "trust/verifiable/m"
        note = json.loads((folder / "manifest.json").read_text())
        # 80 calls of 60 new and 40 cached prompt tokens and one written: 80 * (120 + 20 + 8) millionths.
        assert note["cost"]["usd"] == pytest.approx(80 * 148e-6)
        assert note["calls"]["engines"] == {f"api {server.url[7:-3]} m": 80}
        assert note["model"]["name"] == "m"
        metrics = pd.read_csv(folder / "metrics.csv").query("slice == 'overall'").set_index("metric")["value"]
        assert (metrics["C"], metrics["phi"], metrics["A"]) == (1, 1, 0.5)
    with endpoint(first) as other:  # Another address and another pace are no other judge.
        audit(other, tmp_path, price, "repeats=2", "api.timeout_s=5", "api.max_concurrency=3")
        assert "no model is loaded" in capsys.readouterr().err and other.calls == []


def test_a_dry_run_asks_nothing_and_needs_no_key(tmp_path):
    with endpoint(first) as server:
        price = "model.price={input: 1000, output: 1000, as_of: '2025-06-03'}"
        said = typed(server, tmp_path, "dry_run=true", price, "model.key_env=NO_SUCH_KEY").stderr
        assert server.calls == []
    assert "dry run: 400 calls of m, about " in said and "at the prices of 2025-06-03; nothing was asked" in said
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_dry_run_leaves_the_plan_of_a_study_as_it_is(tmp_path):
    with endpoint(first) as server:
        audit(server, tmp_path, "repeats=1")
        typed(server, tmp_path, "repeats=9", "dry_run=true")
    [row], _ = overview(tmp_path)
    assert (row.done, row.total, row.plan.tabulated) == (40, 40, True)


def test_a_sweep_says_of_a_dry_run_that_it_was_one(tmp_path):
    with endpoint(first) as server:
        done = typed(server, tmp_path, "-m", "dry_run=true", "model.name=m,n")
        assert server.calls == []
    table = done.stdout[done.stdout.index("what became of the sweep") :]
    assert table.count("dry run") == 2 and "done" not in table


def test_errors_are_asked_again_and_verdicts_are_not(tmp_path, capsys):
    texts, broken = [], []

    def answer(call):
        texts.append(call.asked)
        if not broken and len(set(texts)) % 5 == 0:
            return {"choices": []}
        return first(call)

    with endpoint(answer) as server:
        audit(server, tmp_path, "repeats=1")
        failed = sum(c["outcome"] == "error" for c in stored(tmp_path))
        assert 0 < failed < 40 == len(server.calls)
        broken.append("no more")
        audit(server, tmp_path, "repeats=1")
        assert f"asking for {failed}" in capsys.readouterr().err
        assert len(server.calls) == 40 + failed


def test_a_budget_stops_and_a_second_run_goes_on(tmp_path, capsys):
    with endpoint(first) as server:
        with pytest.raises(UserError, match=r"budget\.calls=25 is used up.* 15 are left"):
            audit(server, tmp_path, "repeats=1", "budget.calls=25")
        assert len(stored(tmp_path)) == len(server.calls) == 25
        audit(server, tmp_path, "repeats=1", "budget.calls=25")
        assert "asking for 15" in capsys.readouterr().err and len(server.calls) == 40
        with pytest.raises(UserError, match="needs a price, and m has none"):
            audit(server, tmp_path, "repeats=2", "budget.usd=1")
        assert len(server.calls) == 40


def test_a_judge_that_stops_does_not_stop_the_others(tmp_path):
    def answer(call):
        model = call.body["model"]
        return refuses("Payment required", status=402) if model == "poor" else first(call)

    with endpoint(answer) as server:
        said = typed(server, tmp_path, "-m", "repeats=1", "model.name=poor,m", returns=2).stderr
    assert "out of credit" in said
    assert (tmp_path / "trust/verifiable/m/metrics.csv").exists()
    assert not (tmp_path / "trust/verifiable/poor/metrics.csv").exists()


def test_a_key_stays_where_it_belongs(tmp_path):
    """It is echoed in answers, in errors that are tried again, and in the error that ends the run."""

    def answer(call):
        assert call.headers["authorization"] == f"Bearer {KEY}"
        if call.number % 7 == 3:
            return 500, f"<html>key {KEY} in {call.headers}</html>".encode()
        if call.number % 7 == 5:
            return refuses(f"Bad call with {KEY}")
        if call.number > 300:
            return refuses(f"Incorrect API key provided: {KEY}", status=401)
        return chat(f"A, says {KEY}", model="m", reasoning_content=f"thinking of {KEY}")

    keyed = ["model.key_env=TEST_KEY", "api.attempts=1"]
    with endpoint(answer) as server:
        done = typed(server, tmp_path, *keyed, "repeats=5", TEST_KEY=KEY)
        ended = typed(server, tmp_path, *keyed, "repeats=10", returns=2, TEST_KEY=KEY)
    assert "rejects the key in TEST_KEY" in ended.stderr
    assert KEY not in done.stdout + done.stderr + ended.stdout + ended.stderr
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) > 5 and not [p for p in files if KEY.encode() in p.read_bytes()]
    assert any("$TEST_KEY" in c["text"] for c in stored(tmp_path))
    assert any("$TEST_KEY" in c["note"] for c in stored(tmp_path))


@pytest.mark.parametrize("sweep", [[], ["-m"]])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        (f"model.key_env={KEY}", "the name of an environment variable"),
        (f"api.base_url=http://me:{KEY}@127.0.0.1:9/v1", "carries a name, a password or a query"),
        (f"model.base_url='http://127.0.0.1:9/v1?key={KEY}'", "carries a name, a password or a query"),
    ],
)
def test_a_key_in_the_wrong_setting_is_refused_before_anything_is_written(tmp_path, word, said, sweep):
    with endpoint(first) as server:
        done = typed(server, tmp_path, *sweep, word, returns=2)
        assert server.calls == []
    assert said in done.stderr and KEY not in done.stdout + done.stderr
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_kill_loses_no_call_and_makes_none_twice_but_those_in_flight(tmp_path, capsys):
    async def slowly(call):
        await asyncio.sleep(0.1)
        return first(call)

    total = 400
    with endpoint(slowly) as server:
        options = ["repeats=10", "api.max_concurrency=8"]
        killed = subprocess.Popen(command(server, tmp_path, *options), cwd=CHECKOUT, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(server.calls) < 100 and killed.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        time.sleep(0.2)
        made, kept = len(server.calls), len(stored(tmp_path))
        assert 50 <= kept < total and 0 <= made - kept <= 8
        audit(server, tmp_path, *options)
        assert f"asking for {total - kept}" in capsys.readouterr().err
        assert len(server.calls) == made + total - kept
    keys = [c["key"] for c in stored(tmp_path)]
    assert len(keys) == len(set(keys)) == total


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["judge=gpt-5", "temperature=[0,1]"], "m takes no temperature"),
        (["workers=2", "budget.calls=3"], "each of several workers would spend it"),
        (["budget.usd=-1"], "greater than or equal to 0"),
        (["model.dialect=bedrock"], "'openai', 'compatible', 'vllm' or 'anthropic'"),
        (["api.timeout_s=0"], "timeout_s must be above 0"),
        (["experiment=swapref", "data=verifiable_qa", "workers=2", "budget.usd=3"], "each of several workers"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, overrides, said):
    with endpoint(first) as server:
        with pytest.raises((ValidationError, UserError), match=said):
            audit(server, tmp_path, *overrides)
        assert server.calls == []


def test_the_manifest_says_where_no_temperature_was_sent(tmp_path):
    with endpoint(first) as server:
        audit(server, tmp_path, "repeats=1", "model.temperature=fixed")
        assert not any("temperature" in call.body for call in server.calls)
    note = json.loads((tmp_path / "trust/verifiable/m/manifest.json").read_text())
    assert any(caveat.startswith("40 calls went out without a temperature") for caveat in note["caveats"])
