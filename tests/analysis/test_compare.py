import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis import accuracy, reliability
from analysis.columns import TableError
from analysis.compare import compare
from analysis.significance import detectable, holm, mcnemar, two_sided


def judged(rows, right, judge, n=40, **columns):
    """A judge that names the gold answer of the items for which `right` says so, in both orders."""
    return rows(
        {f"p{i:03}": ("A", *(["A", "A"] if right(i) else ["B", "B"])) for i in range(n)}, judge=judge, **columns
    )


def differences(*tables, name="accuracy", study=accuracy, **options):
    table = pd.concat(tables)
    design = study.design(table) if study is accuracy else study.design(study.items(table))
    return compare(design, name, **({"rng": np.random.default_rng(0), "replicates": 4000} | options))


def test_two_judges_by_hand(rows):
    """30 and 20 of 40 right; 10 right for the first alone, none for the second alone."""
    found = differences(judged(rows, lambda i: i < 30, "a"), judged(rows, lambda i: i < 20, "b")).iloc[0]
    assert found[["value_1", "value_2", "difference"]].tolist() == [0.75, 0.5, 0.25]
    assert found[["only_1", "only_2", "n"]].tolist() == [10, 0, 40]
    assert found["p_mcnemar"] == pytest.approx(2 / 2**10)
    assert found["ci_low"] == pytest.approx(0.125, abs=0.026)
    error = np.sqrt(0.25 * 0.75 / 40)
    assert found["p"] == pytest.approx(2 * stats.norm.sf(0.25 / error), rel=0.5)
    assert found["detectable"] == pytest.approx(2.802 * error, rel=0.05)


def test_pairing_removes_what_items_share(rows):
    """Judges that agree on all but two items: the paired interval is far narrower than two unpaired ones."""
    coin = np.random.default_rng(0).random(40) < 0.5
    found = differences(
        judged(rows, lambda i: coin[i], "a"), judged(rows, lambda i: coin[i] if i > 1 else not coin[i], "b")
    ).iloc[0]
    assert found["ci_high"] - found["ci_low"] < 0.2
    assert found["only_1"] + found["only_2"] == 2


def test_only_shared_items_count(rows):
    long, short = judged(rows, lambda i: i < 20, "a"), judged(rows, lambda i: i < 10, "b", n=20)
    found = differences(long, short).iloc[0]
    assert found[["value_1", "value_2", "n"]].tolist() == [1, 0.5, 20]
    assert found["note"] == "20 items that only one has are left out"


def test_every_two_judges_in_every_setting_with_holm_over_all(rows):
    tables = [
        judged(rows, lambda i, k=k: i < k, judge, dataset=d)
        for judge, k in (("a", 10), ("b", 20), ("c", 35))
        for d in ("x", "y")
    ]
    found = differences(*tables)
    assert found[["dataset", "judge_1", "judge_2"]].to_numpy().tolist() == [
        [d, *pair] for d in "xy" for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    adjusted = multipletests(found["p_mcnemar"], method="holm")[1]
    assert found["p_mcnemar_holm"].tolist() == pytest.approx(adjusted.tolist())


def test_metrics_of_trust_are_compared_too(rows):
    steady = rows({f"p{i}": ("A", "AAA", "AAA") for i in range(10)}, judge="steady")
    shaky = rows({f"p{i}": ("A", "AAB" if i < 4 else "AAA", "AAA") for i in range(10)}, judge="wavers")
    found = {m: differences(steady, shaky, name=m, study=reliability).iloc[0] for m in ("C", "T", "phi")}
    assert found["C"]["difference"] == pytest.approx(4 / 20)
    assert found["T"]["difference"] == pytest.approx(4 / 20)
    assert np.isnan(found["C"]["p_mcnemar"])
    assert found["phi"][["difference", "p", "p_mcnemar"]].tolist() == [0, 1, 1]


def test_a_plan_for_more_items_detects_less(rows):
    tables = judged(rows, lambda i: i < 30, "a"), judged(rows, lambda i: i < 20, "b")
    now, then = (differences(*tables, planned=n).iloc[0] for n in (None, 160))
    assert then["detectable"] == pytest.approx(now["detectable"] / 2)
    assert then["planned"] == 160


def test_the_test_holds_its_level_when_judges_are_equally_good(rows):
    coins = np.random.default_rng(0).random((100, 2, 60)) < 0.6
    found = differences(
        *(
            judged(rows, lambda i, c=coins[run, j]: c[i], "ab"[j], n=60, dataset=f"run {run}")
            for run in range(100)
            for j in (0, 1)
        ),
        replicates=500,
    )
    assert len(found) == 100
    assert (found["p"] < 0.05).sum() <= 12
    assert (found["p_mcnemar"] < 0.05).sum() <= 12
    assert (found["p_holm"] < 0.05).sum() <= 1


def test_what_cannot_be_compared_is_said(rows):
    one = judged(rows, lambda i: i < 20, "a")
    with pytest.raises(TableError, match="no metric 'kappa'; choose accuracy"):
        differences(one, name="kappa")
    with pytest.raises(TableError, match="needs two judges on the same data set"):
        differences(one, judged(rows, lambda i: True, "b", dataset="other"))
    elsewhere = judged(rows, lambda i: True, "b").assign(item=lambda t: "q" + t["item"])
    with pytest.raises(TableError, match="a and b share no item"):
        differences(one, elsewhere)
    with pytest.raises(TableError, match="C is undefined for a on d: needs two readable repeats"):
        differences(one, judged(rows, lambda i: True, "b"), name="C", study=reliability)


@pytest.mark.parametrize(("one", "other", "p"), [(5, 1, 14 / 64), (0, 0, 1), (3, 3, 1), (0, 6, 2 / 64)])
def test_mcnemar_by_hand(one, other, p):
    assert mcnemar(one, other) == pytest.approx(p)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, np.nan, 0.9])[[0, 2]].tolist() == [1, 1]
    assert np.isnan(holm([np.nan])).all()


def test_p_and_power_by_hand():
    assert two_sided(np.array([0.0196, 0, 0.1]), np.array([0.01, 0, 0]))[:2] == pytest.approx([0.05, 1], abs=1e-4)
    assert np.isnan(two_sided(np.array([0.1]), np.array([0.0]))).all()
    assert detectable(np.array([0.02]), np.array([400]), 100) == pytest.approx([0.112], abs=1e-4)
