"""Reviewing a run: the page's server, the files it keeps, spreadsheets, and what reviewers found."""

import json
import threading
import urllib.error
import urllib.request

import pandas as pd
import pytest

from experiments.__main__ import main as experiment
from experiments.evalpair.page import serve
from experiments.evalpair.review import board, main


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    root = tmp_path_factory.mktemp("evalpair")
    cast = ["perturbers=[scripted]", "generators=[scripted]", "judges=[scripted,smollm2]", "labeller=scripted"]
    with pytest.MonkeyPatch.context() as patch:
        words = [
            "experiment=evalpair",
            f"root={root}",
            "bootstrap.replicates=0",
            "data.limit=20",
            "engine=scripted",
            *cast,
        ]
        patch.setattr("sys.argv", ["x", *words])
        assert experiment() == 0
    return root / "evalpair" / "grounded_demo" / "matrix"


@pytest.fixture
def run(finished, tmp_path):
    import shutil

    return shutil.copytree(finished, tmp_path / "matrix")


@pytest.fixture
def page(run):
    opened = []

    def open_(reviewer="ada"):
        server, address = serve(board(run, reviewer, 12), 0)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        opened.append((server, thread))
        return address

    yield open_
    for server, thread in opened:
        server.shutdown()
        thread.join()
        server.server_close()


def get(address):
    with urllib.request.urlopen(address, timeout=10) as reply:
        return reply.read().decode()


def post(address, **row):
    with urllib.request.urlopen(address + "answer", json.dumps(row).encode(), timeout=10) as reply:
        return json.loads(reply.read())


def test_the_label_is_shown_only_after_the_reviewer_has_spoken(page):
    address = page()
    state = json.loads(get(address + "state"))
    assert state["said"] == {} and state["labels"] == {} and len(state["cases"]) > 10
    for case in state["cases"]:
        assert not {"behaviour", "adopted", "cell", "gold", "label"} & case.keys()
    name = state["cases"][0]["case"]
    assert post(address, case=name, adopts="", judge_ok="", comment="later") == {"label": ""}
    assert post(address, case=name, adopts="yes", judge_ok="", comment="later")["label"] in (
        "adopts the false claim", "does not adopt the false claim",
    )  # fmt: skip


def test_every_answer_is_on_disk_at_once_and_there_again_after_a_restart(page, run):
    address = page()
    cases = json.loads(get(address + "state"))["cases"]
    for case in cases[:3]:
        post(address, case=case["case"], adopts="yes", judge_ok="no", comment='=1+1 "quoted", ఓ')
        saved = pd.read_csv(run / "review" / "ada.csv", keep_default_na=False)
        assert (saved["judge_ok"] == "no").sum() == cases.index(case) + 1
    again = json.loads(get(page() + "state"))
    assert [c["case"] for c in again["cases"]] == [c["case"] for c in cases]
    assert again["said"][cases[0]["case"]] == {"adopts": "yes", "judge_ok": "no", "comment": '=1+1 "quoted", ఓ'}
    assert set(again["said"]) == {c["case"] for c in cases[:3]}


def test_the_difference_is_marked(page):
    cases = json.loads(get(page() + "state"))["cases"]
    changed = [p for case in cases for p in case["passages"] if p["changed"]]
    assert changed
    for passage in changed:
        assert {"old", "new"} <= {kind for _, kind in passage["pieces"]}
    case = cases[0]
    new = "".join(text for p in case["passages"] for text, kind in p["pieces"] if kind == "new")
    assert new and any(part in new for part in case["replacement"].split())


@pytest.mark.parametrize("row", [{"case": "case-none"}, {"adopts": "perhaps"}, {"comment": "x" * 5001}, []])
def test_what_is_no_answer_is_refused_and_changes_nothing(page, run, row):
    address = page()
    name = json.loads(get(address + "state"))["cases"][0]["case"]
    given = {"case": name, **row} if isinstance(row, dict) else {}
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(address, **given)
    assert refused.value.code == 400 and "error" in json.loads(refused.value.read())
    assert json.loads(get(address + "state"))["said"] == {}


def test_nobody_reaches_it_without_the_address(page):
    root = page().rsplit("/", 2)[0]
    assert root.startswith("http://127.0.0.1:")
    for path in ("/", "/state", "/x/state"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(root + path)
        assert refused.value.code == 404


def test_spreadsheets_and_two_reviewers_meet_in_the_summary(page, run, capsys):
    address = page()
    cases = json.loads(get(address + "state"))["cases"]
    for case in cases:
        post(address, case=case["case"], adopts="yes", judge_ok="yes", comment="")
    filled = pd.read_csv(run / "review" / "ada.csv", dtype=str, keep_default_na=False)
    filled = filled.assign(reviewer="bob", judge_ok=["TRUE"] * (len(filled) - 1) + ["0"]).iloc[1:]
    filled.to_csv(run / "review" / "bob.csv", sep=";", index=False, encoding="utf-8-sig")
    assert main([str(run), "summary"]) == 0
    assert "1 of" in capsys.readouterr().err
    agreement = pd.read_csv(run / "tables" / "review_agreement.csv").set_index("question")
    assert agreement.loc["judge_ok", "n"] == len(cases) - 1
    assert agreement.loc["judge_ok", "agreement"] == pytest.approx(1 - 1 / (len(cases) - 1))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "nowhere is no finished run of evalpair"),
        (["RUN", "summary"], "nobody has reviewed"),
        (["RUN", "reviewr=ada"], "did you mean 'reviewer'?"),
        (["RUN", "port=x"], "give a whole number"),
        (["RUN", "reviewer=queue"], "the name of another file"),
    ],
)
def test_mistakes_are_named(run, words, says, capsys):
    assert main([str(run) if word == "RUN" else word for word in words]) == 2
    assert says in capsys.readouterr().err
