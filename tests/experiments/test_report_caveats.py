from pathlib import Path

import pandas as pd
import pytest

from analysis.verdicts import check
from experiments.caveats import of_verdicts
from experiments.designs import designs, differences
from experiments.run_caveats import of_runs
from experiments.runs import Run


def rows(n=40, repeats=5, orders=("AB", "BA"), **columns):
    """A whole design: n items, half with gold A, all judged A."""
    table = pd.DataFrame([(f"i{i}", o, r) for i in range(n) for o in orders for r in range(repeats)])
    table = table.set_axis(["item", "order", "repeat"], axis=1)
    gold = table["item"].str[1:].astype(int).mod(2).map({0: "A", 1: "B"})
    fixed = {"study": "trust", "judge": "j", "dataset": "d", "gold": gold, "winner": "A", "outcome": "ok"}
    return check(table.assign(**fixed | columns))


def kinds(table):
    return {caveat.kind: caveat.where for caveat in of_verdicts(table)}


def lost(table, outcome, every):
    """The table with every so-manieth verdict lost."""
    at = table.index % every == 0
    return table.assign(winner=table["winner"].mask(at, None), outcome=table["outcome"].mask(at, outcome))


def test_a_whole_design_has_no_caveats():
    assert kinds(rows()) == {}


@pytest.mark.parametrize(
    ("table", "kind", "where"),
    [
        (rows(orders=("AB",)), "single_order", ("j, d",)),
        (rows(repeats=2), "few_repeats", ("j, d (2)",)),
        (rows().drop(index=range(0, 400, 10)), "partial_cells", ("j, d (90% there)",)),
        (lost(rows(), "truncated", 40), "truncated", ("j, d (2.5%)",)),
        (lost(rows(), "unreadable", 10), "unreadable", ("j, d (10.0%)",)),
        (lost(rows(), "error", 100), "errors", ("j, d (1.0%)",)),
        (rows(label_mass=0.5), "label_mass", ("j, d (0.50)",)),
        (rows(gold="A"), "gold_imbalance", ("d (100%)",)),
        (rows(gold="B"), "gold_imbalance", ("d (100%)",)),
        (rows(n=12), "few_groups", ("d (12)",)),
        (rows(group="g"), "few_groups", ("d (1)",)),
    ],
)
def test_what_is_wrong_with_verdicts_is_found(table, kind, where):
    assert kinds(table)[kind] == where


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (lost(rows(), "truncated", 50), "truncated"),  # 2 %, which is not above 2 %.
        (lost(rows(), "unreadable", 20), "unreadable"),
        (rows(label_mass=0.9), "label_mass"),
        (rows(study="judgebench", repeats=1), "few_repeats"),  # A study of no repeats.
        (rows(winner=None, gold="CORRECT", grade="CORRECT", orders=("AB",), method="pointwise"), "single_order"),
    ],
)
def test_what_is_as_it_should_be_is_not_complained_of(table, kind):
    assert kind not in kinds(table)


def run(judge="a", data="d", dataset="d", table=None, **note):
    calls = {"total": 10, "asked_now": 10, "from_store": 0, "engines": {"vllm 0.33.0 gpu bfloat16": 10}}
    settings = {"model": {"name": judge, "weights": "w"}, "repeats": 5, "temperature": [0.0], "seed": 0}
    manifest = {
        "settings": settings | note.pop("settings", {}),
        "data": {"dataset": dataset, "items_sha256": "0" * 64, "draw": {"limit": 10}} | note.pop("data_set", {}),
        "calls": calls | note.pop("calls", {}),
        "prompts": {"pairwise/direct": "1"},
        **note,
    }
    return imported(judge, data, table, manifest)


def imported(judge="a", data="d", table=None, manifest=None):
    found = Run(Path("runs/trust") / data / judge, "trust", data, judge, manifest or {})
    found.__dict__["verdicts"] = rows(judge=judge, dataset=data, requests="k") if table is None else table
    return found


def run_kinds(*runs):
    return {caveat.kind: caveat.where for caveat in of_runs(runs)}


def test_two_judges_on_one_engine_have_no_caveats():
    assert run_kinds(run("a"), run("b")) == {}


def test_what_manifests_warn_of():
    assert run_kinds(run("a")).keys() == {"one_judge"}
    other = run("b", calls={"engines": {"vllm 0.32.0 gpu bfloat16": 10}})
    assert run_kinds(run("a"), other).keys() == {"mixed_versions"}
    both = run("b", calls={"engines": {"vllm 0.33.0 gpu": 5, "transformers 5.0 cpu": 5}})
    assert run_kinds(run("a"), both)["mixed_engines"] == ("b on d: vllm 0.33.0 gpu, transformers 5.0 cpu",)
    assert run_kinds(run("a"), run("b", git={"commit": "c", "changed": True}))["changed_code"] == ("b on d",)
    script = run("b", calls={"engines": {"scripted coin": 10}})
    assert run_kinds(run("a"), script)["scripted"] == ("b on d",)


def test_a_resumed_run_is_told_unless_batches_cannot_matter():
    calls = {"asked_now": 4, "from_store": 6}
    assert run_kinds(run("a"), run("b", calls=calls))["resumed"] == ("b on d (6 of 10 calls)",)
    steady = calls | {"engines": {"vllm 0.33.0 gpu bfloat16 batch-invariant": 10}}
    assert "resumed" not in run_kinds(run("a"), run("b", calls=steady))


def test_verdicts_of_others_are_told():
    found = run_kinds(run("a"), imported("b", table=rows(judge="b")))
    assert found["no_manifest"] == ("b on d",)
    assert found["no_text"] == ("b on d",)


def test_judges_and_data_sets_are_no_difference():
    runs = [run("a"), run("b"), run("a", "e", "e", data_set={"items_sha256": "1" * 64, "draw": {"limit": 20}})]
    groups = designs(runs)
    assert groups == [runs]
    assert differences(groups).empty


def test_temperatures_stand_in_columns_and_repeats_stand_apart():
    runs = [run("a"), run("b", settings={"temperature": [0.0, 1.0]}), run("c", settings={"repeats": 10})]
    groups = designs(runs)
    assert [[r.judge for r in group] for group in groups] == [["a", "b"], ["c"]]
    told = differences(groups)
    assert list(told) == ["design", "judge", "data", "repeats", "temperature"]
    assert told["repeats"].tolist() == ["5", "5", "10"]


def test_other_templates_and_other_items_of_one_data_set_stand_apart():
    edited = run("b", prompts={"pairwise/direct": "2"})
    assert len(designs([run("a"), edited])) == 2
    assert "template pairwise/direct" in differences(designs([run("a"), edited]))
    fewer = run("b", "d_100", "d", data_set={"items_sha256": "1" * 64, "draw": {"limit": 100}})
    assert differences(designs([run("a"), fewer]))["data.limit"].tolist() == ["10", "100"]


def test_two_audits_of_one_judge_on_one_data_set_stand_apart():
    assert len(designs([run("a", "d"), run("a", "d_again", "d")])) == 2
    assert len(designs([run("a", "d"), imported("b", "d")])) == 1
