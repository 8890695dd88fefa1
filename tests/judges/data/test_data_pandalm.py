import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from judges.data import load, pandalm
from judges.data.votes import DIVIDED, TIED
from judges.records import UserError

REAL = Path(__file__).resolve().parents[4] / "shared/data/pandalm"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/pandalm is absent")


def record(idx=0, labels=(1, 1, 2), **changed):
    labelled = {f"annotator{i}": label for i, label in enumerate(labels, 1)}
    return {
        "idx": idx,
        "motivation_app": "Gmail",
        "cmp_key": "opt-7b_bloom-7b",
        "instruction": "Say no.",
        "input": "",
        "response1": "no",
        "response2": "yes",
        **labelled,
        **changed,
    }


def save(folder, *records, name="testset-v1.json"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(records).encode()
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return file


def test_fields_gold_and_input(tmp_path):
    save(tmp_path, record(7), record(12, (2, 2, 0), input="To Ann.", response2="never"))
    first, second = load("pandalm", tmp_path).items
    assert (first.id, first.dataset, first.answers, first.gold) == ("pandalm-007", "pandalm", ("no", "yes"), "A")
    assert (first.question, first.source) == ("Say no.", "Gmail")
    assert (second.question, second.answers, second.gold) == ("Say no.\n\nTo Ann.", ("no", "never"), "B")


def test_pairs_without_a_better_answer_are_left_out_and_counted(tmp_path):
    save(tmp_path, record(0), record(1, (0, 0, 1)), record(2, (0, 1, 2)), record(3, (0, 0, 0)))
    loaded = load("pandalm", tmp_path)
    assert [item.id for item in loaded.items] == ["pandalm-000"]
    assert loaded.provenance["dropped"] == {TIED: ["pandalm-001", "pandalm-003"], DIVIDED: ["pandalm-002"]}
    assert loaded.warnings[0] == f"pandalm: 2 item(s) left out, {TIED}: pandalm-001, pandalm-003."


def test_nothing_but_ties_says_so(tmp_path):
    save(tmp_path, record(0, (0, 0, 0)), record(1, (0, 1, 2)))
    with pytest.raises(UserError, match=f"no items left of 2 read; 1 had {TIED}; 1 had {DIVIDED}"):
        load("pandalm", tmp_path)


def test_pairs_on_one_task_share_a_group(tmp_path):
    save(tmp_path, record(0), record(1, response1="nope"), record(2, input="x"))
    assert [item.group for item in load("pandalm", tmp_path).items] == ["pandalm-000", "pandalm-000", "pandalm-002"]


def test_an_answer_stored_as_a_truth_value_is_read_as_the_word_and_told(tmp_path):
    save(tmp_path, record(response1=True, response2=False))
    loaded = load("pandalm", tmp_path)
    assert loaded.items[0].answers == ("True", "False")
    assert loaded.warnings[0].startswith("pandalm: 2 answer(s) that are stored as true or false")


@pytest.mark.parametrize("name", ["testset-v1.json", "testset-v1.json.gz", "data/testset-v1.json"])
def test_layouts(tmp_path, name):
    file = save(tmp_path, record(), name=name)
    (tmp_path / "gpt-3.5-turbo-testset-v1.json").write_text("[]")
    assert load("pandalm", tmp_path).items == load("pandalm", file).items
    assert load("pandalm", tmp_path).provenance["files"][0]["sha256"] == (
        hashlib.sha256(json.dumps([record()]).encode()).hexdigest()
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"annotator2": 3}, r"\[1\]: the annotator2 '3' names no answer; it must be '0' or '1' or '2'"),
        ({"annotator3": None}, "the annotator3 'None' names no answer"),
        ({"annotator1": True}, "the annotator1 'True' names no answer"),
        ({"idx": "9"}, r"\[1\]: the field 'idx' must be a whole number, not a string"),
        ({"idx": 0}, r"'pandalm-000' occurs twice: \S*\[0\] and \S*\[1\]"),
        ({"response2": None}, "the field 'response2' must be a string, not null"),
        ({"input": 3}, "the field 'input' must be a string, not a number"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, changed, said):
    save(tmp_path, record(0), record(1, **changed) if "idx" not in changed else record(**changed))
    with pytest.raises(UserError, match=said):
        load("pandalm", tmp_path)


def test_a_missing_label_a_cut_file_a_judges_file_and_an_empty_folder(tmp_path):
    short = record()
    del short["annotator3"]
    save(tmp_path, short)
    with pytest.raises(UserError, match=r"json\[0\]: the field 'annotator3' is missing"):
        load("pandalm", tmp_path)
    file = save(tmp_path, record(0), record(1))
    file.write_bytes(file.read_bytes()[:-60])
    with pytest.raises(UserError, match=r"testset-v1\.json:1: not valid JSON .* cut off"):
        load("pandalm", tmp_path)
    judged = save(tmp_path, {"idx": 0, "gpt_result": "1"}, name="gpt-3.5-turbo-testset-v1.json")
    with pytest.raises(UserError, match=r"\[0\]: the field 'annotator1' is missing; found 'idx', 'gpt_result'"):
        load("pandalm", judged)
    file.unlink()
    with pytest.raises(UserError, match=r"holds no testset-v1\.json or data/testset-v1\.json, plain or \.gz"):
        load("pandalm", tmp_path)
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load("pandalm", tmp_path / "nowhere")
    with pytest.raises(UserError, match="pandalm has no splits"):
        load("pandalm", tmp_path, split="test")


def test_without_a_path_the_pinned_file_is_fetched(tmp_path, monkeypatch):
    served = save(tmp_path / "served", record(), name=pandalm.NAME)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pandalm, "ORIGIN", (tmp_path / "served").as_uri())
    monkeypatch.setattr(pandalm, "SHA256", hashlib.sha256(served.read_bytes()).hexdigest())
    loaded = load("pandalm")
    assert [item.id for item in loaded.items] == ["pandalm-000"]
    assert loaded.provenance["files"][0]["origin"] == served.as_uri()
    served.unlink()
    assert load("pandalm") == loaded


@needs_real
def test_real_pairs():
    loaded = load("pandalm", REAL)
    # Of 999 label triples: 426 are 222, 36 are 122, 10 are 022; 368 are 111, 33 are 112, 21 are 011; 105 have two 0.
    assert Counter(item.gold for item in loaded.items) == {"B": 426 + 36 + 10, "A": 368 + 33 + 21}
    assert {reason: len(ids) for reason, ids in loaded.provenance["dropped"].items()} == {TIED: 105}
    assert loaded.provenance["files"][0]["sha256"] == pandalm.SHA256
    assert len({item.group for item in loaded.items}) == len({item.question for item in loaded.items})
    assert loaded.warnings[0].startswith("pandalm: 6 answer(s)")


@needs_real
def test_a_real_draw_is_balanced_and_not_stratified():
    sample = load("pandalm", REAL, limit=100, sample="random").items
    assert Counter(item.gold for item in sample) == {"A": 50, "B": 50}
    # 49 of 894 are IMDB's: a stratified draw has 5 or 6 of them at every seed.
    counts = {
        sum(item.source == "IMDB" for item in load("pandalm", REAL, limit=100, sample="random", seed=seed).items)
        for seed in range(12)
    }
    assert counts - {5, 6}
