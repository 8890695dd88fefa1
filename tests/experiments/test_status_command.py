"""What can be told of a study from its run folder and the store alone."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from experiments import status
from experiments.plans import plans
from judges.records import Completion, Message, ModelSpec, Request, Sampling, UserError
from judges.store import Store
from judges.store.compact import compact
from judges.store.tally import RECENT, short, tally

CHECKOUT = Path(__file__).parents[2]
DESIGN = [
    "engine=scripted",
    "data.limit=4",
    "repeats=2",
    "format=[direct,vf_xml]",
    "bootstrap.replicates=100",
]  # 32 calls
RUN = Path("trust/verifiable/smollm2")


def run(root, *overrides, code=0):
    command = [sys.executable, "-m", "experiments", *DESIGN, *overrides, f"root={root}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == code, done.stderr
    return done


def said(capsys, *words):
    code = status.main(list(words))
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), " ".join(err.split())


def files(root):
    return {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_two_shards_and_what_is_said_in_between(tmp_path, capsys):
    first = run(tmp_path, "shard=1/2")
    assert "shard 1/2 is stored" in first.stderr
    assert not (tmp_path / RUN / "verdicts.parquet").exists()
    before = files(tmp_path)
    (row,) = status.overview(tmp_path)[0]
    assert (row.plan.study, row.plan.data, row.plan.judge, row.total) == ("trust", "verifiable", "smollm2", 32)
    assert 0 < row.done < 32
    code, out, err = said(capsys, f"root={tmp_path}", "metrics=true")
    assert code == 0
    assert f"{row.done}/32" in out
    assert f"partial, {row.done} of 32 rows: trust: smollm2 on verifiable" in out
    assert "the last call was stored" in err
    assert files(tmp_path) == before  # Looking changes nothing.
    run(tmp_path, "shard=2/2")
    code, out, _ = said(capsys, f"root={tmp_path}", "metrics=true")
    assert "32/32 100%" in out
    assert "written" in out
    assert "partial" not in out
    assert len(list(plans(tmp_path))) == 1
    assert len(list((tmp_path / RUN / "plan").glob("*.keys"))) == 1  # Both shards leave the same one.


def test_reading_alone_writes_the_tables_once_all_is_stored(tmp_path):
    run(tmp_path, "shard=1/2")
    assert "calls of other shards are not" in run(tmp_path, "shard=0/2").stderr
    run(tmp_path, "shard=2/2")
    (tmp_path / RUN / "verdicts.parquet").unlink()
    run(tmp_path, "shard=0/1", "engine.delay=1000")
    assert (tmp_path / RUN / "verdicts.parquet").exists()


def test_another_design_in_the_same_folder_replaces_the_plan(tmp_path):
    run(tmp_path)
    run(tmp_path, "repeats=1", "shard=1/4")
    (row,) = status.overview(tmp_path)[0]
    assert (row.total, row.done) == (16, 16)  # All of them were asked by the larger one.
    assert not row.plan.tabulated or row.done == row.total


def test_a_shard_that_is_none_is_refused(tmp_path):
    done = run(tmp_path, "shard=5/4", code=2)
    assert "from 1 to N" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["root=/nowhere/at/all"], "there is no folder /nowhere/at/all"),
        (["rood=x"], "did you mean 'root'?"),
        (["metrics=yes"], "metrics=yes: give true or false"),
        (["nonsense"], "settings are KEY=VALUE"),
    ],
)
def test_what_status_cannot_read_is_said(words, why, capsys):
    code, _, err = said(capsys, *words)
    assert code == 2
    assert why in err


def test_a_root_without_a_store_or_a_plan_is_said(tmp_path, capsys):
    code, _, err = said(capsys, f"root={tmp_path}")
    assert (code, "there is no completion store" in err) == (2, True)
    with Store(tmp_path / "store") as store:
        store.put(request(0), Completion("A"))
    code, _, err = said(capsys, f"root={tmp_path}")
    assert (code, "has left a plan" in err) == (2, True)


def test_a_plan_that_is_half_written_is_passed_over(tmp_path, capsys):
    run(tmp_path)
    (tmp_path / RUN / "plan" / "plan.json").write_text('{"settings": {')
    code, _, err = said(capsys, f"root={tmp_path}")
    assert (code, "has left a plan" in err) == (2, True)


def request(i):
    return Request(ModelSpec("m", "r"), (Message("user", f"{i}"),), Sampling(16))


def test_the_tally_counts_what_stands(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        for i in range(10):
            one.put(request(i), Completion("A", prompt_tokens=10, cached_tokens=i))
        for i in range(5, 12):
            other.put(request(i), Completion("", outcome="error") if i < 11 else Completion("B", outcome="truncated"))
        one.put(request(20), Completion("", outcome="error"))
        one.put(request(20), Completion("C"))
    with next(tmp_path.glob("*.jsonl")).open("a") as shard:
        shard.write('{"key": "torn')
    for _ in range(2):
        found = tally(tmp_path)
        keys = short(sorted(request(i).key for i in (*range(12), 20)))
        assert found.keys.tolist() == keys.tolist()
        names = [status.OUTCOMES[code] for code in found.outcome]
        assert {name: names.count(name) for name in set(names)} == {"ok": 11, "error": 1, "truncated": 1}
        assert int(found.cached_tokens.sum()) == 45
        assert found.among(short([request(3).key])).size == 1
        assert found.among(short([request(99).key])).size == 0
        compact(tmp_path)


def test_hosts_whose_clocks_differ_are_each_measured_by_their_own(tmp_path):
    """Two writers, an hour apart by their clocks, each with two calls a second in the last minute."""
    with Store(tmp_path) as store:
        store.put(request(0), Completion("A"))
    line = json.loads(next(tmp_path.glob("*.jsonl")).read_text())
    next(tmp_path.glob("*.jsonl")).unlink()
    for host, begin in (("fast", datetime(2031, 1, 1, 13, tzinfo=UTC)), ("slow", datetime(2031, 1, 1, 12, tzinfo=UTC))):
        with (tmp_path / f"20310101T000000000000Z-{host}-7-00000000.open.jsonl").open("w") as shard:
            for i in range(600):
                at = (begin + timedelta(seconds=i / 2)).isoformat().replace("+00:00", "Z")
                shard.write(json.dumps({**line, "key": f"{host == 'fast':d}{i:015d}" + "0" * 48, "at": at}) + "\n")
    found = tally(tmp_path)
    assert found.rate.sum() == pytest.approx(4, rel=0.05)
    assert found.silent < RECENT
    later = tally(tmp_path, now=datetime.now(UTC).timestamp() + 3600)
    assert later.rate.sum() == 0
    assert later.silent == pytest.approx(3600, abs=60)


def test_a_folder_that_cannot_be_written_ends_with_its_name(tmp_path):
    run(tmp_path, "shard=1/2")
    plan = tmp_path / RUN / "plan"
    for path in plan.iterdir():
        path.unlink()
    plan.rmdir()
    plan.write_text("in the way")
    done = run(tmp_path, code=2)
    assert str(plan) in done.stderr
    assert "Traceback" not in done.stderr


def test_keys_keep_their_first_bits():
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, 2**63, 10_000, dtype=np.uint64))
    texts = [f"{key:016x}" + "0" * 48 for key in keys.tolist()]
    assert (short(texts) == keys).all()


def test_a_vanished_root_is_an_error_for_people(tmp_path):
    root = tmp_path / "gone"
    root.mkdir()
    os.rmdir(root)
    with pytest.raises(UserError, match="there is no folder"):
        status.say(root)
