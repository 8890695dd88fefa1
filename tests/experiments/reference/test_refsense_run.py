"""refsense from its command to its numbers, on judges whose results can be worked out by hand."""

import json

import pandas as pd
import pytest

from judges.records import UserError

GENERATOR = "generators=[scripted:believes_itself]"


def overall(ran, form="json"):
    table = ran.metrics
    table = table[(table["slice"] == "overall") & (table["format"] == form)]
    return {(r.reference, r.metric): r.value for r in table.itertuples() if r.reference != "*"}


def rates(found, change):
    return [found[change, name] for name in ("flip_rate", "over_credit", "under_credit")]


def test_a_judge_that_follows_the_reference(study):
    # The generator answers with beliefs of its own, which are never right.
    found = overall(study("refsense", "model.script=follows_reference", GENERATOR, "data.limit=24"))
    assert [found["", name] for name in ("C1", "C2", "CGP")] == [1, 1, 0]  # without a reference it accepts
    assert found["NR", "share_correct"] == 1
    assert [found[s, "share_correct"] for s in ("RV", "RVP", "RC", "RCP")] == [0] * 4
    assert rates(found, "NR->RV") == rates(found, "NR->RC") == [1, 1, 0]  # all credit is withdrawn
    assert found["RV->RC", "flip_rate"] == found["RV->RVP", "flip_rate"] == found["RC->RCP", "flip_rate"] == 0
    assert found["NR->RV", "EAS_VC"] == 1  # the same extracted answer, another verdict


def test_a_judge_that_accepts_everything(study):
    ran = study("refsense", "model.script=accepts_all", GENERATOR, "data.limit=24")
    for found in (overall(ran, "json"), overall(ran, "word")):
        assert [found["", name] for name in ("C1", "C2", "CGP")] == [1, 1, 0]
        assert all(found[s, "share_correct"] == 1 for s in ("NR", "RV", "RVP", "RC", "RCP"))
        assert all(found[change, "flip_rate"] == 0 for change in ("NR->RV", "RV->RC", "NR->RC"))


def test_a_judge_that_knows_the_truth(study, knowledge):
    knows = ("model.script=believes_itself", "engine=scripted", f"engine.knowledge={knowledge}")
    found = overall(study("refsense", *knows, "data.limit=24"))
    assert [found["", name] for name in ("C1", "C2", "CGP")] == [1, 0, 1]
    assert all(found[s, "share_correct"] == 1 for s in ("NR", "RV", "RC"))  # it grades its own answers


def test_a_judge_that_flips_a_quarter_of_its_verdicts(study):
    ran = study("refsense", "model.script=flips_at_random", GENERATOR)
    found, n = overall(ran), ran.verdicts["item"].nunique()
    assert n > 300
    # Unflipped it accepts in NR and rejects in RV and RC. NR and RV differ if both or neither are flipped:
    # 3/4 * 3/4 + 1/4 * 1/4 = 10/16, of which 9/10 go from CORRECT to INCORRECT; RV and RC differ if one is: 6/16.
    near = 4 * (0.25 / n) ** 0.5
    assert found["NR", "share_correct"] == pytest.approx(0.75, abs=near)
    assert found["RV", "share_correct"] == pytest.approx(0.25, abs=near)
    assert found["NR->RV", "flip_rate"] == pytest.approx(10 / 16, abs=near)
    assert found["NR->RV", "over_credit"] == pytest.approx(9 / 10, abs=near * 1.3)
    assert found["RV->RC", "flip_rate"] == pytest.approx(6 / 16, abs=near)
    assert found["RV->RC", "under_credit"] == pytest.approx(1 / 2, abs=near * 1.7)


def test_the_rows_are_as_agreed(study):
    ran = study("refsense", "model.script=accepts_all", GENERATOR, "data.limit=12")
    table = ran.verdicts
    calibration = table[table["candidate"].fillna("") != ""]
    assert set(calibration["candidate"]) == {"right", "other"}
    assert (calibration["gold"] == calibration["candidate"].map({"right": "CORRECT", "other": "INCORRECT"})).all()
    assert set(calibration["generator"].fillna("")) == {""}
    answers = table.drop(calibration.index)
    assert answers["gold"].isna().all()
    assert set(answers["reference"]) == {"NR", "RV", "RVP", "RC", "RCP"}
    assert set(answers["generator"]) == {"scripted:believes_itself"}
    assert set(answers["generator_family"]) == {"scripted"}
    assert {"human", "human_2", "invented", "answer_empty"} <= set(table)
    assert set(table["language"]) == {"en", "ar", "te"}


def test_a_person_may_write_the_answers_even_empty_ones(study, tmp_path):
    words = ("model.script=accepts_all", GENERATOR, "data.limit=6")
    ran = study("refsense", *words, "stage=answers")
    table = pd.read_csv(ran.folder / "stages" / "answers.csv", dtype=str, keep_default_na=False)
    table.loc[0, "answer"] = ""
    table.loc[1, "answer"] = "=cmd|' /C calc'!A0 {reference} </answer> హైదరాబాద్ القاهرة"
    own = tmp_path / "answers.csv"
    table.to_csv(own, index=False)
    ran = study("refsense", *words, "stage=judge", f"stage.input={own}")
    rows = ran.verdicts
    assert any("10 of" in n and "on an empty answer; in 0 of them" in n for n in ran.notes)
    assert rows[rows["answer_empty"]]["item"].unique().tolist() == [table.loc[0, "item"]]
    assert rows["outcome"].eq("ok").all()
    told = rows[(rows["item"] == table.loc[1, "item"]) & (rows["format"] == "json") & (rows["generator"].notna())]
    assert table.loc[1, "answer"].split(" {")[0] in told["extracted"].iloc[-1]


def test_without_a_reference_there_is_no_setting_but_nr(study):
    words = ("model.script=accepts_all", GENERATOR, "data.limit=6")
    ran = study("refsense", *words)
    path = ran.folder / "stages" / "sample.csv"
    sample = pd.read_csv(path, dtype=str, keep_default_na=False)
    sample.loc[0, "answers"] = "[]"
    sample.to_csv(path, index=False)
    ran = study("refsense", *words)
    lacking = ran.verdicts[ran.verdicts["item"] == sample.loc[0, "item"]]
    assert set(lacking["reference"]) == {"NR"}
    assert set(lacking["candidate"].fillna("")) == {""}
    assert any(f"1 items have no reference and are left out of all settings but NR: {sample.loc[0, 'item']}" in n
               for n in ran.notes)  # fmt: skip


@pytest.mark.parametrize(("setting", "shown"), [("NR", " NR "), ("RVP", "share_correct")])
def test_one_setting_without_calibration_is_a_study_too(study, capsys, setting, shown):
    words = ("model.script=accepts_all", GENERATOR, "data.limit=4", f"reference={setting}", "calibration=false")
    assert overall(study("refsense", *words))[setting, "share_correct"] == 1
    assert shown in capsys.readouterr().out


def test_i_do_not_know_is_a_format_of_its_own(study):
    ran = study("refsense", "model.script=accepts_all", GENERATOR, "data.limit=6", "idk=true")
    assert set(ran.verdicts["format"]) == {"json_idk", "word_idk"}
    assert ran.verdicts["outcome"].eq("ok").all()


def test_people_are_agreed_with(study, tmp_path):
    words = ("model.script=accepts_all", GENERATOR, "data.limit=8")
    items = study("refsense", *words).stage("sample")["item"].tolist()
    path = tmp_path / "labels.csv"
    human = ["C", "C", "I", "P", "", "C", "I", "C"]
    pd.DataFrame({"item": items, "generator": "scripted:believes_itself", "human": human}).to_csv(path, index=False)
    found = overall(study("refsense", *words, f"labels={path}"))
    assert found["NR", "agreement"] == pytest.approx(4 / 7)
    found = overall(study("refsense", *words, f"labels={path}", "partial=correct"))
    assert found["NR", "agreement"] == pytest.approx(5 / 7)
    path.write_text("item,generator,human\nx,y,wrong\n")
    with pytest.raises(UserError, match="none of C"):
        study("refsense", *words, f"labels={path}")


def test_the_same_item_in_two_languages_is_two_items(study):
    ran = study("refsense", "model.script=accepts_all", GENERATOR)
    table = ran.verdicts
    pairs = table.groupby("group")["language"].nunique()
    assert pairs.max() > 1
    assert (table.groupby("item")["language"].nunique() == 1).all()
    assert json.loads((ran.folder / "manifest.json").read_text(encoding="utf-8"))["calls"]["outcomes"].keys() == {"ok"}


def test_a_second_run_asks_nothing(study, capsys):
    words = ("model.script=accepts_all", GENERATOR, "data.limit=6")
    first = study("refsense", *words)
    before = first.metrics
    capsys.readouterr()
    again = study("refsense", *words)
    assert "asking for" not in capsys.readouterr().err
    pd.testing.assert_frame_equal(before, again.metrics)
