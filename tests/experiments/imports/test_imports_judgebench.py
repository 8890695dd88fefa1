import gzip
import json

import numpy as np
import pytest

from analysis.accuracy import judgebench

CATEGORIES = ("knowledge", "reasoning", "math", "coding", "overall")
OURS = {
    "stellalisy__gpt__no_rubric__Qwen-Qwen3-1.7B.jsonl.gz": "40.29",
    "stellalisy__gpt__rubric__Qwen-Qwen3-1.7B__rubric-Qwen-Qwen3-8B.jsonl.gz": "20.29",
    "stellalisy__gpt__rubric__Qwen-Qwen3-8B__rubric-Qwen3-8B.jsonl.gz": "44.00",
    "stellalisy__gpt__rubric__meta-llama-Llama-3.1-8B-Instruct__rubric-Qwen3-8B.jsonl.gz": "45.14",
}
"""Overall accuracy, in per cent, of the files in which upstream lets an answer without a readable score lose."""


def outputs(shared):
    files = sorted((shared / "judgebench" / "outputs").glob("*.jsonl.gz"))
    assert len(files) == 13
    return files


def accuracies(table):
    found = judgebench(table, rng=np.random.default_rng(0), replicates=0)
    found = found[found["metric"] == "accuracy"].set_index("slice")["value"]
    return {c: f"{100 * found[c]:.2f}" for c in CATEGORIES}


def pair(label="A>B", **judgments):
    return {
        "pair_id": "p1",
        "source": "mmlu-pro-law",
        "response_model": "gpt-4o-2024-05-13",
        "label": label,
        "judge_name": "arena_hard",
        "judgments": [
            {"judgment": {"judge_model": "m", **said}, "decision": decision} for said, decision in judgments.values()
        ],
    }


def test_accuracy_of_every_published_output_file(shared, imports):
    """By the source's own rules all thirteen agree with the recomputed figures to the last printed digit."""
    published = json.loads((shared / "judgebench" / "recomputed_accuracy.json").read_text())
    for file in outputs(shared):
        found = imports("judgebench", file, options=["--items", shared / "judgebench", "--as-published"])
        expected = {c: f"{published[file.name][c]['accuracy_pct']:.2f}" for c in CATEGORIES}
        assert accuracies(found.table) == expected, file.name
        assert len(found.table) == 2 * published[file.name]["overall"]["n"]


def test_our_own_reading_moves_the_pointwise_files_only(shared, imports):
    published = json.loads((shared / "judgebench" / "recomputed_accuracy.json").read_text())
    for file in outputs(shared):
        found = accuracies(imports("judgebench", file).table)
        expected = {c: f"{published[file.name][c]['accuracy_pct']:.2f}" for c in CATEGORIES}
        assert found["overall"] == OURS.get(file.name, expected["overall"]), file.name
        assert found == expected or file.name in OURS, file.name


def test_differences_from_the_stored_decisions_are_all_explained(shared, imports):
    found = imports("judgebench", *outputs(shared))
    assert len(found.table) == 2 * (9 * 350 + 4 * 270)
    differs = found.listed[found.listed["differs"]]
    reward = differs["format"] == "reward_model"
    # Equal rewards are a tie; upstream lets the one shown second win, in both orders.
    assert (differs[reward]["read"] == "tie").all()
    assert reward.sum() == 8
    assert differs[~reward]["remark"].str.contains("score|none of the five verdicts").all()
    arena = differs[differs["format"] == "arena_hard"]
    assert arena["stored"].tolist() == ["A>A"] * 6


def test_the_pair_of_equal_answers_is_kept(shared, imports):
    file = next(f for f in outputs(shared) if "haiku" in f.name)
    with_items = imports("judgebench", file, options=["--items", shared / "judgebench"])
    assert with_items.table["item"].nunique() == 270
    # One question occurs in two pairs, which a bootstrap has to resample together.
    assert with_items.table["group"].nunique() == 269
    assert (with_items.table["question"].str.len() > 0).all()


def test_the_second_judgement_is_mapped_back_once(write, tmp_path, imports):
    said = {"response": "[[A>B]]"}, "A>B"
    found = imports("judgebench", write(tmp_path / "j.jsonl", pair(first=said, second=said)))
    assert found.cells("order", "winner", "stored", "gold", "dataset") == [
        ("AB", "A", "A", "A", "judgebench-gpt"),
        ("BA", "B", "B", "A", "judgebench-gpt"),
    ]
    assert found.listed.empty


@pytest.mark.parametrize(
    ("said", "decision", "expected"),
    [
        ({"response": "[[A>B]] or rather [[B>A]]"}, None, (None, "unreadable", "none")),
        ({"response": ""}, None, (None, "unreadable", "none")),
        ({"response": "[[A<B]]"}, "A<B", (None, "unreadable", "A<B")),
        ({"scores": [2.0, 1.5]}, "A>B", ("A", "ok", "A")),
        ({"scores": [1.0, 1.0]}, "B>A", ("tie", "tie", "B")),
        ({"scores": [float("nan"), 1.0]}, "B>A", (None, "unreadable", "B")),
        ({"score_A": -1.0, "score_B": -1.0}, None, (None, "unreadable", "none")),
        ({"score_A": -1.0, "score_B": 0.9}, "B>A", (None, "unreadable", "B")),
        ({"score_A": 7, "score_B": 0.9}, "A>B", (None, "unreadable", "A")),
        ({"score_A": 0.5, "score_B": 0.5}, "A=B", ("tie", "tie", "tie")),
        # The text counts, not the stored score.
        ({"score_A": 0.5, "score_B": 0.1, "raw_judge_A": '{"score": 0}', "raw_judge_B": '{"score": 1}'}, "A>B",
         ("B", "ok", "A")),
    ],
)  # fmt: skip
def test_one_judgement(write, tmp_path, imports, said, decision, expected):
    found = imports("judgebench", write(tmp_path / "j.jsonl", pair(only=(said, decision))))
    assert found.cells("winner", "outcome", "stored") == [expected]


def test_a_missing_score_loses_only_as_published(write, tmp_path, imports):
    said = {"score_A": -1.0, "score_B": 0.9, "raw_judge_A": "", "raw_judge_B": '{"score": 0.9}'}, "B>A"
    file = write(tmp_path / "j.jsonl", pair(first=said, second=said))
    assert imports("judgebench", file).cells("winner") == [(None,), (None,)]
    assert imports("judgebench", file, options=["--as-published"]).cells("winner") == [("B",), ("A",)]


def test_a_failed_call_is_an_error(write, tmp_path, imports):
    record = pair(first=({"response": "[[A>B]]"}, "A>B")) | {"judgments": [None]}
    assert imports("judgebench", write(tmp_path / "j.jsonl", record)).cells("outcome") == [("error",)]


def test_ids_that_match_no_item_are_named(write, tmp_path, shared, refused):
    said = {"response": "[[A>B]]"}, "A>B"
    file = write(tmp_path / "j.jsonl", *(pair(only=said) | {"pair_id": f"gone-{i}"} for i in range(7)))
    error = refused("judgebench", file, options=["--items", shared / "judgebench"])
    assert "7 of 7 item ids match no item of judgebench" in error
    assert "gone-0" in error
    assert "2 more" in error


def test_a_gold_that_is_not_the_data_sets_is_refused(write, tmp_path, shared, refused):
    real = json.loads(gzip.decompress(outputs(shared)[0].read_bytes()).splitlines()[0])
    wrong = "B>A" if real["label"] == "A>B" else "A>B"
    error = refused(
        "judgebench", write(tmp_path / "j.jsonl", real | {"label": wrong}), options=["--items", shared / "judgebench"]
    )
    assert "the gold of 1 items" in error
    assert real["pair_id"] in error
