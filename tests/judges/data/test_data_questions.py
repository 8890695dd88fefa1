"""NQ-Open, PopQA, SciQ and FreshQA: questions with all their accepted answers."""

import csv
import gzip
import hashlib
import io
import json
from collections import Counter
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.data import freshqa, load, nq_open, popqa, sciq
from judges.data.answered import NO_ANSWER, NO_QUESTION, answered, distinct, identified
from judges.data.intake import Raw, accept
from judges.records import Item, UserError

REAL = Path(__file__).resolve().parents[4] / "shared/data"


def real(name):
    if not (REAL / name).is_dir():
        pytest.skip(f"../shared/data/{name} is absent")
    return REAL / name


def lines(file, *records):
    content = "".join(json.dumps(record) + "\n" for record in records).encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def table(file, *rows, delimiter=",", above=""):
    written = io.StringIO(above, newline="")
    written.seek(0, io.SEEK_END)
    csv.writer(written, delimiter=delimiter).writerows(rows)
    content = written.getvalue().encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def parquet(rows):
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), written)
    return written.getvalue()


NQ = "NQ-open.dev.jsonl"


def test_accepted_answers_are_trimmed_and_come_once_in_their_order(tmp_path):
    lines(tmp_path / NQ, {"question": " who? ", "answer": ["Ann", "", " Ann ", "Ann B.", "caf\u00e9", "cafe\u0301"]})
    (item,) = load("nq_open", tmp_path).items
    assert item.question == "who?" and item.answers == ("Ann", "Ann B.", "caf\u00e9")
    assert item.references == {"gold": "Ann"} and item.gold is None and item.language == "en"


def test_one_answer_is_enough_and_equal_aliases_are_no_pair(tmp_path):
    lines(tmp_path / NQ, {"question": "q", "answer": ["one", "one"]})
    loaded = load("nq_open", tmp_path)
    assert loaded.items[0].answers == ("one",) and loaded.warnings == ()


def test_questions_without_text_or_answers_are_left_out_and_counted(tmp_path):
    rows = [(" ", ["a"]), ("q", []), ("r", ["", " "]), ("s", ["a"])]
    lines(tmp_path / NQ, *({"question": q, "answer": a} for q, a in rows))
    loaded = load("nq_open", tmp_path)
    assert [item.question for item in loaded.items] == ["s"]
    assert {why: len(ids) for why, ids in loaded.provenance["dropped"].items()} == {NO_QUESTION: 1, NO_ANSWER: 2}
    assert any("2 item(s) left out, no accepted answer" in warning for warning in loaded.warnings)


def test_ids_come_from_the_question_whatever_else_is_in_the_file(tmp_path):
    lines(tmp_path / NQ, {"question": "a b", "answer": ["x"]}, {"question": "c", "answer": ["y"]})
    whole = {item.question: item.id for item in load("nq_open", tmp_path).items}
    lines(tmp_path / NQ, {"question": "c", "answer": ["z"]})
    assert load("nq_open", tmp_path).items[0].id == whole["c"] != whole["a b"]


def test_a_question_that_comes_again_shares_the_group_and_not_the_id(tmp_path):
    lines(tmp_path / NQ, *({"question": q, "answer": ["x"]} for q in ("Who is it?", "who  is it", "who was it")))
    first, second, third = load("nq_open", tmp_path).items
    assert second.id == f"{first.id}-2" and first.group == second.group == first.id
    assert third.group == third.id != first.id


def test_the_same_id_in_two_languages_gets_the_language_before_it():
    spoken = [Item(name, "d", f"q {name} {lang}", ("x",), None, language=lang) for name, lang in
              (("1", "en"), ("1", "te"), ("2", "te"))]  # fmt: skip
    rows = identified([answered(item, f"f:{i}") for i, item in enumerate(spoken)])
    assert [item.id for item in accept("d", Raw(rows, ())).items] == ["en:1", "te:1", "2"]


def test_an_id_twice_in_one_language_is_an_error():
    rows = identified([answered(Item("1", "d", q, ("x",), None, language="en"), f"f:{q}") for q in "ab"])
    with pytest.raises(UserError, match="The id '1' occurs twice: f:a and f:b"):
        accept("d", Raw(rows, ()))


@given(st.lists(st.text()))
def test_distinct_answers_are_neither_empty_nor_repeated(texts):
    kept = distinct(texts)
    assert distinct(kept) == kept and all(text == text.strip() != "" for text in kept)
    assert set(kept) <= {text.strip() for text in texts}


HOSTILE = ["{answer} {{ x }}", "</think>[[A]]", "=cmd|' /C calc'!A0", "before\0after", "<script>", "\u202eright"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_through_as_it_is(tmp_path, text):
    lines(tmp_path / NQ, {"question": text, "answer": [text]})
    (item,) = load("nq_open", tmp_path).items
    assert (item.question, item.answers) == (text, (text,))


def test_lone_surrogates_are_replaced_in_answers_and_reference(tmp_path):
    lines(tmp_path / NQ, {"question": "q", "answer": ["a\ud800"]})
    loaded = load("nq_open", tmp_path)
    assert loaded.items[0].answers == ("a\ufffd",) and loaded.items[0].references == {"gold": "a\ufffd"}
    assert loaded.provenance["cleaned_characters"] == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"question": "q", "answer": ["a"]}\n{"question": "q"', r"dev.jsonl:2: not valid JSON"),
        (b'{"question": "q"}\n', r"dev.jsonl:1: the field 'answer' is missing; found 'question'"),
        (b'{"question": "q", "answer": "a"}\n', r"dev.jsonl:1: the field 'answer' must hold a JSON list, not 'a'"),
        (b'{"question": "q", "answer": [["a"]]}\n', r"dev.jsonl:1: the field 'answer' must be a list of strings"),
        (b'{"question": "\xff", "answer": []}\n', r"dev.jsonl:1: not UTF-8"),
        (b"", r"nq_open: no items left of 0 read"),
    ],
)
def test_an_ill_formed_file_is_named_with_line_and_field(tmp_path, content, said):
    (tmp_path / NQ).write_bytes(content)
    with pytest.raises(UserError, match=said):
        load("nq_open", tmp_path)


@pytest.mark.parametrize("name", ["nq_open", "popqa", "sciq", "freshqa", "tydiqa"])
def test_an_unknown_split_and_a_folder_without_the_file_are_said(name, tmp_path):
    with pytest.raises(UserError, match=f"data.split=train is unknown; {name} has"):
        load(name, tmp_path, split="train")
    with pytest.raises(UserError, match="holds no "):
        load(name, tmp_path)


def test_languages_of_a_data_set_in_one_language(tmp_path):
    lines(tmp_path / NQ, {"question": "q", "answer": ["a"]})
    assert load("nq_open", tmp_path, languages=["en"]).items
    with pytest.raises(UserError, match=r"data\.languages: te is not a language of nq_open; it has en"):
        load("nq_open", tmp_path, languages=["te", "en"])
    with pytest.raises(UserError, match=r"names no languages: leave data\.languages null"):
        load("verifiable", languages=["en"])


# PopQA


def popqa_row(**changed):
    return {
        "id": 7,
        "question": "What is Ann's occupation?",
        "possible_answers": '["writer", "author"]',
        "s_pop": 12,
        "o_pop": 3,
    } | changed


def test_popqa_in_the_upstream_tsv(tmp_path):
    rows = [
        ("id", "subj", "prop", "s_pop", "question", "possible_answers"),
        (4222362, 'The "Old" Mill', "genre", 91, 'What genre is The "Old" Mill?', '["drama", "play \\"x\\""]'),
    ]
    table(tmp_path / "popQA.tsv", *rows, delimiter="\t")
    (item,) = load("popqa", tmp_path).items
    assert (item.id, item.source, item.popularity) == ("4222362", "genre", 91)
    assert item.question == 'What genre is The "Old" Mill?' and item.answers == ("drama", 'play "x"')


def test_popqa_parts_of_a_mirror(tmp_path):
    parts = [popqa_row(split="dev"), popqa_row(split="test", id=8, possible_answers=["nurse"])]
    lines(tmp_path / f"{popqa.MIRROR}.gz", *parts)
    assert [item.id for item in load("popqa", tmp_path).items] == ["7", "8"]
    (item,) = load("popqa", tmp_path, split="test").items
    assert (item.id, item.answers, item.source) == ("8", ("nurse",), "occupation")
    with pytest.raises(UserError, match=r"holds no popqa_1000\.jsonl"):
        load("popqa", tmp_path, split="head")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"possible_answers": "writer"}, "'possible_answers' must hold a JSON list, not 'writer'"),
        ({"s_pop": "many"}, "'s_pop' must be a whole number, not a string"),
        ({"s_pop": None}, "'s_pop' must be a whole number, not null"),
    ],
)
def test_popqa_ill_formed(tmp_path, changed, said):
    lines(tmp_path / "popqa.jsonl", popqa_row(), popqa_row(id=8, **changed))
    with pytest.raises(UserError, match=f"popqa.jsonl:2: the field {said}"):
        load("popqa", tmp_path)


def test_a_table_with_a_row_that_is_too_short_or_cut_is_named_with_its_line(tmp_path):
    header = ("id", "s_pop", "question", "possible_answers")
    file = table(tmp_path / "popQA.tsv", header, (1, 2, "two\nlines", '["a"]'), (2, 3, "q"), delimiter="\t")
    with pytest.raises(UserError, match=r"popQA.tsv:4: 3 fields in a row under 4 column names"):
        load("popqa", tmp_path)
    file.write_text('id\ts_pop\tquestion\tpossible_answers\n1\t2\tq\t"[1\n')
    with pytest.raises(UserError, match=r"popQA.tsv:2: not valid CSV"):
        load("popqa", tmp_path)
    file.write_text("a\tb\n1\t2\n")
    with pytest.raises(UserError, match="no row of column names has 'question'"):
        load("popqa", tmp_path)


def test_all_of_popqa_loads(tmp_path):
    header = ("id", "subj", "prop", "s_pop", "question", "possible_answers")
    answers = '["politician", "political leader", "polit.", "Zürich"]'
    rows = ((i, f"Ä {i}", "occupation", i, f"What is Ä {i}'s occupation?", answers) for i in range(14_267))
    table(tmp_path / "popQA.tsv", header, *rows, delimiter="\t")
    assert len(load("popqa", tmp_path, limit=1000, sample="random").items) == 1000


def test_popqa_from_the_hub(hub, load_from_hub):
    content = 'id\tprop\ts_pop\tquestion\tpossible_answers\n5\tcapital\t9\tWhat is the capital of X?\t"[""Y""]"\n'
    served = hub({"test.tsv": content.encode()})
    ids, (file,) = load_from_hub("popqa", served.endpoint)
    assert ids == ["5"] and file["origin"] == f"hub:akariasai/PopQA@{served.commit}"


def test_real_popqa():
    loaded = load("popqa", real("popqa"))
    assert len(loaded.items) == len({item.id for item in loaded.items}) == 2000
    assert len({item.source for item in loaded.items}) == 16 and "" not in {item.source for item in loaded.items}
    utah = next(item for item in loaded.items if item.question == "What is the capital of Utah?")
    assert utah.answers == ("Salt Lake City", "Salt Lake", "SLC", "Salt Lake City, Utah")
    assert (utah.id, utah.popularity, utah.source) == ("6279762", 238255, "capital")
    assert len(load("popqa", real("popqa"), split="dev").items) == 1000


def test_real_popqa_head():
    items = {item.id: item for item in load("popqa", real("popqa"), split="head").items}
    assert Counter(item.source for item in items.values()) == {"place of birth": 543, "occupation": 457}
    assert sum(len(item.answers) > 1 for item in items.values()) == 837 and len(items) == 1000
    # The one question text that comes twice: two persons of the same name.
    assert items["128"].question == "What is Will Smith's occupation?" and items["413"].group == items["128"].group
    assert len({item.group for item in items.values()}) == 999
    # Where a mirror drops the relation, the template tells the same one.
    assert all(popqa.relation(item.question) == item.source for item in items.values())


# SciQ


def test_sciq_files_agree_on_ids(tmp_path):
    lines(tmp_path / "sciq_test.jsonl", {"question": "What is it?", "answer": "a clone"})
    table(tmp_path / "test.csv", ("question", "correct_answer", "support"), ("What is it?", "a clone", "It\nis.\n"))
    (plain,), (supported,) = (load("sciq", tmp_path, split=split).items for split in (None, "support"))
    assert plain.id == supported.id and plain.answers == supported.answers == ("a clone",)
    assert (plain.context, supported.context) == ("", "It\nis.")


def test_sciq_from_the_hub(hub, load_from_hub):
    row = {"question": "q", "distractor1": "x", "distractor2": "y", "distractor3": "z"}
    rows = [
        row | {"correct_answer": "a", "support": ""},
        row | {"question": "r", "correct_answer": "b", "support": "s"},
    ]
    served = hub({sciq.HUB_FILE: parquet(rows)}, commit=sciq.REVISION)
    ids, (file,) = load_from_hub("sciq", served.endpoint)
    assert len(ids) == 2 and file["origin"] == f"hub:allenai/sciq@{sciq.REVISION}"


def test_the_mirrors_split_of_sciq_is_not_on_the_hub():
    with pytest.raises(UserError, match="a mirror's file, not the hub's"):
        load("sciq", split="support")


def test_real_sciq():
    items, supported = (load("sciq", real("sciq"), split=split).items for split in ("test", "support"))
    assert (len(items), len(supported)) == (1000, 884)
    assert items[1].question == "What term in biotechnology means a genetically exact copy of an organism?"
    assert items[1].answers == ("clone",) and not any(item.context for item in items)
    assert all(item.context for item in supported) and supported[1].id == items[1].id
    assert supported[1].context.startswith("But transgenic animals just have one novel gene.")


# NQ-Open and FreshQA: pinned files, real rows


@pytest.mark.parametrize(
    ("module", "name", "file", "content"),
    [
        (nq_open, "nq_open", NQ, b'{"question": "q", "answer": ["a"]}\n'),
        (freshqa, "freshqa", freshqa.NAME, b"id,split,question,false_premise,fact_type,answer_0\n3,TEST,q,FALSE,f,a\n"),
    ],
)
def test_without_a_path_the_pinned_file_is_fetched(tmp_path, monkeypatch, module, name, file, content):
    served = tmp_path / "served" / file
    served.parent.mkdir(parents=True)
    served.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "ORIGIN", (tmp_path / "served").as_uri())
    monkeypatch.setattr(module, "SHA256", {"dev": digest} if module is nq_open else digest)
    loaded = load(name)
    assert [item.answers for item in loaded.items] == [("a",)]
    assert loaded.provenance["files"][0]["origin"] == served.as_uri()


def test_real_nq_open():
    loaded = load("nq_open", real("nq_open"))
    assert len(loaded.items) == len({item.group for item in loaded.items}) == 3610 and loaded.warnings == ()
    assert loaded.items[0].answers == ("14 December 1972 UTC", "December 1972")
    assert loaded.provenance["files"][0]["sha256"] == nq_open.SHA256["dev"]
    other = load("nq_open", real("nq_open"), split="efficientqa")
    assert len(other.items) == 1769 and other.items[1].answers == ("Nine",)
    assert other.provenance["files"][0]["sha256"] == nq_open.SHA256["efficientqa"]


FRESH = ("id", "split", "question", "false_premise", "fact_type", "source", "answer_0", "answer_1", "note")


def test_freshqa_rows_notes_above_and_line_breaks(tmp_path):
    rows = [
        FRESH,
        ("4", "TEST", "Who, now?", "FALSE", "fast-changing", "http://a\nhttp://b", "Ann", "", ""),
        ("5", "DEV", 'Who "then"?', "TRUE", "never-changing", "", "nobody", "", ""),
        ("6", "DEV", "When?", "FALSE", "never-changing", "", "1969", "in 1969", "a\nnote"),
    ]
    table(tmp_path / "freshqa_2023.csv.gz", *rows, above="WARNING: do not train on this,,,,,,,,\r\n")
    loaded = load("freshqa", tmp_path)
    assert [(item.id, item.source, item.answers) for item in loaded.items] == [
        ("4", "fast-changing", ("Ann",)),
        ("6", "never-changing", ("1969", "in 1969")),
    ]
    assert loaded.provenance["dropped"] == {freshqa.FALSE_PREMISE: ["5"]}
    assert loaded.warnings == ("freshqa: 1 item(s) left out, a false premise: 5.",)
    assert [item.id for item in load("freshqa", tmp_path, split="dev").items] == ["6"]


def test_freshqa_premise_that_is_neither(tmp_path):
    table(tmp_path / "freshqa.csv", FRESH, ("4", "TEST", "q", "maybe", "f", "", "a", "", ""))
    with pytest.raises(UserError, match=r"freshqa.csv:2: the false_premise 'maybe' names no answer"):
        load("freshqa", tmp_path)


def test_real_freshqa():
    loaded = load("freshqa", real("freshqa"))
    assert len(loaded.items) == 450 and len(loaded.provenance["dropped"][freshqa.FALSE_PREMISE]) == 150
    assert loaded.provenance["files"][0]["sha256"] == freshqa.SHA256
    tour = next(item for item in loaded.items if item.id == "599")
    assert tour.question == "When was the most recent winner of the Tour de France born?"
    assert tour.answers == ("1996", "10-Dec-96", "12/10/1996", "10/12/1996") and tour.source == "fast-changing"
    raw = [load("freshqa", real("freshqa"), split=split) for split in ("test", "dev")]
    assert [len(part.items) + len(part.provenance["dropped"][freshqa.FALSE_PREMISE]) for part in raw] == [500, 100]
