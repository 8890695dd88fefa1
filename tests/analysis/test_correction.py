import numpy as np
import pandas as pd
import pytest

from analysis.columns import TableError
from analysis.corrected import corrected, read_labels
from analysis.correction import labels_needed, prediction_powered, rogan_gladen, tuned


def judge(rate, sensitivity, specificity, n, rng):
    """Truths and verdicts of n items."""
    truth = (rng.random(n) < rate).astype(float)
    return truth, np.where(truth == 1, rng.random(n) < sensitivity, rng.random(n) > specificity).astype(float)


@pytest.mark.parametrize("labels", [50, 200, 1000])
@pytest.mark.parametrize(("rate", "sensitivity", "specificity"), [(0.7, 0.85, 0.75), (0.9, 0.9, 0.6), (0.2, 0.95, 0.9)])
def test_intervals_hold_the_true_rate_as_often_as_they_should(labels, rate, sensitivity, specificity):
    rng, hits = np.random.default_rng(labels), []
    for _ in range(500):
        y, f = judge(rate, sensitivity, specificity, 4000 + labels, rng)
        data = f[labels:], f[:labels], y[:labels]
        hits.append([r.low <= rate <= r.high for r in (rogan_gladen(*data), prediction_powered(*data))])
    assert (np.mean(hits, axis=0) >= 0.93).all()


def test_prediction_powered_inference_is_its_formula():
    """By the source: rate = mean(y) + w (mean of f over the others - mean of f over the labelled)."""
    y, few = np.array([1, 1, 0, 1, 0, 0.0]), np.array([1, 1, 0, 0, 0, 1.0])
    many = np.array([1, 1, 1, 0, 1, 0, 1, 1.0])
    pooled = np.concatenate([many, few]).var()
    w = np.cov(y, few, ddof=0)[0, 1] / ((1 + 6 / 8) * pooled)
    assert tuned(many, few, y) == pytest.approx(w)
    assert prediction_powered(many, few, y).value == pytest.approx(0.5 + w * (0.75 - 0.5))


def test_better_verdicts_make_the_interval_narrower_and_useless_ones_no_wider():
    rng = np.random.default_rng(0)
    widths = []
    for skill in (0.5, 0.8, 0.99):
        y, f = judge(0.6, skill, skill, 5200, rng)
        rate = prediction_powered(f[200:], f[:200], y[:200])
        widths.append(rate.high - rate.low)
    alone = 2 * 1.96 * np.sqrt(0.24 / 200)
    assert widths[2] < 0.4 * alone < widths[1] < widths[0] < 1.05 * alone


def test_rogan_gladen_undoes_known_errors():
    """Judge says 0.62 = 0.8 x + 0.2 (1 - x): x = 0.7."""
    many = np.repeat([1.0, 0.0], [620, 380])
    few, gold = np.repeat([1.0, 0.0, 1.0, 0.0], [80, 20, 20, 80]), np.repeat([1.0, 0.0], 100)
    rate = rogan_gladen(many, few, gold)
    assert rate.value == pytest.approx(0.7)
    assert rate.low < 0.7 < rate.high


@pytest.mark.parametrize(
    ("few", "gold", "why"),
    [([1, 0, 1], [1, 1, 1], "all 3 are positive"), ([1, 0], [0, 0], "all 2 are negative"), ([0, 1], [1, 0], "no more")],
)
def test_where_nothing_is_known_of_the_judge_no_rate_is_ruled_out(few, gold, why):
    rate = rogan_gladen(np.array([1.0, 0.0]), np.array(few, dtype=float), np.array(gold, dtype=float))
    assert np.isnan(rate.value)
    assert (rate.low, rate.high) == (0, 1)
    assert why in rate.note


def test_the_labels_needed_give_the_width_asked_for():
    rng = np.random.default_rng(4)
    y, f = judge(0.6, 0.9, 0.85, 6000, rng)
    needed = labels_needed(f[500:], f[:500], y[:500], 0.08)
    rate = prediction_powered(f[needed:], f[:needed], y[:needed])
    assert rate.high - rate.low == pytest.approx(0.08, rel=0.1)
    assert labels_needed(f[500:], f[:500], y[:500], 0.001) == 0


@pytest.fixture
def graded():
    rng = np.random.default_rng(0)
    y, f = judge(0.7, 0.9, 0.8, 400, rng)
    table = pd.DataFrame({"item": [f"i{i}" for i in range(400)], "grade": np.where(f == 1, "CORRECT", "INCORRECT")})
    table = table.assign(study="s", judge="j", dataset="d", gold=None, order="AB", winner=None, outcome="ok")
    labels = pd.DataFrame({"item": table["item"], "gold": np.where(y == 1, "CORRECT", "INCORRECT")})
    return table, labels[:100]


def test_the_table_has_every_estimator_for_every_cell(graded):
    table, labels = graded
    found = corrected(pd.concat([table, table.assign(judge="k")]), labels).set_index(["judge", "estimator"])
    assert found.index.tolist() == [(j, e) for j in "jk" for e in ("judge", "labels", "rogan_gladen", "ppi++")]
    assert (found["estimand"] == "grade = CORRECT").all()
    assert (found["n"] == 300).all()
    assert (found["labels"] == 100).all()
    assert found.loc[("j", "labels"), "value"] == (labels["gold"] == "CORRECT").mean()
    assert found.loc[("j", "judge"), "value"] == (table["grade"] == "CORRECT").mean()
    said = table[:100].set_index("item")["grade"] == "CORRECT"
    true = (labels["gold"] == "CORRECT").to_numpy()
    assert found.loc[("j", "rogan_gladen"), "sensitivity"] == pytest.approx(said[true].mean())
    assert found.loc[("j", "rogan_gladen"), "specificity"] == pytest.approx(1 - said[~true].mean())
    assert found.loc[("j", "ppi++"), "labels_needed"] > 100


def test_items_that_come_in_groups_are_said_to_be_taken_as_independent(graded):
    table, labels = graded
    assert not corrected(table, labels)["note"].str.contains("groups").any()
    together = table.assign(group=["g" if i < 2 else f"g{i}" if i < 9 else "" for i in range(len(table))])
    assert corrected(together, labels)["note"].str.contains(r"groups of items \(1\)").all()


def test_pairs_are_read_as_the_share_of_verdicts_for_a(rows):
    table = rows({f"p{i}": (None, "AAB", "ABB") for i in range(5)})
    labels = pd.DataFrame({"item": ["p0", "p1"], "gold": ["A", "tie"]})
    found = corrected(table, labels).set_index("estimator")
    assert found.loc["judge", "value"] == pytest.approx(0.5)
    assert found.loc["labels", "value"] == 0.5
    assert corrected(table, labels, positive="tie").set_index("estimator").loc["judge", "value"] == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([("i0", "CORRECT"), ("i0", "INCORRECT")], "two gold labels: rows 0, 1"),
        ([("i0", "CORRECT"), ("i9999", "CORRECT")], "were not judged: row 1"),
        ([("i0", "right"), ("i1", "CORRECT")], "'right' in row 0 is unknown; .* one of CORRECT, INCORRECT"),
        ([("i0", ""), ("i1", "CORRECT")], "'gold' is empty in row 0"),
        ([(None, "CORRECT")], "'item' is empty in row 0"),
        ([], "has no rows"),
        ([("i0", "CORRECT")], "only 1 readable item has a gold label"),
    ],
)
def test_faulty_labels_are_named(graded, labels, message):
    with pytest.raises(TableError, match=message):
        corrected(graded[0], pd.DataFrame(labels, columns=["item", "gold"]))


def test_a_cell_without_labels_has_what_the_judge_says_and_says_why_no_more(graded):
    table, labels = graded
    elsewhere = table.assign(dataset="unlabelled")
    both = pd.concat([table, elsewhere], ignore_index=True)
    found = corrected(both, labels.assign(dataset=table["dataset"].iloc[0]))
    pd.testing.assert_frame_equal(
        found[found["dataset"] != "unlabelled"].reset_index(drop=True), corrected(table, labels).reset_index(drop=True)
    )
    bare = found[found["dataset"] == "unlabelled"].query("judge == 'j'").set_index("estimator")
    assert bare.loc["judge", "value"] == found.query("dataset != 'unlabelled' and judge == 'j'")["value"].iloc[0]
    assert bare["value"].drop("judge").isna().all()
    assert (bare["note"].drop("judge") == "undefined: only 0 readable items have a gold label").all()
    assert bare["labels_needed"].isna().all()


def test_an_item_of_two_data_sets_needs_the_data_set(graded):
    table, labels = graded
    table = pd.concat([table, table.assign(dataset="e")])
    with pytest.raises(TableError, match="several data sets; add a column dataset"):
        corrected(table, labels)
    both = pd.concat([labels.assign(dataset=d) for d in "de"], ignore_index=True)
    assert corrected(table, both)["dataset"].unique().tolist() == ["d", "e"]


def test_mixed_tables_and_labels_that_no_verdict_has_are_refused(graded, rows):
    table, labels = graded
    with pytest.raises(TableError, match="on pairs and on single answers"):
        corrected(pd.concat([table, rows({"p": ("A", "A", "A")})]), labels)
    with pytest.raises(TableError, match="no verdict is 'GOOD'"):
        corrected(table, labels, positive="GOOD")


def test_labels_are_read_from_files_whose_rows_are_named(tmp_path):
    pd.DataFrame({"item": ["1", "=2"], "gold": ["A", "B"]}).to_csv(tmp_path / "gold.csv", index=False)
    assert read_labels(tmp_path / "gold.csv")["item"].tolist() == ["1", "=2"]
    pd.DataFrame({"id": ["1"]}).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(TableError, match="has no column item, gold"):
        read_labels(tmp_path / "other.csv")
