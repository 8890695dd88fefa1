"""The command: bad files, wrong formats, and tables that a mapping describes."""

import gzip
import json
import subprocess
import sys

import pytest

from experiments.imports.mapping import read_mapping
from judges.records import UserError

VOTE = {"question_id": 81, "model_a": "a", "model_b": "b", "judge": "expert_1", "turn": 1, "winner": "model_a"}
LLMBAR = {"label": 1, "results": []}
MAP = """
columns: {item: id, judge: model, order: position, text: response, winner: verdict}
constants: {dataset: mine, format: arena_hard}
values: {order: {first: AB, second: BA}, winner: {1: A, 2: B, 0: tie}}
read: arena_hard
shown: true
"""


def votes(n):
    return [VOTE | {"judge": f"expert_{i}"} for i in range(n)]


def test_invalid_json_in_the_middle(write, tmp_path, refused, imports, capsys):
    file = write(tmp_path / "v.jsonl", *votes(4))
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "", lines[1][:40], lines[2], "[1]", lines[3]]) + "\n")
    error = refused("mtbench", file)
    assert f"{file}:3: not valid JSON" in error
    assert "--skip-bad" in error
    found = imports("mtbench", file, options=["--skip-bad"])
    assert found.table["judge"].tolist() == ["expert_0", "expert_2", "expert_3"]
    assert "2 bad records left out; the first: " in capsys.readouterr().out


def test_a_record_without_its_fields_is_bad(write, tmp_path, refused, imports):
    file = write(tmp_path / "v.jsonl", VOTE, {"question_id": 81}, VOTE | {"judge": 5}, *votes(1))
    assert "v.jsonl:2: the record has no 'model_a', 'model_b', 'turn', 'winner'" in refused("mtbench", file)
    assert len(imports("mtbench", file, options=["--skip-bad"]).table) == 2


@pytest.mark.parametrize(
    ("chosen", "record", "likely"),
    [
        ("judgebench", LLMBAR, "it looks like llmbar"),
        ("llmbar", VOTE, "it looks like mtbench"),
        ("mtbench", {"idx": 0, "gpt_result": "1"}, "it looks like pandalm"),
        ("pandalm", {"pair_id": "p", "label": "A>B", "judgments": []}, "it looks like judgebench"),
        ("llmbar", {"x": 1}, "--map"),
    ],
)
def test_the_likely_format_is_named(write, tmp_path, refused, chosen, record, likely):
    # Skipping bad records must not turn a file of another format into an empty table.
    error = refused(chosen, write(tmp_path / "x.jsonl", record), options=["--skip-bad"])
    assert f"not a record of the format {chosen}" in error
    assert likely in error


def test_files_that_cannot_be_read(write, tmp_path, refused):
    assert "No such file" in refused("mtbench", tmp_path / "absent.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    assert "holds no records" in refused("mtbench", tmp_path / "empty.jsonl")
    (tmp_path / "x.txt").write_text("")
    assert ".jsonl, .json, .csv" in refused("mtbench", tmp_path / "x.txt")
    (tmp_path / "object.json").write_text("{}")
    assert "expected a JSON list" in refused("mtbench", tmp_path / "object.json")
    (tmp_path / "lines.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert "name it .jsonl" in refused("mtbench", tmp_path / "lines.json")
    (tmp_path / "x.eval").write_bytes(b"")
    assert "an Inspect log" in refused("mtbench", tmp_path / "x.eval")
    assert "no Inspect log" in refused("inspect", tmp_path / "empty.jsonl")
    whole = gzip.compress(b"".join(json.dumps(v).encode() + b"\n" for v in votes(2000)))
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert "cut off" in refused("mtbench", tmp_path / "cut.jsonl.gz", options=["--skip-bad"])


def test_rows_twice_are_refused(write, tmp_path, refused):
    assert "repeat an earlier trial" in refused("mtbench", write(tmp_path / "v.jsonl", VOTE, VOTE))


def test_items_need_a_loader(write, tmp_path, refused):
    annotation = {
        "instruction": "q",
        "generator_1": "g1",
        "generator_2": "g2",
        "annotator": "j",
        "preference": 2,
        "raw_completion": {"ordered_models": [{"model": "m", "rank": 2}, {"model": "M", "rank": 1}]},
        "referenced_models": {"m": "output_1", "M": "output_2"},
    }
    error = refused("alpaca_eval", write(tmp_path / "a.jsonl", annotation), options=["--items", tmp_path / "nowhere"])
    assert "there is no loader for the data set 'alpaca_eval'" in error


def test_help_is_fast_and_loads_nothing_heavy():
    code = (
        "import sys, contextlib\nfrom experiments.imports.__main__ import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print(sorted({'pandas', 'numpy', 'hydra', 'torch', 'yaml'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.endswith("[]\n")
    assert "judgebench" in said


# Mapped tables -----------------------------------------------------------------------------------------------------


def mapped(tmp_path, text=MAP):
    (tmp_path / "map.yaml").write_text(text)
    return ["--map", tmp_path / "map.yaml"]


def test_a_mapped_csv(tmp_path, imports):
    (tmp_path / "t.csv").write_text(
        "id,model,position,response,verdict\n"
        "p1,m,first,[[A>B]],1\n"
        "p1,m,second,[[A>B]],1\n"
        'p2,m,first,"so, [[A=B]]",0\n'
        "p3,m,first,nothing,2\n"
    )
    found = imports("csv", tmp_path / "t.csv", options=mapped(tmp_path))
    assert found.cells("item", "order", "winner", "stored") == [
        ("p1", "AB", "A", "A"),
        ("p1", "BA", "B", "B"),
        ("p2", "AB", "tie", "tie"),
        ("p3", "AB", None, "B"),
    ]
    assert found.listed["item"].tolist() == ["p3"]


SCORES = """
columns: {item: q.id, judge: model, order: order, score_a: scores.0, score_b: scores.1}
constants: {dataset: mine}
shown: true
scale: [1, 10]
"""


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([9, 4], ("B", "ok", 4, 9)),  # the second answer was shown first
        (["9", "4.5"], ("B", "ok", 4.5, 9)),
        ([5, 5], ("tie", "tie", 5, 5)),
        ([-1, 5], (None, "unreadable", 5, None)),
        ([0, 5], (None, "unreadable", 5, None)),
        ([float("nan"), 5], (None, "unreadable", 5, None)),
        ([None, 5], (None, "unreadable", 5, None)),
        ([True, 5], (None, "unreadable", 5, None)),
    ],
)
def test_mapped_scores(write, tmp_path, imports, scores, expected):
    file = write(tmp_path / "s.jsonl", {"q": {"id": 3}, "model": "m", "order": "BA", "scores": scores})
    found = imports("jsonl", file, options=mapped(tmp_path, SCORES))
    assert found.cells("winner", "outcome", "score_a", "score_b") == [expected]
    assert (expected[1] == "unreadable") == (len(found.listed) == 1)


def test_a_mapped_word_nobody_has_seen(write, tmp_path, imports):
    text = "columns: {item: id, winner: v}\nconstants: {dataset: d, judge: j}"
    file = write(tmp_path / "w.jsonl", *({"id": i, "v": v} for i, v in enumerate(["A", "tie", "C", None])))
    found = imports("jsonl", file, options=mapped(tmp_path, text))
    assert found.cells("winner", "outcome") == [
        ("A", "ok"), ("tie", "tie"), (None, "unreadable"), (None, "unreadable")]  # fmt: skip
    assert found.listed["remark"].tolist() == ["the verdict string 'C' is not known", "no verdict"]


def test_a_column_that_is_not_there(write, tmp_path, refused):
    file = write(tmp_path / "s.jsonl", {"q": {"key": 3}, "model": "m", "order": "BA", "scores": [1, 2]})
    assert "s.jsonl:1: there is no 'q.id'" in refused("jsonl", file, options=mapped(tmp_path, SCORES))
    assert "needs --map" in refused("jsonl", file)
    assert "has its own reader" in refused("mtbench", file, options=mapped(tmp_path, SCORES))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MAP.replace("columns", "colums"), "there is no key 'colums'; did you mean 'columns'?"),
        (MAP.replace("judge:", "juge:"), "did you mean 'judge'?"),
        (MAP.replace("read: arena_hard", "read: arena_herd"), "did you mean 'arena_hard'?"),
        (MAP.replace("dataset: mine, ", ""), "what dataset is"),
        (MAP.replace("read: arena_hard", ""), "text and read go together"),
        (SCORES.replace("score_a: scores.0, ", ""), "where the verdict is"),
        ("columns: [", "is not YAML"),
        ("", "valid dictionary"),
    ],
)
def test_a_faulty_mapping_is_explained(tmp_path, text, said):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(UserError) as error:
        read_mapping(tmp_path / "map.yaml")
    assert said in str(error.value)
    assert "map.yaml" in str(error.value)


def test_orders_and_counts_of_a_mapping_are_checked(write, tmp_path, refused):
    record = {"q": {"id": 3}, "model": "m", "order": "left", "scores": [1, 2]}
    assert "the order 'left'" in refused("jsonl", write(tmp_path / "s.jsonl", record), options=mapped(tmp_path, SCORES))
    text = SCORES.replace("judge: model", "judge: model, repeat: n")
    file = write(tmp_path / "s.jsonl", record | {"order": "AB", "n": 1.5})
    assert "repeat must be a whole number" in refused("jsonl", file, options=mapped(tmp_path, text))
    file = write(tmp_path / "s.jsonl", record | {"order": "AB", "model": ""})
    assert "judge is empty" in refused("jsonl", file, options=mapped(tmp_path, SCORES))


# Inspect -----------------------------------------------------------------------------------------------------------


def test_inspect_logs_need_inspect_ai(tmp_path, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    assert "pip install inspect_ai" in refused("inspect", tmp_path / "x.eval")


def test_a_real_inspect_log(tmp_path, imports, refused):
    """A log that Inspect itself writes: a mock judge's four answers, the last one cut off."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match

    said = [("A", "stop"), ("A", "stop"), ("Both have merit.", "stop"), ("The better answ", "max_tokens")]
    samples = [Sample("?", target="A", id=f"p{i}", metadata={"order": o}) for i, o in enumerate(("AB", "BA") * 2)]
    outputs = [ModelOutput.from_content("mockllm/model", text, stop_reason=stop) for text, stop in said]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=20, output_tokens=3, total_tokens=23)
    (log,) = inspect_ai.eval(
        inspect_ai.Task(name="pairs", dataset=samples, scorer=match()),
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path),
        display="none",
        max_samples=1,
    )
    found = imports("inspect", log.location)
    assert found.cells("judge", "dataset", "item", "order", "winner", "outcome", "prompt_tokens") == [
        ("mockllm/model", "pairs", "p0", "AB", "A", "ok", 20),
        ("mockllm/model", "pairs", "p1", "BA", "B", "ok", 20),
        ("mockllm/model", "pairs", "p2", "AB", None, "unreadable", 20),
        ("mockllm/model", "pairs", "p3", "BA", None, "truncated", 20),
    ]
    text = "columns: {item: id, judge: model, dataset: task, grade: scores.match.value}"
    assert "no column 'grade'" in refused("inspect", log.location, options=mapped(tmp_path, text))
    (tmp_path / "torn.eval").write_bytes(b"PK\x03\x04")
    assert "cannot be read as an Inspect log" in refused("inspect", tmp_path / "torn.eval")
