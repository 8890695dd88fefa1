"""evalpair from grounded records to the files of a run folder, on scripts and on edited tables."""

import json

import pandas as pd
import pytest

from analysis import files, verdicts
from experiments import sweep


def stage(folder, name):
    return files.load(folder / "stages" / f"{name}.csv", ())


def test_scripts_make_a_perfect_matrix(evalpair):
    folder = evalpair()
    rows = verdicts.read([folder / "verdicts.parquet"])
    assert len(rows) == 42 and set(rows["outcome"]) == {"ok"} and set(rows["status"]) == {"validated"}
    # The scripted generator repeats the first passage: if the perturbation changed that, the answer adopts the claim.
    assert (rows["grade"] == rows["gold"]).all() and (rows["gold"] == "ERROR").sum() == 39
    flagged = rows[rows["grade"] == "ERROR"]
    assert flagged["cites_modified"].all() and flagged["claim_has_replacement"].all()
    assert rows["answer_cites_modified"].sum() == 39 and not rows["answer_refused"].any()
    metrics = pd.read_csv(folder / "metrics.csv")
    recall = metrics.query("metric == 'recall' and slice == 'validated'")
    assert (recall["value"] == 1).all() and len(recall)


def test_the_manifest_says_who_played_what_and_how_records_were_selected(evalpair):
    folder = evalpair("data.limit=7")
    note = json.loads((folder / "manifest.json").read_text())
    assert set(note["model"]) == {"perturber", "validator", "generator", "labeller", "judge"}
    assert {model["name"] for cast in note["model"].values() for model in cast} == {"scripted:coin"}
    assert note["data"]["funnel"] == {
        "read": 47, "valid": 46, "seeking": 45, "no_false_premise": 44, "validated": 43, "eligible": 42, "selected": 7,
    }  # fmt: skip
    assert note["data"]["items"] == 7 and len(note["data"]["items_sha256"]) == 64
    assert set(note["prompts"]) == {f"grounded/{s}" for s in ("perturb", "validate", "generate", "label", "judge")}
    assert note["calls"]["total"] == 35 and len(stage(folder, "select")) == 7


def test_every_verdict_says_who_made_what_it_is_about(evalpair):
    rows = verdicts.read([evalpair("data.limit=3") / "verdicts.parquet"])
    for role in ("judge", "generator", "perturber", "labeller"):
        assert set(rows[role]) == {"scripted"} and set(rows[f"{role}_family"]) == {"scripted"}


def test_a_panel_has_one_folder_in_sweeps_too(tmp_path):
    plain = {"study": "evalpair", "data": {"label": "d"}, "model": {"name": "m"}, "root": str(tmp_path), "panel": "p"}
    assert sweep.point(plain).folder == tmp_path / "evalpair" / "d" / "p"


def test_every_gate_has_a_row_with_its_evidence(evalpair):
    gates = stage(evalpair("data.limit=5"), "validate")
    assert gates.groupby("item").size().tolist() == [13] * 5
    assert set(gates["by"]) == {"model", "code"} and gates["passed"].all()


def test_no_perturbed_passage_without_its_provenance(evalpair):
    folder = evalpair("data.limit=4")
    table = stage(folder, "perturb")
    rewritten = table["rewritten"] != ""
    said = table.loc[rewritten, "provenance"]
    form = r"synthetic counterfactual of grounded_demo \S+ passage \S+ \(sha256 \w{16}\), written by scripted"
    assert said.str.fullmatch(form).all()
    files.save(table.assign(provenance=""), folder / "stages" / "perturb.csv")
    assert "has no provenance" in evalpair("data.limit=4", fails=True)


def test_a_passage_edited_by_hand_is_checked_again(evalpair):
    folder = evalpair("data.limit=4")
    table = stage(folder, "perturb")
    row = table.index[table["rewritten"] != ""][0]
    table.loc[row, "rewritten"] = table.loc[row, "rewritten"] + " Once it was " + table.loc[row, "original"] + "."
    files.save(table, folder / "stages" / "perturb.csv")
    evalpair("data.limit=4")
    pool = stage(folder, "pool").set_index("item")
    edited = pool.loc[table.loc[row, "item"]]
    assert edited["status"] == "diagnostic" and "gone" in edited["failed"]
    assert (pool["status"] == "validated").sum() == 3


def test_one_stage_alone_wants_its_input(evalpair):
    said = evalpair("data.limit=3", "stage=generate", fails=True)
    assert "stage validate needs the table of stage perturb" in said and "3 of the 3 calls" in said
    assert "stage=perturb" in said
    for name in ("select", "perturb", "validate", "pool", "generate", "label", "judge"):
        folder = evalpair("data.limit=3", f"stage={name}")
    assert len(verdicts.read([folder / "verdicts.parquet"])) == 3


def test_rows_of_one_perturbation_that_contradict_each_other(evalpair):
    folder = evalpair("data.limit=2")
    table = stage(folder, "perturb")
    table.loc[table.index[0], "replacement"] = "something else"
    files.save(table, folder / "stages" / "perturb.csv")
    assert "make them agree" in evalpair("data.limit=2", fails=True)


def test_two_judges_and_two_generators_of_different_families(evalpair):
    cast = ["perturbers=[scripted]", "generators=[scripted,scripted:first]", "judges=[scripted,scripted:first]",
            "labeller=scripted"]  # fmt: skip
    folder = evalpair("data.limit=4", cast=cast)
    rows = verdicts.read([folder / "verdicts.parquet"])
    assert rows.groupby(["judge", "generator"]).size().tolist() == [4] * 4
    effect = pd.read_csv(folder / "metrics.csv").query("metric == 'recall_delta' and slice == 'validated'")
    assert (effect["value"] == 0).all() and len(effect)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["labeller=nobody"], "no judge is called 'nobody'"),
        (["judges=[scriptd]"], "did you mean 'scripted'?"),
        (["data.limit=0"], "data.limit"),
        (["stage=jugde"], "'judge'"),
        (["stage.input=x.csv"], "name it: stage=NAME"),
    ],
)
def test_mistakes_are_named(evalpair, words, says):
    assert says in evalpair(*words, fails=True)
