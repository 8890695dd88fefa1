"""What the verdict browser is given: files beside a page, from runs and the store."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import browser
from experiments.browser.columns import gather
from experiments.browser.items import pieces
from experiments.browser.scripts import script
from experiments.runs import Run, find
from judges.records import Completion, Message, ModelSpec, Request, Sampling
from judges.store import Store


def saved(root: Path, table: pd.DataFrame, judge: str = "a judge", study: str = "trust") -> list[Run]:
    """A run of verdicts without a manifest, as others' come."""
    folder = root / study / "data" / judge
    folder.mkdir(parents=True)
    table.assign(study=study, judge=table.get("judge", judge)).to_parquet(folder / "verdicts.parquet")
    return find(root, study)


def pairs(*rows: tuple[str, str, int, str | None], **columns: object) -> pd.DataFrame:
    """Verdicts by item, order, repeat and winner; A is right."""
    table = pd.DataFrame(rows, columns=["item", "order", "repeat", "winner"])
    outcome = np.where(table["winner"].isna(), "unreadable", np.where(table["winner"] == "tie", "tie", "ok"))
    return table.assign(dataset="data", gold="A", outcome=outcome, **columns)


def held(file: Path):
    """What a script hands to the page."""
    return json.loads(file.read_text(encoding="utf-8").split(",", 1)[1].rsplit(")", 1)[0])


def told(out: Path, name: str) -> list[str]:
    """A column of the index, read as the page reads it."""
    index = held(out / "verdicts" / "index.js")
    column = next(c for c in index["columns"] if c["name"] == name)
    parts = [held(out / "verdicts" / f"rows-{i}.js")[name] for i in range(index["parts"])]
    codes = np.concatenate([np.frombuffer(base64.b64decode(p), dtype=f"<u{column['width']}") for p in parts])
    return [column["values"][code] for code in codes]


def test_right_flipped_and_unstable(tmp_path):
    table = pairs(
        ("steady", "AB", 0, "A"), ("steady", "BA", 0, "A"), ("steady", "AB", 1, "A"), ("steady", "BA", 1, "A"),
        ("flips", "AB", 0, "A"), ("flips", "BA", 0, "B"), ("flips", "AB", 1, "A"), ("flips", "BA", 1, "B"),
        ("wavers", "AB", 0, "A"), ("wavers", "BA", 0, "A"), ("wavers", "AB", 1, None), ("wavers", "BA", 1, "A"),
    )  # fmt: skip
    browser.write(saved(tmp_path, table), tmp_path, tmp_path / "report")
    # In the order of the page: by item; then repeat 0 in both orders, then repeat 1.
    assert told(tmp_path / "report", "flipped") == ["yes"] * 4 + ["no"] * 8
    assert told(tmp_path / "report", "unstable") == ["no"] * 8 + ["yes", "no", "yes", "no"]
    assert told(tmp_path / "report", "right") == ["right", "wrong"] * 2 + ["right"] * 6 + ["none", "right"]


def test_without_the_words_the_page_says_so(tmp_path):
    browser.write(saved(tmp_path, pairs(("x", "AB", 0, "A"))), tmp_path, tmp_path / "report")
    assert "imported" in held(tmp_path / "report/verdicts/index.js")["runs"][0]["reason"]
    (item,) = held(tmp_path / "report/verdicts/item-0.js")["items"].values()
    assert item["texts"] == [] and item["verdicts"] == [{"gold": "A", "run": 0, "asked": 0}]


def test_the_words_come_from_the_store_with_the_place_of_the_verdict(tmp_path):
    model = ModelSpec("m", "r")
    request = Request(model, (Message("user", "?"),), Sampling(8))
    text = '\U0001f600 {"verdict": "B", "reason": "<script>"}'
    with Store(tmp_path / "store") as store:
        store.put(request, Completion(text, reasoning="So.", prompt_tokens=5, engine="e"))
    table = pairs(("x", "AB", 0, "B"), ("y", "AB", 0, "B"), method="pairwise", format="vf_json")
    table["requests"] = [request.key, "0" * 64]
    browser.write(saved(tmp_path, table), tmp_path, tmp_path / "report")
    chunk = held(tmp_path / "report/verdicts/item-0.js")
    (known,), (unknown,) = (item["verdicts"] for item in chunk["items"].values())
    (call,) = known["calls"]
    assert chunk["texts"][call["text"]] == text and chunk["texts"][call["reasoning"]] == "So."
    # A page counts the face as two.
    place = text.encode("utf-16-le")[2 * call["span"][0] : 2 * call["span"][1]].decode("utf-16-le")
    assert place == "B"
    assert unknown["asked"] == 1 and "calls" not in unknown


def test_thinking_stands_apart_from_the_reply(tmp_path):
    request = Request(ModelSpec("m", "r"), (Message("user", "?"),), Sampling(8))
    with Store(tmp_path / "store") as store:
        store.put(request, Completion("A, no.</think>\n\nB"))
    table = pairs(("x", "AB", 0, "B"), method="pairwise", format="direct", requests=request.key)
    (run,) = saved(tmp_path, table)
    note = {"settings": {"model": {"name": "a judge", "thinking": {}}}}
    (run.folder / "manifest.json").write_text(json.dumps(note))
    browser.write(find(tmp_path, "trust"), tmp_path, tmp_path / "report")
    chunk = held(tmp_path / "report/verdicts/item-0.js")
    (call,) = chunk["items"]["0"]["verdicts"][0]["calls"]
    assert (chunk["texts"][call["reasoning"]], chunk["texts"][call["text"]]) == ("A, no.", "B")
    assert call["span"] == [0, 1] and "prompt" not in call
    assert "another version" in held(tmp_path / "report/verdicts/index.js")["runs"][0]["reason"]


STUDIES = {
    "evalpair": ["data=grounded_demo", "data.limit=2", "perturbers=[scripted]", "generators=[scripted]",
                 "judges=[scripted]", "labeller=scripted", "judge=scripted"],
    "refsense": ["data=verifiable_qa", "data.limit=2", "judge=scripted"],
    "serving": ["judge=scripted", "data.limit=2"],
}  # fmt: skip


@pytest.mark.parametrize("study", STUDIES)
def test_what_was_asked_is_put_together_again(tmp_path, study):
    run = [sys.executable, "-m", "experiments", f"experiment={study}", *STUDIES[study], f"root={tmp_path}"]
    subprocess.run([*run, "bootstrap.replicates=0"], check=True, capture_output=True, cwd=Path(__file__).parents[2])
    (made,) = find(tmp_path, study)
    browser.write([made], tmp_path, tmp_path / "report")
    chunk = held(tmp_path / "report/verdicts/item-0.js")
    calls = [call for i in chunk["items"].values() for v in i["verdicts"] for call in v["calls"]]
    assert len(calls) >= len(made.verdicts) > 0 and all("prompt" in call for call in calls)
    question = dict(chunk["items"]["0"]["texts"])["question"]
    role, parts = chunk["prompts"][calls[0]["prompt"]][-1]
    assert role == "user" and chunk["texts"][question] in "".join(chunk["texts"][part] for part in parts)

    # Keys of another model's calls: nobody knows what these were asked.
    note = json.loads((made.folder / "manifest.json").read_text())
    models = note["model"]["judge"] if "judge" in note["model"] else [note["model"]]
    models[0]["revision"] = "another"
    (made.folder / "manifest.json").write_text(json.dumps(note))
    browser.write(find(tmp_path, study), tmp_path, tmp_path / "report")
    items = held(tmp_path / "report/verdicts/item-0.js")["items"].values()
    assert not any("prompt" in call for i in items for v in i["verdicts"] for call in v["calls"])


def test_older_files_go(tmp_path):
    runs = saved(tmp_path, pairs(("x", "AB", 0, "A")))
    browser.write(runs, tmp_path, tmp_path / "report")
    (tmp_path / "report/verdicts/item-7.js").write_text("old")
    browser.write(runs, tmp_path, tmp_path / "report")
    names = {p.name for p in (tmp_path / "report/verdicts").iterdir()}
    assert names == {"browser.js", "reading.js", "browser.css", "index.js", "rows-0.js", "item-0.js"}


def test_two_runs_on_one_item_stand_together(tmp_path):
    saved(tmp_path, pairs(("x", "AB", 0, "A"), ("y", "AB", 0, "A")), "org/one".replace("/", "_"))
    runs = saved(tmp_path, pairs(("y", "AB", 0, "B"), ("x", "AB", 0, "A")), "zwei ü")
    table = gather(runs)
    assert table.items == [("data", "x"), ("data", "y")] and table.starts.tolist() == [0, 2, 4]
    assert [runs[r].judge for r in table.run] == ["org_one", "zwei ü"] * 2 and table.row.tolist() == [0, 1, 1, 0]


def test_one_judge_twice_on_one_data_set_is_told_apart(tmp_path):
    saved(tmp_path, pairs(("x", "AB", 0, "A"), judge="j"), "one")
    runs = saved(tmp_path, pairs(("x", "AB", 0, "B"), judge="j"), "other")
    browser.write(runs, tmp_path, tmp_path / "report")
    assert told(tmp_path / "report", "folder") == ["data/one", "data/other"]
    index = held(tmp_path / "report/verdicts/index.js")
    assert "unstable" not in [c["name"] for c in index["columns"]]  # Two runs are no repeats of one.


@given(st.text())
def test_a_script_says_what_it_was_given_and_no_more(text):
    made = script("index", [text])
    assert not any(sign in made.decode() for sign in ("</", "<!", "\u2028", "\u2029"))
    assert json.loads(made.decode().split(",", 1)[1].rsplit(")", 1)[0]) == [text]


def test_a_lone_surrogate_ends_nothing():
    assert json.loads(script("x", ["\ud800"]).decode().split(",", 1)[1].rsplit(")", 1)[0]) == ["\ud800"]


@given(
    st.lists(st.text("ab", min_size=35, max_size=50), max_size=3), st.lists(st.sampled_from([0, 1, 2, "c"]), max_size=6)
)
def test_pieces_make_the_text_again(quoted, parts):
    text = "".join(quoted[p] if isinstance(p, int) and p < len(quoted) else "c" for p in parts)
    assert "".join(pieces(text, quoted)) == text


@pytest.mark.parametrize("winner", ["A", None])
def test_a_single_verdict(tmp_path, winner):
    browser.write(saved(tmp_path, pairs(("x", "AB", 0, winner))), tmp_path, tmp_path / "report")
    assert held(tmp_path / "report/verdicts/index.js")["verdicts"] == 1
