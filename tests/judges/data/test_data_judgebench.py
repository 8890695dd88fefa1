import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from judges.data import load
from judges.records import UserError

REAL = Path(__file__).resolve().parents[4] / "shared/data/judgebench"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/judgebench is absent")

GPT = "dataset=judgebench,response_model=gpt-4o-2024-05-13.jsonl"
CLAUDE = "dataset=judgebench,response_model=claude-3-5-sonnet-20240620.jsonl"


def pair(name="p1", model="gpt-4o-2024-05-13", label="A>B", a="yes", b="no", question="Is it?", source="livecodebench"):
    return {
        "pair_id": name,
        "original_id": None,
        "source": source,
        "question": question,
        "response_model": model,
        "response_A": a,
        "response_B": b,
        "label": label,
    }


def lines(*pairs):
    return "".join(json.dumps(p) + "\n" for p in pairs).encode()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / GPT).write_bytes(lines(pair("p1"), pair("p2", label="B>A", question="Why?")))
    (tmp_path / CLAUDE).write_bytes(lines(pair("p3", "claude-3-5-sonnet-20240620", a="sure", source="mmlu-pro-law")))
    (tmp_path / "notes.jsonl").write_text("not a data file\n")
    return tmp_path


def test_fields_and_gold(folder):
    p3, p1, p2 = load("judgebench", folder).items
    assert (p1.id, p1.answers, p1.gold, p1.source) == ("p1", ("yes", "no"), "A", "livecodebench")
    assert (p2.gold, p3.source) == ("B", "mmlu-pro-law")


def test_pairs_on_one_question_share_a_group_across_splits(folder):
    assert {item.id: item.group for item in load("judgebench", folder).items} == {"p3": "p3", "p1": "p3", "p2": "p2"}


@pytest.mark.parametrize(
    ("split", "datasets"),
    [
        (None, {"p1": "judgebench-gpt", "p2": "judgebench-gpt", "p3": "judgebench-claude"}),
        ("all", {"p1": "judgebench-gpt", "p2": "judgebench-gpt", "p3": "judgebench-claude"}),
        ("gpt", {"p1": "judgebench-gpt", "p2": "judgebench-gpt"}),
        ("claude", {"p3": "judgebench-claude"}),
        ("pooled", {"p1": "judgebench", "p2": "judgebench", "p3": "judgebench"}),
    ],
)
def test_splits(folder, split, datasets):
    loaded = load("judgebench", folder, split=split)
    assert {item.id: item.dataset for item in loaded.items} == datasets
    assert len(loaded.provenance["files"]) == len(set(datasets.values())) + (split == "pooled")


def test_plain_gz_single_file_and_hub_layout_give_the_same_items(folder, tmp_path_factory):
    expected = load("judgebench", folder, split="gpt")
    content = (folder / GPT).read_bytes()
    hub, packed = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("packed")
    (hub / "data").mkdir()
    (hub / "data/gpt-00000-of-00001.jsonl").write_bytes(content)
    (packed / "pairs_gpt-4o-2024-05-13.jsonl.gz").write_bytes(gzip.compress(content))
    for path in (folder / GPT, hub, packed, packed / "pairs_gpt-4o-2024-05-13.jsonl.gz"):
        loaded = load("judgebench", path, split="gpt")
        assert loaded.items == expected.items
        assert loaded.provenance["files"][0]["sha256"] == expected.provenance["files"][0]["sha256"]


def test_the_model_is_read_from_the_file_name_where_the_rows_lack_it(tmp_path):
    row = pair()
    del row["response_model"]
    (tmp_path / "gpt-00000-of-00001.jsonl").write_bytes(lines(row))
    (item,) = load("judgebench", tmp_path, split="gpt").items
    assert item.dataset == "judgebench-gpt"


def test_an_absent_split_is_said(folder):
    (folder / CLAUDE).unlink()
    assert load("judgebench", folder).warnings == ("judgebench: nothing of the claude split was found.",)
    with pytest.raises(UserError, match="judgebench: no items left"):
        load("judgebench", folder, split="claude")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lines(pair("p1"), pair("p2"))[:-40], r"gpt-x\.jsonl:2: not valid JSON .* cut off"),
        (lines(pair("p1")) + b"\n\nnonsense\n", r"gpt-x\.jsonl:4: not valid JSON"),
        (lines(pair("p1")) + b"[1, 2]\n", r"gpt-x\.jsonl:2: expected a JSON object, found a list"),
        (lines(pair("p1")) + b'{"pair_id": "\xff"}\n', r"gpt-x\.jsonl:2: not UTF-8"),
        (lines(pair("p1"), {"pair_id": "p2"}), r"gpt-x\.jsonl:2: the field 'question' is missing; found 'pair_id'"),
        (lines(pair("p1", a=None)), r"gpt-x\.jsonl:1: the field 'response_A' must be a string, not null"),
        (lines(pair("p1", a=3)), r"'response_A' must be a string, not a number"),
        (
            lines(pair("p1"), pair("p2", label="A=B")),
            r"gpt-x\.jsonl:2: the label 'A=B' names no answer; it must be 'A>B' or 'B>A'",
        ),
        (lines(pair("p1"), pair("p2", label=None)), r"gpt-x\.jsonl:2: the label 'None' names no answer"),
        (lines(pair("p1"), pair("p2"), pair("p1")), r"'p1' occurs twice: \S*gpt-x\.jsonl:1 and \S*gpt-x\.jsonl:3"),
        (lines(pair("p1", "llama-3")), r"gpt-x\.jsonl:1: the response model 'llama-3' is of neither split"),
        (lines(pair("p1", a="same", b="same")), r"no items left of 1 read; 1 had answers equal to each other"),
        (b"", "no items left of 0 read"),
        (b"[" * 100_000, r"gpt-x\.jsonl:1: JSON nested too deeply"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, content, said):
    (tmp_path / "gpt-x.jsonl").write_bytes(content)
    with pytest.raises(UserError, match=said):
        load("judgebench", tmp_path)


def test_a_cut_archive_names_the_line(tmp_path):
    rows = lines(*(pair(f"p{i}", question=os.urandom(400).hex()) for i in range(50)))
    packed = gzip.compress(rows)
    (tmp_path / "gpt-x.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UserError, match=r"gpt-x\.jsonl\.gz:(1\d|2\d|3\d): the compressed file is cut off or damaged"):
        load("judgebench", tmp_path)
    (tmp_path / "gpt-x.jsonl.gz").write_bytes(rows)
    with pytest.raises(UserError, match=r"gpt-x\.jsonl\.gz:1: the compressed file is cut off or damaged"):
        load("judgebench", tmp_path)


def test_a_line_separator_within_a_text_is_no_line_end(tmp_path):
    (tmp_path / "gpt-x.jsonl").write_text(
        json.dumps(pair(question="one\u2028two\x85three"), ensure_ascii=False) + "\r\n", encoding="utf-8-sig"
    )
    (item,) = load("judgebench", tmp_path).items
    assert item.question == "one\u2028two\x85three"


@pytest.mark.parametrize("split", ["train", "GPT"])
def test_an_unknown_split(folder, split):
    with pytest.raises(UserError, match=f"data.split={split} is unknown; judgebench has all, gpt, claude, pooled"):
        load("judgebench", folder, split=split)


def test_a_folder_that_is_not_there_or_holds_nothing(tmp_path):
    with pytest.raises(UserError, match=r"data\.path=.*/nowhere cannot be read: No such file"):
        load("judgebench", tmp_path / "nowhere")
    with pytest.raises(UserError, match="holds no JudgeBench file; expected 'dataset=judgebench"):
        load("judgebench", tmp_path)


@pytest.fixture
def judgebench_hub(hub):
    return hub(
        {
            "data/gpt-00000-of-00001.jsonl": lines(pair("p1")),
            "data/claude-00000-of-00001.jsonl": lines(pair("p2", "claude-3")),
        }
    )


def test_without_a_path_the_hub_is_asked_once_and_its_commit_recorded(judgebench_hub, load_from_hub):
    ids, files = load_from_hub("judgebench", judgebench_hub.endpoint)
    commit = judgebench_hub.commit
    assert ids == ["p1", "p2"]
    assert [file["origin"] for file in files] == [f"hub:ScalerLab/JudgeBench@{commit}"] * 2
    claude = f"/datasets/ScalerLab/JudgeBench/resolve/{commit}/data/claude-00000-of-00001.jsonl"
    assert claude in judgebench_hub.asked
    again = load_from_hub("judgebench", "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
    assert again == [ids, files]


def test_an_unreachable_or_refusing_hub_is_said_in_its_own_words(judgebench_hub, load_from_hub):
    judgebench_hub.files.clear()
    assert "404" in load_from_hub("judgebench", judgebench_hub.endpoint)
    said = load_from_hub("judgebench", judgebench_hub.endpoint, HF_HUB_OFFLINE="1")
    assert "data/gpt-00000-of-00001.jsonl of the hub data set ScalerLab/JudgeBench could not be had" in said
    assert "data.path=FOLDER" in said


@needs_real
def test_real_pairs():
    loaded = load("judgebench", REAL)
    # One of the 270 claude pairs has two equal answers.
    assert Counter(item.dataset for item in loaded.items) == {"judgebench-gpt": 350, "judgebench-claude": 269}
    assert list(loaded.provenance["dropped"].values()) == [["a28a8dae-78a7-51a7-a46f-84a6e502068d"]]
    gpt = Counter(item.gold for item in loaded.items if item.dataset == "judgebench-gpt")
    assert gpt == {"A": 193, "B": 157}
    assert len({item.source for item in loaded.items}) == 17
    assert len({item.group for item in loaded.items}) == len({item.question for item in loaded.items})


@needs_real
def test_a_real_limit_covers_the_sources_and_balances_the_golds():
    sample = load("judgebench", REAL, limit=40).items
    assert len({item.source for item in sample}) == 17
    golds = Counter(item.gold for item in sample)
    assert abs(golds["A"] - golds["B"]) <= 2


@needs_real
def test_the_trust_papers_draw():
    sample = load("judgebench", REAL, limit=100, split="pooled", balance=False).items
    sources = Counter(item.source for item in sample)
    # Exact shares of 619: livebench-reasoning 24.1, livebench-math 14.4, livecodebench 11.8, each subject 3.55 or 3.39.
    assert sources["livebench-reasoning"] in (24, 25) and sources["livebench-math"] in (14, 15)
    assert sources["livecodebench"] in (11, 12)
    assert all(n in (3, 4) for source, n in sources.items() if source.startswith("mmlu-pro"))
    assert {item.dataset for item in sample} == {"judgebench"}
