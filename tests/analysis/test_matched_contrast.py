import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.matched import contrast, matched, panels, with_generators
from analysis.simulate import World, confounded, confounding, coverage, draw, main, verdicts
from analysis.verdicts import check

FAMILY = {"x": "f", "y": "f", "z": "g", "w": ""}


def table(answers, judges="xyz"):
    """Verdicts written as `{(item, generator): "1 0 1"}`, one character a judge; `-` unreadable, `.` not judged."""
    rows = [
        {"item": item, "generator": generator, "judge": judge, "said": said}
        for (item, generator), flags in answers.items()
        for judge, said in zip(judges, flags.split(), strict=True)
        if said != "."
    ]
    found = pd.DataFrame(rows)
    return found.assign(
        study="any",
        dataset="d",
        order="AB",
        gold=None,
        winner=None,
        grade=found["said"].map({"1": "CORRECT", "0": "INCORRECT"}).astype(object),
        outcome=np.where(found["said"] == "-", "unreadable", "ok"),
        judge_family=found["judge"].map(FAMILY),
        generator_family=found["generator"].map(FAMILY).fillna(""),
    ).drop(columns="said")


def response(rows):
    return rows["grade"].map({"CORRECT": 1.0, "INCORRECT": 0.0})


def find(answers, judges="xyz", **options):
    rows = table(answers, judges)
    found = matched(rows, response(rows), rng=np.random.default_rng(0), **{"replicates": 200} | options)
    return found.set_index(["generator", "slice"])


def panel(answers, judges="xyz"):
    rows = with_generators(check(table(answers, judges)))
    said = response(rows)
    return next(panels(rows, {"said": said.fillna(0), "known": said.notna().astype(float)}))


def test_matching_judge_less_the_mean_of_the_others():
    found = find({("1", "x"): "1 0 1", ("2", "x"): "0 1 1", ("3", "y"): "1 1 0"})
    # 1 - 1/2, 0 - 1, 1 - 1/2
    assert found.loc[("*", "overall"), ["value", "n"]].tolist() == [0, 3]
    assert found.loc[("x", "overall"), "value"] == pytest.approx(-0.25)
    assert found.loc[("y", "overall"), "value"] == 0.5
    assert set(found["metric"]) == {"same_model_delta"}
    assert set(found["judge"]) == {"*"}


def test_families_are_compared_by_their_means():
    found = find({("1", "x"): "1 0 1", ("2", "w"): "1 1 1", ("3", "z"): "0 1 1"}, by="family")
    # (1 + 0)/2 - 1; w has no family; 1 - (0 + 1)/2
    assert found.loc[("*", "overall"), ["value", "n"]].tolist() == [0, 2]
    assert set(found["metric"]) == {"same_family_delta"}


def test_answers_that_cannot_be_paired_are_counted():
    found = find({("1", "x"): "1 0 1", ("2", "x"): "1 - 0", ("3", "x"): "1 . 0", ("4", "q"): "1 1 1"})
    assert found["n"].tolist() == [1, 1]
    note = found["note"].iloc[0]
    assert "2 of 4 answers left out, without the verdicts to pair" in note
    assert "1 of 4 answers left out, without both a matching and another judge" in note
    assert found["share_unreadable"].iloc[0] == pytest.approx(1 / 11)


def test_available_verdicts_pair_as_far_as_they_go():
    found = contrast(panel({("1", "x"): "1 0 .", ("2", "x"): "- 1 1", ("3", "x"): "1 - -"}), pairing="available")
    assert found.delta.tolist() == [1, pytest.approx(np.nan, nan_ok=True), pytest.approx(np.nan, nan_ok=True)]


def test_repeats_are_averaged_before_judges_are():
    rows = pd.concat([table({("1", "x"): f"{a} 0"}, "xy").assign(repeat=k) for k, a in enumerate("110")])
    found = matched(rows, response(rows), rng=np.random.default_rng(0), replicates=0)
    assert found["value"].iloc[0] == pytest.approx(2 / 3)


def test_settings_and_data_sets_are_kept_apart():
    rows = table({("1", "x"): "1 0", ("2", "x"): "1 0"}, "xy")
    both = pd.concat([rows.assign(reference="NR"), rows.assign(reference="RV", grade="CORRECT")])
    found = matched(both, response(both), rng=np.random.default_rng(0), replicates=9).set_index("reference")
    assert found.loc["NR", "value"].tolist() == [1, 1]
    assert found.loc["RV", "value"].tolist() == [0, 0]


def test_slices_are_parts_of_the_answers():
    rows = table({("1", "x"): "1 0", ("2", "x"): "0 0"}, "xy")
    own = {"first": rows["item"] == "1", "none": rows["item"] == "3"}
    found = matched(rows, response(rows), rng=np.random.default_rng(0), slices=own, replicates=9)
    found = found[found["generator"] == "*"].set_index("slice")
    assert found.loc["first", "value"] == 1
    assert np.isnan(found.loc["first", "ci_low"])
    assert found.loc["none", "n"] == 0
    assert found.loc["none", "note"].startswith("undefined: needs")


def test_what_cannot_be_compared_is_said():
    with pytest.raises(TableError, match="needs at least two judges; d has only x"):
        find({("1", "x"): "1"}, "x")
    with pytest.raises(TableError, match="'generator' is empty everywhere"):
        find({("1", ""): "1 0"}, "xy")
    rows = table({("1", "x"): "1 0"}, "xy").assign(group=["a", "b"])
    with pytest.raises(TableError, match="'group' differs between rows of one answer: rows 0, 1"):
        matched(rows, response(rows), rng=np.random.default_rng(0))
    with pytest.raises(TableError, match="no rows"):
        matched(rows[:0], response(rows[:0]), rng=np.random.default_rng(0))


@settings(max_examples=12)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.tuples(*[st.sampled_from("01")] * 3)), min_size=2, max_size=12))
def test_on_complete_answers_a_generators_effect_is_that_of_its_column(answers):
    """Every judge sees the same answers, so the mean of the differences is the difference of the means."""
    found = find({(str(i), g): " ".join(flags) for i, (g, flags) in enumerate(answers)}, replicates=0)["value"]
    for g in {g for g, _ in answers}:
        own = np.array([[int(flag) for flag in flags] for of, flags in answers if of == g]).mean(axis=0)
        at = "xyz".index(g)
        assert found[(g, "overall")] == pytest.approx(own[at] - np.delete(own, at).mean())


def test_intervals_cover_a_known_leniency():
    world = World(records=150, lenient=0.1, harder={"z": 0.2})
    assert coverage(world, 200, np.random.default_rng(20_260_627), replicates=500) >= 0.93


def test_harder_answers_bias_the_raw_contrast_and_not_the_paired_one():
    world = World(records=2000, lenient=0.05)
    found = confounded(world, (0.0, 0.3), np.random.default_rng(0), replicates=200).set_index(["metric", "harder"])
    for harder in (0.0, 0.3):
        low, high = found.loc[("recall_delta", harder), ["ci_low", "ci_high"]]
        assert low <= -0.05 <= high
    # The raw contrast takes the difficulty for leniency: -0.05 - 0.3.
    raw = found.loc[("raw_recall_delta", 0.3)]
    assert raw["value"] == pytest.approx(-0.35, abs=0.05)
    assert raw["ci_high"] < -0.25
    assert found.loc[("recall_delta", 0.3), "value"] == pytest.approx(-0.05, abs=0.04)


def test_simulated_verdicts_are_a_verdict_table():
    drawn = draw(World(records=20), np.random.default_rng(0))
    assert len(check(verdicts(drawn))) == 20 * 9
    assert contrast(drawn).delta.shape == (60,)
    with pytest.raises(TableError, match="all chances lie between 0 and 1"):
        draw(World(lenient=2), np.random.default_rng(0))


def test_the_figure_is_a_command(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "confounding.png"), "--records", "30"]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"confounding.png", "confounding.svg"}
    assert "raw_recall_delta" in capsys.readouterr().out
    assert main(["--out", str(tmp_path / "f"), "--lenient", "5"]) == 2
    assert "error: no such world" in capsys.readouterr().err
    found = confounded(World(records=20), (0.0,), np.random.default_rng(0), replicates=0)
    assert confounding(found, 0.0).axes
