"""Stages whose tables people open, edit and feed back."""

from dataclasses import dataclass

import pandas as pd
import pytest

from analysis import files
from experiments.pipeline import Choice, Stage, run
from experiments.workshop import Workshop
from judges.ask import Unwatched
from judges.engines.scripted import Scripted
from judges.records import Message, ModelSpec, Request, Sampling, UserError
from judges.store import Store

MODEL = ModelSpec("scripted:echo", "")


@dataclass(frozen=True)
class Echo:
    """Asks for a text back."""

    def ask(self, x, so_far, /):
        return [] if so_far else [Request(MODEL, (Message("user", x),), Sampling(8))]

    def read(self, x, completions, /):
        return completions[-1].text


class Counted(Scripted):
    def __init__(self):
        super().__init__(lambda request: request.messages[-1].content.upper())
        self.calls = 0

    def _complete(self, request):
        self.calls += 1
        return super()._complete(request)


def shout(workshop, tables):
    said = [a.result for a in workshop.ask(Echo(), workshop.items)]
    outcome = ["unreadable" if text == "NOTHING" else "ok" for text in said]
    return pd.DataFrame({"item": range(len(said)), "said": said, "outcome": outcome})


def join(workshop, tables):
    shouted = tables["shout"]
    said = [a.result for a in workshop.ask(Echo(), [text + "!" for text in shouted["said"]])]
    return pd.DataFrame({"item": shouted["item"], "joined": said})


STAGES = (
    Stage("shout", "a shouted word", shout, columns=("item", "said"), key=("item",)),
    Stage("join", "a word with its mark", join, needs=("shout",), columns=("item", "joined"), key=("item",)),
)


@pytest.fixture
def engine():
    return Counted()


@pytest.fixture
def go(tmp_path, engine):
    def go(stage="", input=None, items=("a", "=b", "c")):
        with Store(tmp_path / "store") as store:
            workshop = Workshop(items, {}, engine, store, Unwatched())
            return run(STAGES, workshop, Choice(stage, input), tmp_path / "run"), workshop

    return go


def joined(made):
    return made["join"]["joined"].tolist()


def test_all_stages_in_order_and_again_without_a_call(go, engine, tmp_path):
    made, _ = go()
    assert joined(made) == ["A!", "=B!", "C!"] and engine.calls == 6
    assert joined(go()[0]) == joined(made) and engine.calls == 6
    assert files.load(tmp_path / "run" / "stages" / "shout.csv", ["said"])["said"].tolist() == ["A", "=B", "C"]


def test_a_row_without_result_is_counted_and_goes_no_further(go):
    made, workshop = go(items=("a", "nothing"))
    assert joined(made) == ["A!"] and len(made["shout"]) == 2
    assert workshop.notes == ["shout: 1 of 2 rows have no result (1 unreadable) and are left out"]


def test_an_edited_table_is_used_and_kept(go, engine, tmp_path):
    go()
    path = tmp_path / "run" / "stages" / "shout.csv"
    path.write_text(path.read_text().replace("A", "Z"))
    made, workshop = go()
    assert joined(made) == ["Z!", "=B!", "C!"] and "Z" in path.read_text()
    assert len(workshop.notes) == 1 and "shout.csv was edited by hand" in workshop.notes[0]
    assert engine.calls == 7
    path.unlink()
    assert joined(go()[0]) == ["A!", "=B!", "C!"]


def test_a_spreadsheet_can_tell_that_a_table_is_utf_8(go, tmp_path):
    made, _ = go(items=("హైదరాబాద్", "القاهرة"))
    written = (tmp_path / "run" / "stages" / "shout.csv").read_bytes()
    assert written.startswith(b"\xef\xbb\xbfitem,said") and "القاهرة".encode() in written
    assert joined(made) == ["హైదరాబాద్!", "القاهرة!"] == joined(go(items=("హైదరాబాద్", "القاهرة"))[0])


def test_another_table_can_be_fed_to_a_stage(go, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("item,said\n7,x\n")
    made, _ = go("join", mine)
    assert joined(made) == ["X!"] and list(made) == ["join"]
    mine.write_text("item,word\n7,x\n")
    with pytest.raises(UserError, match=r"mine\.csv has no column 'said'.*it has item, word"):
        go("join", mine)
    with pytest.raises(UserError, match=r"none\.csv cannot be read"):
        go("join", tmp_path / "none.csv")


def test_a_table_in_another_format_is_read_as_its_csv_would_be(go, tmp_path):
    mine = tmp_path / "mine.jsonl"
    mine.write_text('{"item": 7, "said": 42}\n{"item": "8", "said": ["x"]}\n{"item": 9.5, "said": null}\n')
    assert joined(go("join", mine)[0]) == ["42!", '["X"]!', "!"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("7,x\n8,y\n7,z\n", r"mine\.csv: row 4 has the item of an earlier row again, 7"),
        ("7,x\n ,y\n", r"mine\.csv: the column 'item' is empty in row 3"),
    ],
)
def test_rows_that_cannot_be_told_apart_are_an_error_that_names_the_line(go, tmp_path, rows, said):
    mine = tmp_path / "mine.csv"
    mine.write_text("item,said\n" + rows)
    with pytest.raises(UserError, match=said):
        go("join", mine)


def test_a_row_that_was_added_without_an_outcome_is_named_as_such(go, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("item,said,outcome\n7,x,ok\n8,y,\n")
    made, workshop = go("join", mine)
    assert joined(made) == ["X!"]
    assert workshop.notes == ["shout: 1 of 2 rows have no result (1 of no outcome: write ok) and are left out"]


def test_two_files_for_one_table_are_an_error(go, tmp_path):
    go()
    (tmp_path / "run" / "stages" / "shout.jsonl").write_text('{"item": 1, "said": "x"}\n')
    with pytest.raises(UserError, match=r"shout\.csv and .*shout\.jsonl both hold the table of stage shout"):
        go()


def test_a_damaged_record_of_what_was_written_is_named(go, tmp_path):
    go()
    (tmp_path / "run" / "stages" / ".written.json").write_text("{")
    with pytest.raises(UserError, match=r"\.written\.json is damaged .* delete it"):
        go()


def test_a_stage_without_its_input_says_what_is_missing_and_how_to_make_it(go, monkeypatch):
    monkeypatch.setattr("sys.argv", ["x", "experiment=swapref", "stage=join", "stage.model=m", "data.limit=3"])
    with pytest.raises(UserError) as refused:
        go("join")
    said = str(refused.value)
    assert "stage join needs the table of stage shout (a shouted word a row)" in said
    assert "3 of the 3 calls" in said
    assert said.endswith("python -m experiments experiment=swapref data.limit=3 stage=shout")


def test_a_stage_whose_calls_are_stored_is_made_without_a_model(go, engine, tmp_path):
    go("shout")
    (tmp_path / "run" / "stages" / "shout.csv").unlink()
    assert joined(go("join")[0]) == ["A!", "=B!", "C!"] and engine.calls == 6


def test_an_unknown_stage_is_named_with_those_that_there_are(go):
    with pytest.raises(UserError, match="no stage 'shuot' here; there are: shout, join"):
        go("shuot")
