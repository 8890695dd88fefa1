import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from analysis import selective
from analysis.columns import TableError
from analysis.confidence import places
from analysis.quality import confidence
from analysis.signal_contrast import compared

scored = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40)


def verdicts(p, gold, **columns):
    """Verdicts for A in one order, one a pair: right where the gold label is A, with p_first p."""
    n = len(p)
    table = {"study": "s", "judge": "j", "dataset": "d", "item": [f"i{i}" for i in range(n)], "order": "AB"}
    return pd.DataFrame({**table, "winner": "A", "outcome": "ok", "gold": list(gold), "p_first": p, **columns})


def values(table, signal="p", replicates=0, column="value", **options):
    found = confidence(table, rng=np.random.default_rng(0), replicates=replicates, **options)
    return found[found["slice"] == signal].set_index("metric")[column]


@given(scored)
def test_auroc_is_that_of_scikit_learn(pairs):
    scores, right = (np.array(x, dtype=float) for x in zip(*pairs, strict=True))
    found = selective.auroc(*selective.cumulated(scores, right)).item()
    if 0 < right.mean() < 1:
        assert found == pytest.approx(roc_auc_score(right, scores))
    else:
        assert np.isnan(found)


@given(scored)
def test_selective_metrics_are_those_of_their_definitions(pairs):
    scores, right = (np.array(x, dtype=float) for x in zip(*pairs, strict=True))
    curve = selective.cumulated(scores, right)
    risk = {s: 1 - right[scores >= s].mean() for s in scores}
    assert selective.aurc(*curve).item() == pytest.approx(np.mean([risk[s] for s in scores]))
    coverage = {s: (scores >= s).mean() for s in scores}
    enough = max(s for s in scores if coverage[s] >= 0.5 - 1e-9)
    assert selective.accuracy_at(*curve, 0.5).item() == pytest.approx(1 - risk[enough])
    safe = max([coverage[s] for s in scores if risk[s] <= 0.2 + 1e-9], default=0)
    assert selective.coverage_at(*curve, 0.2).item() == pytest.approx(safe)


def test_calibration_on_bins_made_by_hand():
    """0.55 three times with one right, 0.95 twice with both right, 0.15 once and wrong."""
    found = values(verdicts([0.55, 0.55, 0.55, 0.95, 0.95, 0.15], "ABBAAB"))
    assert found["ece"] == pytest.approx((3 * abs(1 / 3 - 0.55) + 2 * 0.05 + 0.15) / 6)
    assert found["brier"] == pytest.approx((0.45**2 + 2 * 0.55**2 + 2 * 0.05**2 + 0.15**2) / 6)
    assert found["brier"] == pytest.approx(brier_score_loss([1, 0, 0, 1, 1, 0], [0.55, 0.55, 0.55, 0.95, 0.95, 0.15]))
    assert found["accuracy_in_0.5-0.6"] == pytest.approx(1 / 3)
    assert found["confidence_in_0.9-1.0"] == pytest.approx(0.95)
    assert found["ece_mass"] == pytest.approx(found["ece"])  # Equal confidences share a bin.
    squares = 3 * ((1 / 3 - 0.55) ** 2 - (2 / 9) / 2) + 2 * 0.05**2 + 0.15**2
    assert found["ece_debiased"] == pytest.approx(np.sqrt(max(squares / 6, 0)))
    assert "accuracy_in_0.0-0.1" not in found


def test_a_calibrated_judge_has_no_debiased_error_to_speak_of():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 4000)
    found = values(verdicts(p, np.where(rng.random(4000) < p, "A", "B")))
    assert found["ece_debiased"] < found["ece_mass"] < 0.03


def test_margins_have_no_calibration():
    found = values(verdicts([0.9, 0.6], "AB"), "margin")
    assert "brier" not in found
    assert found["auroc"] == 1


@pytest.mark.parametrize(("gold", "which"), [("AAA", "right"), ("BBB", "wrong")])
def test_auroc_of_verdicts_that_are_all_alike_says_so(gold, which):
    table = verdicts([0.9, 0.8, 0.7], gold)
    assert np.isnan(values(table)["auroc"])
    assert values(table, column="note")["auroc"] == f"undefined: all verdicts are {which}"


def test_a_signal_that_is_absent_says_what_records_it():
    table = verdicts([None, None], "AB", confidence=[0.9, 0.2])
    assert "logprobs=true" in values(table, column="note")["auroc"]
    assert values(table, "stated")["auroc"] == 1
    with pytest.raises(TableError, match=r"experiment=confidence .*logprobs=true"):
        confidence(table.drop(columns="confidence"), rng=np.random.default_rng(0))


def test_costs_label_mass_and_missing_gold_labels():
    table = verdicts(
        [0.9, 0.8, 0.6], ["A", "B", None], label_mass=[0.5, 0.7, 0.1], prompt_tokens=90, completion_tokens=10
    )
    assert values(table)[["calls", "tokens", "label_mass"]].tolist() == pytest.approx([1, 100, 0.6])
    assert values(table, column="n")["auroc"] == 2
    assert values(table, column="note")["auroc"] == "undefined for 1 of 3 verdicts"


def clustered(n=30, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.5, 1, n).round(2)
    table = verdicts(p, np.where(rng.random(n) < p, "A", "B"), group=[f"g{i // 3}" for i in range(n)])
    return table.assign(confidence=rng.uniform(0, 1, n).round(1))


def test_intervals_are_those_of_resampling_whole_groups_by_hand():
    table = clustered()
    found = values(table, replicates=2000, column="ci_low"), values(table, replicates=2000, column="ci_high")
    rng, groups = np.random.default_rng(1), [part for _, part in table.groupby("group")]
    draws = []
    for _ in range(400):
        again = pd.concat([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        right = (again["gold"] == "A").astype(float).to_numpy()
        curve = selective.cumulated(again["p_first"].to_numpy(), right)
        draws.append([selective.auroc(*curve).item(), selective.aurc(*curve).item()])
    low, high = np.nanquantile(draws, [0.025, 0.975], axis=0)
    assert found[0][["auroc", "aurc"]].tolist() == pytest.approx(low, abs=0.03)
    assert found[1][["auroc", "aurc"]].tolist() == pytest.approx(high, abs=0.03)


def test_many_levels_of_confidence_are_resampled_coarsely_but_valued_exactly():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.5, 1, 600)
    table = verdicts(p, np.where(rng.random(600) < p, "A", "B"))
    found = values(table, replicates=500), values(table, replicates=500, column="ci_low")
    assert found[0]["auroc"] == pytest.approx(roc_auc_score(table["gold"] == "A", p))
    assert found[1]["auroc"] == pytest.approx(found[0]["auroc"] - 1.96 * 0.025, abs=0.015)


def test_equal_seeds_give_equal_numbers_and_another_data_set_changes_none():
    table = clustered()
    both = pd.concat([table, clustered(seed=5).assign(dataset="e")])
    one, two = (
        confidence(t, rng=np.random.default_rng(3), replicates=200).query("dataset == 'd'").reset_index(drop=True)
        for t in (table, both)
    )
    pd.testing.assert_frame_equal(one, two)


def test_signals_are_compared_on_the_same_verdicts():
    table = clustered()
    table.loc[:5, "confidence"] = None
    found = compared(places(table), rng=np.random.default_rng(0), replicates=500)
    row = found[(found["metric"] == "auroc") & (found["signal_1"] == "p") & (found["signal_2"] == "stated")].iloc[0]
    shared = table[table["confidence"].notna()]
    right = shared["gold"] == "A"
    assert row["n"] == 24
    assert row["value_1"] == pytest.approx(roc_auc_score(right, shared["p_first"]))
    assert row["difference"] == pytest.approx(row["value_1"] - roc_auc_score(right, shared["confidence"]))
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    same = found[(found["signal_1"] == "margin") & (found["signal_2"] == "p")]
    assert same[["difference", "ci_low", "ci_high"]].abs().max(axis=None) == pytest.approx(0)


def test_one_signal_has_nothing_to_be_compared_with():
    table = clustered().drop(columns="p_first")
    with pytest.raises(TableError, match="no two signals"):
        compared(places(table), rng=np.random.default_rng(0))
