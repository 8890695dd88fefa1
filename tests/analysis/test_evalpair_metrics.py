import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import CHOICES, SEEDS, UNREADABLE, main
from analysis.columns import TableError
from analysis.evalpair import design, evalpair, items
from analysis.studies import STUDIES, Options, find
from analysis.verdicts import write

STUDY = STUDIES["evalpair"]
BEHAVIOUR = {"A": "context_follow", "B": "both_claims", "M": "memory_override", "R": "refusal", "-": ""}


def verdicts(answers, judges="xy", **columns):
    """Verdicts written as `{(record, generator, behaviour): "1 0"}`: one flag a judge, `?` unreadable, `.` none.

    Behaviours A and B adopt the claim, `-` has no label.
    """
    rows = [
        {
            "item": record,
            "generator": generator,
            "judge": judge,
            "behaviour": BEHAVIOUR[b],
            "gold": None if b == "-" else "ERROR" if b in "AB" else "NO_ERROR",
            "grade": {"1": "ERROR", "0": "NO_ERROR"}.get(flag),
            "outcome": "unreadable" if flag == "?" else "ok",
        }
        for (record, generator, b), flags in answers.items()
        for judge, flag in zip(judges, flags.split(), strict=True)
        if flag != "."
    ]
    fixed = {"study": "evalpair", "dataset": "d", "order": "AB", "winner": None} | columns
    return pd.DataFrame(rows).assign(**fixed)


ANSWERS = {
    ("1", "x", "A"): "1 1",
    ("2", "x", "A"): "0 1",
    ("3", "x", "R"): "1 0",
    ("4", "x", "M"): "0 0",
    ("1", "y", "A"): "1 0",
    ("2", "y", "B"): "1 1",
    ("3", "y", "R"): "0 ?",
    ("4", "y", "-"): "1 1",
}


def metrics(answers=ANSWERS, judges="xy", replicates=0, columns=None, **options):
    table = verdicts(answers, judges, **columns or {})
    return evalpair(table, rng=np.random.default_rng(0), replicates=replicates, **options)


def value(found, metric, judge="*", generator="*", slice_="overall"):
    row = found[(found["metric"] == metric) & (found["slice"] == slice_)]
    return row[(row["judge"] == judge) & (row["generator"] == generator)]["value"].item()


def test_cells_count_verdicts_against_adoption():
    found = metrics()
    own = {name: value(found, name, "x", "x") for name in ("n", "adopted", "TP", "FP", "FN", "TN")}
    assert own == {"n": 4, "adopted": 2, "TP": 1, "FP": 1, "FN": 1, "TN": 1}
    assert value(found, "precision", "x", "x") == 0.5
    assert value(found, "recall", "y", "x") == 1
    assert value(found, "f1", "y", "x") == 1
    assert value(found, "f1_row_mean", "x") == pytest.approx((0.5 + 1) / 2)
    assert value(found, "f1_column_mean", "*", "x") == pytest.approx((0.5 + 1) / 2)
    # Cells (x, x) 1/2 and (y, y) 2/3 on the diagonal; (y, x) 1 and (x, y) 1 off it.
    assert value(found, "f1_diagonal_mean") == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert value(found, "f1_off_diagonal_mean") == 1
    assert value(found, "raw_recall_delta", "x") == pytest.approx(1 / 2 - 1)


def test_unlabelled_answers_are_in_no_cell_but_are_flagged():
    found = metrics()
    assert [value(found, name, "x", "y") for name in ("n", "TP", "FP", "FN", "TN")] == [4, 2, 0, 0, 1]
    assert value(found, "flag_rate", "x", "y") == 3 / 4
    assert value(found, "flag_rate", slice_="unlabeled") == 1
    assert np.isnan(value(found, "false_positive_rate", slice_="unlabeled"))


def test_paired_effects_compare_judges_on_the_same_answer():
    found = metrics()
    # Adopted: x on x 0, -1; y on y -1, 0.
    assert value(found, "recall_delta") == -0.5
    assert value(found, "recall_delta", "*", "x") == -0.5
    # Avoided: x on x 1, 0; y's verdict on (3, y) could not be read.
    assert value(found, "avoided_delta") == 0.5
    assert value(found, "all_delta") == pytest.approx((0 - 1 + 1 + 0 - 1 + 0 + 0) / 7)
    assert value(found, "recall_delta", slice_="context_follow") == pytest.approx(-2 / 3)
    assert value(found, "recall_delta", slice_="context_and_both") == -0.5
    assert (
        "1 of 8 answers left out, without the verdicts to pair" in found.query("metric == 'all_delta'")["note"].iloc[0]
    )


def test_a_missed_reading_is_no_flag_if_asked_for():
    found = metrics(unreadable="miss")
    assert value(found, "TN", "y", "y") == 1
    assert value(found, "avoided_delta") == pytest.approx((1 + 0 + 0) / 3)
    lost = {("1", "x", "A"): "? 1", ("2", "x", "A"): "1 1"}
    assert value(metrics(lost), "recall", "x", "x") == 1
    assert value(metrics(lost, unreadable="miss"), "recall", "x", "x") == 0.5
    assert [value(metrics(lost), f"recall_{end}", "x", "x") for end in ("worst", "best")] == [0.5, 1]


def test_validated_records_make_the_main_results():
    rows = verdicts(ANSWERS)
    rows["status"] = np.where(rows["item"] == "2", "diagnostic", "validated")
    found = evalpair(rows, rng=np.random.default_rng(0), replicates=0)
    assert value(found, "recall_delta", slice_="validated") == -0.5
    assert value(found, "recall_delta", slice_="diagnostic") == -0.5
    assert value(found, "answers", slice_="context_follow") == 2
    assert value(found, "n", "*", "x", "context_follow") == 2
    assert value(found, "records") == 4


def test_no_event_has_a_bound_by_the_rule_of_three():
    answers = {(str(i), "x", "M"): "0 0" for i in range(14)}
    found = metrics(answers, replicates=50)
    row = found[(found["slice"] == "memory_override") & (found["metric"] == "false_positive_rate")].iloc[0]
    assert row[["value", "ci_low", "ci_high", "n"]].tolist() == [0, 0, pytest.approx(3 / 14), 28]
    assert row["note"] == "rule of three over 14 records"


def test_a_share_of_everything_has_a_bound_and_f1_has_none():
    found = metrics({(str(i), "x", "A"): "1" for i in range(30)}, "x", replicates=50)
    own = found[(found["judge"] == "x") & (found["generator"] == "x")].set_index("metric")
    assert own.loc["recall", ["value", "ci_low", "ci_high"]].tolist() == [1, 0.9, 1]
    assert own.loc["f1", ["value", "ci_low", "ci_high"]].tolist() == [1, 1, 1]
    strata = find(STUDY, verdicts({("1", "x", "A"): "1 1"}), Options("drop", replicates=0)).tables["strata"]
    assert strata["behaviour"].tolist() == ["context_follow"]


def test_one_judge_has_a_matrix_and_no_paired_effects():
    found = find(STUDY, verdicts({k: v[0] for k, v in ANSWERS.items()}, "x"), Options("drop", replicates=0))
    assert {"matrix", "cells", "strata"} <= set(found.tables)
    for name in ("paired", "paired_slices", "raw_and_paired"):
        assert "needs at least two judges" in found.absent[name]
    assert "needs judges of two families" in found.absent["families"]
    assert set(found.items["left_out"]) == {"no match"}


def test_any_number_of_judges_and_generators():
    flags = np.random.default_rng(0).integers(2, size=(40, 3, 5)).astype(str)
    answers = {(str(i), g, "A"): " ".join(flags[i, j]) for i in range(40) for j, g in enumerate("xyq")}
    found = metrics(answers, "xyzuv")
    assert len(found.query("metric == 'recall' and judge != '*' and slice == 'overall'")) == 15
    delta = found[(found["metric"] == "recall_delta") & (found["slice"] == "overall")].set_index("generator")
    assert set(delta.index) == {"*", "x", "y"}
    assert delta.loc["*", "n"] == 80
    assert "40 of 120 answers left out, without both a matching and another judge" in delta.loc["*", "note"]


def test_tables_and_figures_need_nothing_that_is_optional():
    bare = verdicts(ANSWERS).drop(columns="behaviour")
    found = find(STUDY, bare, Options("drop", replicates=20))
    assert {"matrix", "cells", "paired", "policies"} <= set(found.tables)
    assert found.absent["strata"] == "column 'behaviour' is empty: nobody has labelled the answers"
    for name in ("behaviours", "generation", "localisation", "perturbations", "modified_passages"):
        assert "empty" in found.absent[name]
    assert all(draw(found.metrics) for draw in STUDY.figures.values())


def test_matrix_is_laid_out_as_in_the_source():
    table = find(STUDY, verdicts(ANSWERS), Options("drop", replicates=0)).tables["matrix"]
    assert list(table) == ["dataset", "judge", "x P", "x R", "x F1", "y P", "y R", "y F1", "mean F1"]
    assert table["judge"].tolist() == ["x", "y", "mean", "diagonal mean", "off-diagonal mean"]
    assert table.loc[0, ["x P", "x R", "x F1", "mean F1"]].tolist() == ["0.500", "0.500", "0.500", "0.750"]
    policies = find(STUDY, verdicts(ANSWERS), Options("drop", replicates=0)).tables["policies"]
    assert set(policies["judge"]) == {"x", "y"}


def test_items_say_what_became_of_each_answer():
    found = items(verdicts(ANSWERS)).set_index(["item", "generator"])
    assert found.loc[("2", "x"), ["own", "others", "delta", "left_out"]].tolist() == [0, 1, -1, ""]
    assert found.loc[("3", "y"), "left_out"] == "incomplete"
    assert np.isnan(found.loc[("4", "y"), "adopted"])


def test_design_has_a_unit_for_each_judged_answer():
    found = design(verdicts(ANSWERS | {("5", "x", "A"): "1 ."}))
    assert len(found.units) == 17
    assert found.terms["TP"].sum() == 7


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"grade": "CORRECT"}, "'grade' must be ERROR or NO_ERROR: rows 0, 1, 2, 3, 4 and 3 more say 'CORRECT'"),
        ({"gold": "A"}, "'gold' must be ERROR or NO_ERROR"),
        ({"behaviour": "other"}, "'behaviour' must be one of context_follow"),
        ({"status": "good"}, "'status' must be one of validated, diagnostic"),
        ({"generator": ""}, "'generator' is empty everywhere"),
        ({"cites_modified": "perhaps"}, "'cites_modified' must be true or false"),
    ],
)
def test_faulty_tables_are_refused(change, says):
    table = verdicts({key: flags for key, flags in ANSWERS.items() if key[1] == "x"}).assign(**change)
    with pytest.raises(TableError, match=says):
        evalpair(table, rng=np.random.default_rng(0))


def test_an_answer_has_one_label():
    table = verdicts(ANSWERS)
    table.loc[0, "gold"] = "NO_ERROR"
    with pytest.raises(TableError, match="'gold' differs between rows of one answer: rows 0, 1"):
        evalpair(table, rng=np.random.default_rng(0))


def test_equal_seeds_and_other_orders_of_rows_give_equal_numbers():
    table = verdicts(ANSWERS)
    one = evalpair(table, rng=np.random.default_rng(3), replicates=50)
    other = evalpair(table.sample(frac=1, random_state=0), rng=np.random.default_rng(3), replicates=50)
    pd.testing.assert_frame_equal(one, other)


def test_the_command_writes_tables_and_figures(tmp_path, capsys):
    table = verdicts(ANSWERS, perturbation_type="entity", perturber="=x", cites_modified=True, status="validated")
    write(table, tmp_path / "v.csv")
    arguments = ["evalpair", str(tmp_path / "v.csv"), "--out", str(tmp_path / "out"), "--replicates", "50", "--figures"]
    assert main(arguments) == 0
    assert "mean F1" in capsys.readouterr().out
    made = {p.name for p in (tmp_path / "out" / "figures").iterdir()}
    assert made == {f"{name}.{kind}" for name in STUDY.figures for kind in ("svg", "png")}
    assert "'=x" not in (tmp_path / "out" / "tables" / "paired.csv").read_text(encoding="utf-8")
    expected = evalpair(table, rng=np.random.default_rng(20_260_627), replicates=50)
    written = pd.read_csv(tmp_path / "out" / "metrics.csv")
    assert written["ci_low"].to_numpy() == pytest.approx(expected["ci_low"].to_numpy(), nan_ok=True)


def test_the_command_knows_the_studys_rules():
    assert UNREADABLE["evalpair"][0] == STUDY.rules
    assert {name: values for name, (values, _) in CHOICES["evalpair"].items()} == STUDY.choices
    assert all(STUDIES[name].seed == seed for name, seed in SEEDS.items())
