"""The same calls under several conditions: what is made, what is held against what, and what is left out and why."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from experiments import conditions, serving
from experiments.conditions import CONDITIONS, engine_for, why_not
from experiments.serving_files import tabulate
from judges.ask import Answered
from judges.engines import ScriptedSettings, TransformersSettings, VllmSettings
from judges.records import Completion, Factors, Item, Message, ModelSpec, Request, Sampling, Trial, Verdict
from judges.store import Store

CHECKOUT = Path(__file__).parents[2]
HERE = ["alone", "again", "batch_2", "batch_8", "batch_32", "batch_128", "shuffled", "resumed"]


def run(root, *overrides):
    words = [sys.executable, "-m", "experiments", "experiment=serving", "engine=scripted", f"root={root}"]
    return subprocess.run([*words, "data.limit=4", *overrides], capture_output=True, text=True, cwd=CHECKOUT)


def test_every_condition_makes_every_call_anew_and_a_second_run_makes_none(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "serving/verifiable/smollm2"
    table = pd.read_parquet(folder / "serving.parquet")
    assert table.groupby("condition", sort=False).size().to_dict() == dict.fromkeys(HERE, 16)
    note = json.loads((folder / "manifest.json").read_text())
    assert note["conditions"] == HERE and note["calls"]["total"] == note["calls"]["asked_now"] == 16 * len(HERE)
    assert set(note["skipped"]) == set(CONDITIONS) - set(HERE)
    assert all("only vLLM" in why for why in note["skipped"].values())
    assert "no condition compiled: only vLLM has eager" in done.stderr
    metrics = pd.read_csv(folder / "metrics.csv").set_index(["format", "slice", "metric"])["value"]
    for form in ("direct", "vf_xml"):
        assert metrics[form, "batch_8", "verdict_difference"] == metrics[form, "resumed", "token_difference"] == 0
    for name in HERE:
        assert len(list((folder / "calls" / name).glob("*.jsonl"))) == 1
    again = run(tmp_path)
    assert "batch_8: 16 calls, 0 made now" in again.stderr and again.stdout == done.stdout
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "serving.parquet"), table)


def test_one_condition_brings_what_it_is_held_against(tmp_path):
    done = run(tmp_path, "conditions=batch_2")
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "serving/verifiable/smollm2/serving.parquet")
    assert list(table["condition"].unique()) == ["alone", "batch_2"]


def test_a_dry_run_counts_the_calls_of_every_condition_and_leaves_nothing(tmp_path):
    done = run(tmp_path, "dry_run=true")
    assert done.returncode == 0, done.stderr
    assert f"dry run: {16 * len(HERE)} calls of scripted:coin" in done.stderr
    assert f"under {len(HERE)} conditions; nothing was asked" in done.stderr
    assert not list(tmp_path.rglob("*"))
    assert run(tmp_path, "conditions=batch_2").returncode == 0
    assert f"dry run: {16 * (len(HERE) - 2)} calls of" in run(tmp_path, "dry_run=true").stderr


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("workers=2", "leave out workers= and shard="),
        ("shard=1/2", "leave out workers= and shard="),
        ("temperature=1.0", "serving noise is what greedy calls show"),
        ("repeats=2", "serving noise is what greedy calls show"),
        ("conditions=batch_3", "batch_3"),
    ],
)
def test_a_design_that_cannot_show_serving_noise_is_refused(tmp_path, word, said):
    done = run(tmp_path, word)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


# What there is, and why not -----------------------------------------------------------------------------------------


@pytest.fixture
def gpus(monkeypatch):
    return lambda *found: monkeypatch.setattr(conditions, "_capabilities", lambda: list(found))


@pytest.mark.parametrize(
    ("capabilities", "left_out"),
    [
        ((), {"eager", "invariant_alone", "invariant_batch_32"}),
        ((9.0,), {"compiled"}),
        ((9.0, 7.5), {"compiled", "invariant_alone", "invariant_batch_32"}),
    ],
)
def test_what_a_machine_lacks_is_left_out(gpus, capabilities, left_out):
    gpus(*capabilities)
    assert {name for name, c in CONDITIONS.items() if why_not(c, VllmSettings())} == left_out


def test_the_reason_says_what_is_missing(gpus):
    gpus()
    assert "capability 8" in why_not(CONDITIONS["invariant_alone"], VllmSettings())
    assert "the same as alone" in why_not(CONDITIONS["eager"], VllmSettings())
    assert "the same as alone" in why_not(CONDITIONS["uncached"], VllmSettings(prefix_caching=False))
    assert "engine=transformers" in why_not(CONDITIONS["uncached"], TransformersSettings())
    assert why_not(CONDITIONS["batch_8"], ScriptedSettings()) == ""


def test_conditions_that_differ_in_their_batches_alone_share_an_engine():
    shared = [engine_for(CONDITIONS[name], VllmSettings(max_sequences=4)) for name in HERE]
    assert all(found == shared[0] for found in shared) and shared[0].max_sequences == 128
    assert engine_for(CONDITIONS["compiled"], VllmSettings()).eager is False
    assert engine_for(CONDITIONS["uncached"], VllmSettings()).prefix_caching is False
    assert engine_for(CONDITIONS["batch_32"], TransformersSettings()).batch_size == 128


# Batches ------------------------------------------------------------------------------------------------------------


class Recorder:
    """Notes which requests were handed over together, and when the engine was started anew."""

    def __init__(self):
        self.seen = []

    def generate(self, requests):
        self.seen.append([r.repeat for r in requests])
        yield from ((r, Completion(str(r.repeat))) for r in requests)

    def forget(self):
        pass

    def close(self):
        self.seen.append("closed")


def asked(condition, tmp_path, done=()):
    requests = [Request(ModelSpec("m", "1"), (Message("user", "?"),), Sampling(1), i) for i in range(6)]
    engine = Recorder()
    with Store(tmp_path) as store:
        for i in done:
            store.put(requests[i], Completion("before"))
        made = serving._ask(condition, requests, engine, store, 0)
        texts = [store.read([r.key])[r.key].text for r in requests]
    return engine.seen, made, texts


def test_requests_are_handed_over_batch_by_batch(tmp_path):
    assert asked(CONDITIONS["alone"], tmp_path / "a")[0] == [[0], [1], [2], [3], [4], [5]]
    assert asked(CONDITIONS["batch_2"], tmp_path / "b")[0] == [[0, 1], [2, 3], [4, 5]]
    assert asked(CONDITIONS["resumed"], tmp_path / "c")[0] == [[0, 1, 2], "closed", [3, 4, 5]]
    (shuffled,) = asked(CONDITIONS["shuffled"], tmp_path / "d")[0]
    assert sorted(shuffled) == list(range(6)) != shuffled


def test_a_batch_that_was_broken_off_keeps_its_company_and_what_was_stored_stands(tmp_path):
    seen, made, texts = asked(CONDITIONS["batch_2"], tmp_path, done=(0, 1, 2))
    assert seen == [[2, 3], [4, 5]] and made == 3
    assert texts == ["before", "before", "before", "3", "4", "5"]


# Differences --------------------------------------------------------------------------------------------------------

ITEM = Item("i", "d", "?", ("one", "two"), "A")
TRIALS = [Trial(ITEM, Factors(order=order)) for order in ("AB", "BA")]


def answer(text, winner, p=-0.5):
    outcome = "ok" if winner else "unreadable"
    return Answered(Verdict(outcome, winner), ("k",), (Completion(text, label_logprobs={"A": p, "B": -1.0}),))


def test_differences_are_counted_by_hand():
    answers = {
        "alone": [answer("A because it is", "A"), answer("B", "B")],
        "batch_2": [answer("A since it was so", "A", -0.75), answer("hm", None)],
    }
    settings = SimpleNamespace(study="serving", model=SimpleNamespace(name="m"))
    table = tabulate(TRIALS, answers, "alone", settings, str.split)
    rows = table[table["condition"] == "batch_2"].reset_index(drop=True)
    # because/since, is/was, and a fifth word; B/hm.
    assert rows["tokens"].tolist() == [5, 1] and rows["differing_tokens"].tolist() == [3, 1]
    assert rows["first_difference"].tolist() == [1, 0]
    assert rows["max_logprob_difference"].tolist() == [0.25, 0.0]
    assert table[table["condition"] == "alone"]["first_difference"].tolist() == [-1, -1]


def test_batch_invariant_calls_are_held_against_each_other():
    usual, other = [answer("A", "A"), answer("B", "B")], [answer("A!", "A"), answer("B!", "B")]
    answers = {"alone": usual, "batch_32": usual, "invariant_alone": other, "invariant_batch_32": other}
    settings = SimpleNamespace(study="serving", model=SimpleNamespace(name="m"))
    table = tabulate(TRIALS, answers, "invariant_alone", settings, str.split)
    assert table["condition"].unique().tolist() == ["alone", "invariant_batch_32"]
    assert not table["differing_tokens"].any()
    assert tabulate(TRIALS, answers, "alone", settings, str.split)["condition"].unique().tolist() == [
        "alone",
        "batch_32",
    ]
