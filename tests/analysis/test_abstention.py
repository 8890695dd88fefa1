import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from analysis.columns import TableError
from analysis.confidence import places
from analysis.conformal import Goal, abstention, exported, threshold
from analysis.verdicts import check


def judged(n, rng, accuracy=lambda p: p, orders=("AB",)):
    """Verdicts for A with p_first p, right with the chance that p implies; the orders of a pair share a group."""
    p = rng.uniform(0.5, 1, n)
    gold = np.where(rng.random(n) < accuracy(p), "A", "B")
    table = {
        "study": "s",
        "judge": "j",
        "dataset": "d",
        "item": [f"i{i}" for i in range(n)],
        "gold": gold,
        "p_first": p,
    }
    return pd.concat([pd.DataFrame(table).assign(order=o, winner="A", outcome="ok") for o in orders], ignore_index=True)


def test_the_tail_is_that_of_the_binomial():
    """Of 100 verdicts kept at a risk of 0.1, 4 wrong ones have a chance of 0.024 and 5 one of 0.058."""
    scores, candidates = np.full(100, 0.9), np.array([0.9])
    for wrong, delta, found in ((4, 0.025, 0.9), (5, 0.025, np.inf), (5, 0.06, 0.9)):
        right = np.r_[np.zeros(wrong), np.ones(100 - wrong)]
        assert (binom.cdf(wrong, 100, 0.1) <= delta) == (found == 0.9)
        # A ladder of one rung has one sequence of tests for all of delta.
        assert threshold(scores, right, candidates, Goal(0.1, delta)) == found


def test_the_threshold_is_the_lowest_before_the_first_failure():
    scores = np.repeat([0.9, 0.8, 0.7, 0.6], 100)
    right = np.r_[np.ones(100), np.ones(100), np.zeros(100), np.ones(100)]
    assert threshold(scores, right, np.array([0.6, 0.7, 0.8, 0.9]), Goal(0.1)) == 0.8


def test_the_guarantee_holds_over_calibration_halves():
    """The true risk above a threshold t is that of p uniform above t: 1 - (1 + t) / 2."""
    rng, over = np.random.default_rng(0), []
    for _ in range(400):
        p = rng.uniform(0.5, 1, 150)
        limit = threshold(p, (rng.random(150) < p).astype(float), rng.uniform(0.5, 1, 20), Goal(0.15, 0.1))
        over.append(np.isfinite(limit) and 1 - (1 + limit) / 2 > 0.15)
    assert np.mean(over) <= 0.1


def test_a_good_signal_keeps_many_verdicts_and_a_useless_one_none():
    rng = np.random.default_rng(1)
    cells, _ = abstention(places(judged(600, rng, lambda p: p > 0.7)), Goal(0.05), rng=rng, splits=20)
    row = cells.iloc[0]
    assert row["threshold"] == pytest.approx(0.7, abs=0.03)
    assert row["coverage"] == pytest.approx(0.6, abs=0.08)
    assert row["risk"] <= 0.05
    assert row["share_over"] <= 0.25
    cells, verdicts = abstention(places(judged(600, rng, lambda p: 0 * p + 0.6)), Goal(0.05), rng=rng, splits=5)
    assert cells.loc[0, "threshold"] == np.inf
    assert "no threshold" in cells.loc[0, "note"]
    assert (verdicts["decision"] == "abstain").all()


def test_too_few_verdicts_to_ever_show_the_target_say_how_many_it_takes():
    rng = np.random.default_rng(1)
    cells, _ = abstention(places(judged(60, rng, np.ones_like)), Goal(0.05, 0.1), rng=rng, splits=0)
    assert "30 verdicts can't show a risk of 0.05; that takes 45" in cells.loc[0, "note"]


@pytest.mark.parametrize("n", [0, 39])
def test_fewer_than_20_to_calibrate_on_are_refused(n):
    rng = np.random.default_rng(0)
    table = judged(50, rng)
    table.loc[n:, "gold"] = None
    with pytest.raises(TableError, match=rf"half of its {n} groups .* fewer than 20"):
        abstention(places(table), Goal(0.2), rng=rng)


def test_a_cell_that_has_too_few_says_so_and_the_others_have_their_thresholds():
    rng = np.random.default_rng(0)
    table = judged(200, rng, lambda p: p > 0.6)
    few = table.head(30).assign(judge="few")
    unsaid = table.assign(judge="unsaid", p_first=None)
    table = pd.concat([table, few, unsaid], ignore_index=True)
    cells, verdicts = abstention(places(table), Goal(0.2), rng=rng, splits=2)
    rows = cells.set_index("judge")
    assert np.isfinite(rows.loc["j", "threshold"])
    assert rows.loc["j", "note"] == ""
    assert (
        rows.loc[["few", "unsaid"], ["threshold", "calibrated", "splits"]].to_numpy().tolist() == [[np.inf, 0, 0]] * 2
    )
    assert "half of its 30 groups" in rows.loc["few", "note"]
    assert "needs log-probabilities" in rows.loc["unsaid", "note"]
    left_out = verdicts[verdicts["judge"] != "j"]
    assert set(left_out["decision"]) == {"abstain"}
    assert set(left_out["part"]) == {""}


def test_each_cell_is_decided_by_the_first_signal_that_it_has():
    rng = np.random.default_rng(0)
    table = judged(80, rng)
    stated = table.assign(judge="k", confidence=table["p_first"], p_first=None)
    table = pd.concat([table, stated], ignore_index=True)
    cells, _ = abstention(places(table), Goal(0.4), rng=rng, splits=0)
    assert dict(zip(cells["judge"], cells["signal"], strict=True)) == {"j": "p", "k": "stated"}


def test_a_group_gives_one_verdict_for_calibration():
    rng = np.random.default_rng(0)
    table = judged(50, rng, orders=("AB", "BA"))
    cells, verdicts = abstention(places(table), Goal(0.3), rng=rng, splits=0)
    assert cells.loc[0, "calibrated"] == 25
    assert verdicts.groupby("item")["part"].nunique().eq(1).all()


def test_the_export_says_for_every_row_what_becomes_of_it():
    rng = np.random.default_rng(0)
    table = judged(80, rng).assign(mine="kept", repeat=0)
    table = pd.concat([table, table.assign(repeat=1)], ignore_index=True)
    table.loc[table["item"] == "i7", ["winner", "outcome", "p_first"]] = [None, "unreadable", None]
    units = places(table)
    _, verdicts = abstention(units, Goal(0.4), rng=rng, splits=0)
    out = exported(check(table), verdicts)
    assert len(out) == len(table)
    assert set(out["decision"]) == {"keep", "abstain"}
    assert (out["mine"] == "kept").all()
    keeps = out["signal_value"] >= out["threshold"]
    assert (keeps == (out["decision"] == "keep")).all()
    assert (out.loc[out["item"] == "i7", "decision"] == "abstain").all()


def test_unknown_and_unrecorded_signals_are_refused():
    units = places(judged(50, np.random.default_rng(0)))
    with pytest.raises(TableError, match="no signal 'certainty'; choose margin, p"):
        abstention(units, Goal(0.2), rng=np.random.default_rng(0), signal="certainty")
    with pytest.raises(TableError, match="stated needs the column 'confidence'"):
        abstention(units, Goal(0.2), rng=np.random.default_rng(0), signal="stated")


@pytest.mark.parametrize(("risk", "delta"), [(0, 0.1), (1, 0.1), (-0.2, 0.1), (0.1, 0), (0.1, 1.5)])
def test_a_target_is_a_share(risk, delta):
    with pytest.raises(TableError, match="give a share above 0 and below 1"):
        Goal(risk, delta)
