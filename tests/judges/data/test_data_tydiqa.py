"""TyDi QA and MATA: questions in Arabic, English and Telugu, and their way through files."""

import gzip
import io
import json
import unicodedata
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from analysis import files
from judges.data import load, mata, tydiqa
from judges.data.answered import NO_ANSWER
from judges.records import UserError

REAL = Path(__file__).resolve().parents[4] / "shared/data/tydiqa_goldp"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/tydiqa_goldp is absent")


def nested(file, *asked):
    data = [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": f"passage on {q}",
                    "qas": [{"id": i, "question": q, "answers": [{"text": a} for a in texts]}],
                }
            ],
        }
        for i, q, texts in asked
    ]
    content = json.dumps({"data": data}, ensure_ascii=False).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def parquet(rows):
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), written)
    return written.getvalue()


def three(folder):
    nested(folder / "arabic_dev.json.gz", ("arabic-1-0", "متى؟", ["١٩٦٩", "١٩٦٩"]))
    nested(folder / "english_dev.json", ("english--2-0", "when?", ["1969", "in 1969"]))
    nested(folder / "telugu_dev.json", ("telugu--3-0", "ఎప్పుడు?", ["౧౯౬౯"]))
    return folder


def test_each_language_is_a_column_and_its_passage_the_context(tmp_path):
    items = load("tydiqa", three(tmp_path)).items
    assert [(item.language, item.source, item.answers) for item in items] == [
        ("ar", "arabic", ("١٩٦٩",)),
        ("en", "english", ("1969", "in 1969")),
        ("te", "telugu", ("౧౯౬౯",)),
    ]
    assert items[2].context == "passage on ఎప్పుడు?" and items[2].references == {"gold": "౧౯౬౯"}


def test_languages_are_chosen_and_unknown_ones_named(tmp_path):
    loaded = load("tydiqa", three(tmp_path), languages=["te", "en"])
    assert [item.language for item in loaded.items] == ["en", "te"]
    assert loaded.provenance["draw"]["languages"] == ["te", "en"]
    with pytest.raises(UserError, match=r"data\.languages: fr is not a language of tydiqa; it has ar, en, te"):
        load("tydiqa", tmp_path, languages=["fr", "en"])


def test_the_same_id_in_two_languages_is_told_apart(tmp_path):
    nested(tmp_path / "english_dev.json", ("17", "when?", ["then"]), ("18", "who?", ["she"]))
    nested(tmp_path / "telugu_dev.json", ("17", "ఎప్పుడు?", ["అప్పుడు"]))
    items = load("tydiqa", tmp_path).items
    assert [(item.id, item.language) for item in items] == [("en:17", "en"), ("18", "en"), ("te:17", "te")]
    assert len({item.group for item in items}) == 3


def test_the_upstream_file_of_all_languages_gives_three(tmp_path):
    asked = [("finnish-1-0", "milloin?", ["nyt"]), ("telugu-2-0", "ఎప్పుడు?", ["అప్పుడు"])]
    nested(tmp_path / "tydiqa-goldp-v1.1-dev.json", *asked)
    assert [item.id for item in load("tydiqa", tmp_path).items] == ["telugu-2-0"]


def test_a_mirrors_folders_and_a_single_file(tmp_path):
    file = nested(tmp_path / "language_data/telugu/telugu_tydiqa_dev.json", ("9", "ఎవరు?", ["ఆమె"]))
    assert load("tydiqa", tmp_path).items == load("tydiqa", file).items
    other = nested(tmp_path / "dev.json", ("9", "who?", ["she"]))
    with pytest.raises(UserError, match=r"neither the id '9' nor 'dev\.json' tells a language"):
        load("tydiqa", other)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            {"data": [{"paragraphs": [{"qas": []}]}, {}]},
            r"english_dev.json: data\[1\]: the field 'paragraphs' is missing",
        ),
        ({"paragraphs": []}, "english_dev.json: the field 'data' is missing"),
        ([], "english_dev.json: expected a JSON object, found a list"),
    ],
)
def test_an_ill_formed_file_is_named(tmp_path, content, said):
    (tmp_path / "english_dev.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=said):
        load("tydiqa", tmp_path)


def test_from_the_hub(hub, load_from_hub):
    rows = [
        {
            "id": f"{lang}-1",
            "title": "t",
            "context": "c",
            "question": q,
            "answers": {"text": ["a"], "answer_start": [0]},
        }
        for lang, q in (("swahili", "lini?"), ("telugu", "ఎప్పుడు?"), ("english", "when?"))
    ]
    served = hub({tydiqa.HUB["goldp"][1]: parquet(rows)})
    ids, (file,) = load_from_hub("tydiqa", served.endpoint)
    assert ids == ["telugu-1", "english-1"]
    assert file["origin"] == f"hub:google-research-datasets/tydiqa@{served.commit}"


def test_the_unanswerable_half_of_the_papers_file_is_left_out(tmp_path):
    rows = [
        {
            "question_text": q,
            "document_title": "t",
            "language": lang,
            "annotations": {"answer_start": [0], "answer_text": [text]},
            "document_plaintext": "p",
            "document_url": "u",
        }
        for q, lang, text in (("when?", "english", "1969"), ("why?", "english", ""), ("lini?", "swahili", "x"))
    ]
    (tmp_path / "validation-00000-of-00001.parquet").write_bytes(parquet(rows))
    loaded = load("tydiqa", tmp_path, split="answerable")
    assert [(item.question, item.answers, item.language) for item in loaded.items] == [("when?", ("1969",), "en")]
    assert [len(ids) for ids in loaded.provenance["dropped"].values()] == [1] and NO_ANSWER in loaded.warnings[0]


@pytest.fixture(scope="module")
def real():
    if not REAL.is_dir():
        pytest.skip("../shared/data/tydiqa_goldp is absent")
    return load("tydiqa", REAL).items


def test_real_counts_and_first_rows(real):
    assert Counter(item.language for item in real) == {"ar": 921, "en": 440, "te": 669}
    telugu = next(item for item in real if item.language == "te")
    assert (telugu.id, telugu.question) == ("telugu--2245295572008910947-0", "మహా సముద్రాలు ఎన్ని ఉన్నాయి?")
    assert telugu.answers == ("ఐదు",)
    # Every answer is a span of its passage.
    assert all(answer in item.context for item in real for answer in item.answers)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_arabic_and_telugu_survive_every_file(real, tmp_path, suffix):
    chosen = [item for item in real if item.language != "en"][::7]
    columns = ("id", "question", "context", "language")
    table = pd.DataFrame({name: [getattr(item, name) for item in chosen] for name in columns})
    table["answer"] = [item.answers[0] for item in chosen]
    files.save(table, tmp_path / f"t.{suffix}")
    back = files.load(tmp_path / f"t.{suffix}", as_text=table.columns)
    assert {unicodedata.name(c).split()[0] for c in "".join(table["answer"]) if c.isalpha()} >= {"ARABIC", "TELUGU"}
    pd.testing.assert_frame_equal(back.astype(object), table.astype(object))


# MATA: rows made by hand in its assumed schemas


def rows_of_mata():
    return [
        {"id": 1, "question": "భారత రాజధాని ఏది?", "answer": "న్యూ ఢిల్లీ", "category": "Factual Knowledge", "format": "Open"},
        {"id": 2, "question": "‘పుస్తకం’ బహువచనం ఏమిటి?", "answer": "పుస్తకాలు", "category": "Grammar", "format": "Open"},
        {"id": 3, "question": "ఏది పండు?", "answer": "మామిడి", "category": "Vocabulary", "format": "MCQ"},
        {"id": 4, "question": "ఖాళీ?", "answer": "", "category": "Vocabulary", "format": "Open"},
    ]


def test_mata_takes_open_questions_and_counts_the_rest(tmp_path):
    (tmp_path / "mata.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_of_mata()))
    loaded = load("mata", tmp_path)
    assert [(item.id, item.source, item.answers) for item in loaded.items] == [
        ("1", "Factual Knowledge", ("న్యూ ఢిల్లీ",)),
        ("2", "Grammar", ("పుస్తకాలు",)),
    ]
    assert {item.language for item in loaded.items} == {"te"}
    assert loaded.provenance["dropped"] == {mata.OPTIONS: ["3"], NO_ANSWER: ["4"]}


def test_mata_column_names_are_tolerated(tmp_path):
    rows = [("Question ", "Correct Answer", "Question Category", "Options"), ("ఎవరు?", "ఆమె", "Riddles", "")]
    rows.append(("ఏది?", "అ", "Riddles", "['అ', 'ఆ']"))
    pd.DataFrame(rows[1:], columns=rows[0]).to_csv(tmp_path / "MATA.csv", index=False)
    (tmp_path / "MATA.csv").write_text((tmp_path / "MATA.csv").read_text().replace("Question ,", "question,"))
    loaded = load("mata", tmp_path)
    assert [(item.answers, item.source) for item in loaded.items] == [(("ఆమె",), "Riddles")]
    assert [len(ids) for ids in loaded.provenance["dropped"].values()] == [1]


def test_mata_without_an_answer_column_tells_what_there_is(tmp_path):
    (tmp_path / "mata.jsonl").write_text('{"question": "q", "solution": "a"}\n')
    with pytest.raises(UserError, match=r"mata.jsonl:1: no column holds the answer; looked for .*, found question"):
        load("mata", tmp_path)
    with pytest.raises(UserError, match=r"holds no MATA file of the split train; found mata\.jsonl"):
        load("mata", tmp_path, split="train")


def test_mata_from_the_hub_takes_the_open_ended_files(hub, load_from_hub):
    row = {"question": "q", "answer": "a"}
    served = hub(
        {
            ".gitattributes": b"x",
            "README.md": b"#",
            "data/mcq-00000.parquet": parquet([row | {"question": "m"}]),
            "data/open_ended-00000.parquet": parquet([row | {"id": "t1"}, row | {"question": "r", "id": "t2"}]),
        }
    )
    ids, (file,) = load_from_hub("mata", served.endpoint)
    assert ids == ["t1", "t2"] and file["origin"] == f"hub:TeluguLLMResearch/MATA@{served.commit}"


def test_a_hub_that_cannot_be_reached_says_what_to_do(load_from_hub):
    said = load_from_hub("mata", "http://127.0.0.1:9")
    assert "could not be listed" in said and "data.path=FOLDER" in said
