"""MT-Bench, AlpacaEval and PandaLM: real files against published figures, and one record at a time."""

import gzip
import json
import math

import pytest

from analysis.agreement import cohen_kappa, krippendorff_alpha, majority, percent_agreement
from experiments.imports.alpaca_eval import preferences


def lines_of(file):
    return gzip.decompress(file.read_bytes()).decode().splitlines()


# MT-Bench ----------------------------------------------------------------------------------------------------------


def test_mt_bench_agreement_figures(shared, imports):
    """Majority of the human votes, an even split being a tie, against GPT-4's folded verdicts."""
    table = imports(
        "mtbench", shared / "mt_bench" / "human_votes.jsonl.gz", shared / "mt_bench" / "gpt4_pair_verdicts.jsonl.gz"
    ).table
    votes, gpt4 = table[table["method"] == "human"], table[table["judge"] == "gpt4_pair"].set_index("item")
    assert (len(votes), len(gpt4), votes["judge"].nunique()) == (3355, 2400, 65)
    humans = majority(votes["item"], votes["winner"])
    joined = gpt4.loc[humans.index]
    assert len(joined) == 1814
    assert f"{percent_agreement(humans, joined['winner']):.3f}" == "0.672"
    assert f"{cohen_kappa(humans, joined['winner']):.4f}" == "0.5047"
    decided = (humans != "tie") & (joined["winner"] != "tie")
    assert decided.sum() == 1078
    assert f"{percent_agreement(humans[decided], joined['winner'][decided]):.3f}" == "0.884"
    assert f"{cohen_kappa(humans[decided], joined['winner'][decided]):.3f}" == "0.767"
    assert f"{krippendorff_alpha(votes['item'], votes['winner']):.4f}" == "0.4855"
    # Of the 1,814 joined comparisons; of all 2,400 it is 15.83 %.
    assert f"{(joined['remark'] == 'the two orders disagreed').mean():.4f}" == "0.1599"
    assert (gpt4["remark"] == "the two orders disagreed").sum() == 380


def test_mt_bench_raw_texts_read_as_stored(shared, imports):
    folder = shared / "mt_bench" / "gpt4_judgments"
    pairs = imports("mtbench", folder / "phi3_vs_phi3-dpo_pair.jsonl.gz")
    assert len(pairs.table) == 150
    assert not pairs.listed["differs"].any()
    assert (pairs.table["outcome"] == "error").sum() == 3
    single = imports("mtbench", folder / "phi3-dpo_single.jsonl.gz")
    stored = [json.loads(line)["score"] for line in lines_of(folder / "phi3-dpo_single.jsonl.gz")]
    assert single.table["score_a"].tolist() == stored


VOTE = {"question_id": 81, "model_a": "vicuna", "model_b": "alpaca", "judge": "expert_1", "turn": 1}


@pytest.mark.parametrize(
    ("winner", "expected"),
    [("model_a", ("B", "ok")), ("model_b", ("A", "ok")), ("tie", ("tie", "tie")), ("both bad", (None, "unreadable"))],
)
def test_a_pair_has_one_id_whatever_its_order(write, tmp_path, imports, winner, expected):
    found = imports("mtbench", write(tmp_path / "v.jsonl", VOTE | {"winner": winner}))
    assert found.cells("item", "order", "group") == [("81-alpaca-vicuna-1", "BA", "81")]
    assert found.cells("winner", "outcome") == [expected]
    if winner == "both bad":
        assert "'both bad' is not known" in found.listed["remark"].iloc[0]


def test_both_games_of_a_pair(write, tmp_path, imports):
    record = {"question_id": 81, "model_1": "zephyr", "model_2": "alpaca", "turn": 2, "judge": ["gpt-4", "pair-v2"]}
    record |= {"g1_judgment": "[[A]]", "g1_winner": "model_1", "g2_judgment": "[[A]]", "g2_winner": "model_2"}
    found = imports("mtbench", write(tmp_path / "p.jsonl", record))
    # Zephyr, B in alphabetical order, was shown first in the first game.
    assert found.cells("order", "winner", "stored") == [("BA", "B", "B"), ("AB", "A", "A")]


@pytest.mark.parametrize(("text", "stored", "score"), [("[[9]]", 9, 9), ("[[11]]", 11, None), ("none", -1, None)])
def test_grades(write, tmp_path, imports, text, stored, score):
    record = {"question_id": 81, "model": "m", "turn": 1, "judge": ["gpt-4", "single-v1"]}
    found = imports("mtbench", write(tmp_path / "s.jsonl", record | {"judgment": text, "score": stored}))
    assert found.cells("score_a", "outcome") == [(score, "unreadable" if score is None else "ok")]


# AlpacaEval --------------------------------------------------------------------------------------------------------


def test_stored_preferences_follow_from_the_log_probabilities(shared, imports):
    files = sorted((shared / "alpaca_eval").glob("weighted*.jsonl.gz"))
    raw = [json.loads(line) for file in files for line in lines_of(file)]
    asked = [r for r in raw if r["raw_completion"]]
    found = imports("alpaca_eval", *files)
    assert (len(raw), len(asked), len(found.table)) == (750, 748, 748)
    assert not found.listed["differs"].any()
    for record, p_first in zip(asked, found.table["p_first"], strict=True):
        assert 2 - p_first == pytest.approx(record["preference"], abs=1e-6)
    assert found.table["label_mass"].between(0.5, 1).all()
    # Which output came first was drawn at random.
    assert found.table["order"].value_counts(normalize=True).between(0.4, 0.6).all()


def test_function_calls_read_as_stored_but_for_equal_ranks(shared, imports):
    found = imports("alpaca_eval", *sorted((shared / "alpaca_eval").glob("cot*.jsonl.gz")))
    differs = found.listed[found.listed["differs"]]
    assert len(found.table) == 449
    # Upstream counts two outputs at one rank for the first one.
    assert differs[["stored", "read"]].drop_duplicates().to_numpy().tolist() == [["A", "tie"]]
    assert len(differs) == 4


ANNOTATION = {"instruction": "i", "generator_1": "base", "generator_2": "new", "annotator": "w", "dataset": "d"}


def weighted(p_m, p_large, preference):
    tops = [{"token": t, "logprob": math.log(p)} for t, p in (("m", p_m), ("M", p_large)) if p]
    raw = {"logprobs": {"content": [{"top_logprobs": [*tops, {"token": "The", "logprob": -9.0}]}]}}
    return ANNOTATION | {"preference": preference, "raw_completion": raw}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (weighted(0.6, 0.2, 1.25), ("AB", "A", "ok", 0.75, 0.8)),  # M named output_2
        (weighted(0.6, 0.2, 1.75), ("BA", "B", "ok", 0.25, 0.8)),
        (weighted(0.4, 0.4, 1.5), ("AB", "tie", "tie", 0.5, 0.8)),
        (weighted(0.6, 0.2, 1.3), ("AB", None, "unreadable", None, None)),
        (weighted(0.6, 0, 1.0), ("AB", None, "unreadable", None, None)),  # a missing label is not zero
        (weighted(0.6, 0.2, float("nan")), ("AB", None, "unreadable", None, None)),
    ],
)
def test_log_probabilities_of_the_labels(write, tmp_path, imports, record, expected):
    found = imports("alpaca_eval", write(tmp_path / "a.jsonl", record)).cells(
        "order", "winner", "outcome", "p_first", "label_mass"
    )
    assert [x if isinstance(x, str) or x is None else pytest.approx(x) for x in expected] == list(found[0])


def test_the_two_candidates_are_complements():
    found = preferences({"m": math.log(0.3), "M": math.log(0.1)})
    assert found == pytest.approx({"m": 1.75, "M": 1.25})


def ranked(ranks, models, preference):
    ordered = [{"model": m, "rank": r} for m, r in ranks.items()]
    return ANNOTATION | {
        "preference": preference,
        "raw_completion": json.dumps({"ordered_models": ordered}),
        "referenced_models": models,
    }


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (ranked({"m": 1, "M": 2}, {"m": "output_1", "M": "output_2"}, 1.0), ("AB", "A", "A")),
        (ranked({"M": 1, "m": 2}, {"m": "output_2", "M": "output_1"}, 1.0), ("BA", "A", "A")),
        (ranked({"m": 1, "M": 2}, {"M": "output_1"}, 2.0), ("BA", "B", "B")),
        (ranked({"m": 1, "M": 1}, {"M": "output_2"}, 1.0), ("AB", "tie", "A")),
        (ranked({"m": 1}, {"M": "output_2"}, 1.5), ("AB", None, "tie")),
    ],
)
def test_ranks_of_a_function_call(write, tmp_path, imports, record, expected):
    assert imports("alpaca_eval", write(tmp_path / "a.jsonl", record)).cells("order", "winner", "stored") == [expected]


# PandaLM -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pandalm(shared, imports):
    names = ("testset-v1", "gpt-3.5-turbo-testset-v1", "pandalm-7b-testset-v1")
    return imports("pandalm", *(shared / "pandalm" / f"{name}.json.gz" for name in names))


def test_kappas_between_the_annotators(pandalm):
    labels = pandalm.table.pivot_table(index="item", columns="judge", values="winner", aggfunc="first")
    one, two, three = (labels[f"annotator{i}"] for i in (1, 2, 3))
    assert len(labels) == 999
    found = [cohen_kappa(one, two), cohen_kappa(one, three), cohen_kappa(two, three)]
    assert sorted(f"{k:.2f}" for k in found) == ["0.85", "0.86", "0.88"]


def test_words_that_are_no_verdict_are_unreadable_and_listed(pandalm):
    unread = pandalm.table[pandalm.table["outcome"] == "unreadable"]
    assert unread["judge"].tolist() == ["gpt-3.5-turbo"] * 25
    assert set(pandalm.listed["remark"]) == {"the verdict string 'garbage' is not known"}
    ties = pandalm.table.groupby("judge")["outcome"].apply(lambda o: (o == "tie").sum())
    assert ties.to_dict() == {
        "annotator1": 97, "annotator2": 116, "annotator3": 113, "gpt-3.5-turbo": 38, "pandalm-7b": 107}  # fmt: skip
