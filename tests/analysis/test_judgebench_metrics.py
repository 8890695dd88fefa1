import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.accuracy import items, judgebench
from analysis.columns import TableError

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "judgebench"
OUTPUTS = sorted((DATA / "outputs").glob("*.jsonl.gz"))
FLIPPED = {"A>B": "B>A", "B>A": "A>B"}
READING = {"A>B": ("A", "ok"), "B>A": ("B", "ok"), "A=B": ("tie", "tie")}


def values(table, part="overall", **options):
    found = judgebench(table, rng=np.random.default_rng(0), replicates=0, **options)
    return found[found["slice"] == part].set_index("metric")["value"]


@pytest.mark.parametrize(
    ("ab", "ba", "tie", "wrong", "drop"),
    [
        ("A", "A", 1, 1, 1),
        ("A", "=", 1, 1, 1),  # right and tie count
        ("A", "B", 0, 0, 0),
        ("=", "=", 0, 0, 0),
        ("B", "=", 0, 0, 0),
        ("A", "?", 1, 0, None),  # the benchmark's own rule lets no verdict pass for a tie
        ("B", "?", 0, 0, None),
        ("?", "?", 0, 0, None),
    ],
)
def test_a_pair_is_correct_if_it_is_right_on_balance(rows, ab, ba, tie, wrong, drop):
    for gold, mirror in (("A", {}), ("B", str.maketrans("AB", "BA"))):
        table = rows({"p": (gold, ab.translate(mirror), ba.translate(mirror))})
        for rule, expected in {"tie": tie, "wrong": wrong, "drop": drop}.items():
            correct = items(table, unreadable=rule)["correct"].iloc[0]
            assert (None if np.isnan(correct) else correct) == expected


def test_four_pairs_by_hand(rows):
    table = rows({"p": ("A", "A", "="), "q": ("A", "A", "B"), "r": ("A", "?", "A"), "s": ("A", "=", "=")})
    assert values(table).to_dict() == pytest.approx(
        {
            "accuracy": 2 / 4,
            "accuracy_worst": 1 / 4,
            "accuracy_best": 2 / 4,
            "accuracy_AB": 2 / 4,
            "accuracy_BA": 1 / 4,
            "accuracy_AB_worst": 2 / 4,
            "accuracy_BA_worst": 1 / 4,
            "accuracy_AB_best": 3 / 4,
            "accuracy_BA_best": 1 / 4,
            "inconsistent": 3 / 4,
            "ties": 3 / 8,
            "first_position": 3 / 4,
        }
    )
    dropped = values(table, unreadable="drop")
    assert dropped[["accuracy", "accuracy_AB", "ties"]].tolist() == pytest.approx([1 / 3, 2 / 3, 3 / 7])
    assert values(table, unreadable="wrong")["accuracy"] == 1 / 4


def test_a_judge_that_always_names_the_first_answer(rows):
    found = values(rows({"p": ("A", "A", "B"), "q": ("B", "A", "B")}))
    assert found[["accuracy", "accuracy_AB", "accuracy_BA"]].tolist() == [0, 0.5, 0.5]
    assert found[["inconsistent", "first_position"]].tolist() == [1, 1]


def test_dropped_pairs_and_single_orders_are_counted(rows):
    table = rows({"p": ("A", "A", "A"), "q": ("A", "A", "?"), "r": ("A", "A", "")})
    found = judgebench(table, rng=np.random.default_rng(0), unreadable="drop").set_index("metric")
    assert (found.loc["accuracy", "n"], found.loc["accuracy", "note"]) == (1, "undefined for 2 of 3")
    one_way = judgebench(rows({"p": ("A", "A", "")}), rng=np.random.default_rng(0)).set_index("metric")
    assert one_way.loc["accuracy_AB", "value"] == 1
    assert np.isnan(one_way.loc["accuracy", "value"])
    assert "both orders" in one_way.loc["accuracy", "note"]


def test_categories_are_slices(rows):
    table = rows({"p": ("A", "A", "A"), "q": ("A", "B", "B"), "r": ("A", "A", "A"), "s": ("A", "A", "A")})
    source = {"p": "mmlu-pro-math", "q": "livebench-math", "r": "mmlu-pro-law", "s": "other"}
    found = judgebench(table.assign(source=table["item"].map(source)), rng=np.random.default_rng(0))
    accuracy = found[found["metric"] == "accuracy"].set_index("slice")["value"].to_dict()
    assert accuracy == {"overall": 3 / 4, "knowledge": 1, "math": 0, "other": 1}


def test_the_two_splits_are_reported_apart_and_together(rows):
    gpt = rows({"p": ("A", "A", "A"), "q": ("A", "B", "B"), "r": ("A", "A", "A")}, dataset="judgebench-gpt")
    claude = rows({"s": ("A", "B", "B")}, dataset="judgebench-claude")
    half = gpt.assign(judge="half")
    found = judgebench(pd.concat([gpt, claude, half]), rng=np.random.default_rng(0))
    accuracy = found[found["metric"] == "accuracy"].set_index(["judge", "dataset"])
    assert accuracy["value"].to_dict() == {
        ("j", "judgebench"): 2 / 4,
        ("j", "judgebench-claude"): 0,
        ("j", "judgebench-gpt"): 2 / 3,
        ("half", "judgebench-gpt"): 2 / 3,
    }
    assert accuracy.loc[("j", "judgebench"), "n"] == 4
    assert len(items(pd.concat([gpt, claude]))) == 4
    whole = judgebench(pd.concat([gpt, claude.assign(dataset="judgebench")]), rng=np.random.default_rng(0))
    assert whole.query("dataset == 'judgebench' and metric == 'accuracy'")["n"].tolist() == [1]


def test_an_unknown_rule_is_refused(rows):
    with pytest.raises(TableError, match="choose tie, wrong, drop"):
        judgebench(rows({"p": ("A", "A", "A")}), rng=np.random.default_rng(0), unreadable="skip")


@pytest.mark.skipif(not OUTPUTS, reason="the benchmark's judge outputs are not here")
@pytest.mark.parametrize("path", OUTPUTS, ids=lambda p: p.name.removesuffix(".jsonl.gz"))
def test_real_judges_score_what_the_benchmark_says(path):
    table = _converted(path)
    found = judgebench(table, rng=np.random.default_rng(0), replicates=0).set_index(["slice", "metric"])
    expected = json.loads((DATA / "recomputed_accuracy.json").read_text(encoding="utf-8"))[path.name]
    for category, row in expected.items():
        accuracy = found.loc[(category, "accuracy")]
        assert round(100 * accuracy["value"], 2) == row["accuracy_pct"], category
        assert accuracy["n"] == row["n"]
    pairs = items(table)
    assert pairs["correct"].sum() == expected["overall"]["correct"]
    assert (pairs["score"] < 0).sum() == expected["overall"]["incorrect"]
    assert pairs["inconsistent"].sum() == expected["overall"]["inconsistent"]


def _converted(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return pd.DataFrame(
        {
            "study": "judgebench",
            "judge": path.name,
            "dataset": "judgebench",
            "source": r["source"],
            "item": r["pair_id"],
            "gold": r["label"][0],
            "order": order,
            "winner": winner,
            "outcome": outcome,
        }
        for r in records
        for order, game in zip(("AB", "BA"), r["judgments"], strict=True)
        for decision in [FLIPPED.get(game["decision"], game["decision"]) if order == "BA" else game["decision"]]
        for winner, outcome in [READING.get(decision, (None, "unreadable"))]
    )
