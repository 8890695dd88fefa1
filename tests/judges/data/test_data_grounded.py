"""Grounded records: GaRAGe's schema, other JSONL, the demo and its truth, and selection."""

import gzip
import hashlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.data import garage
from judges.data.grounded import DEMO_TRUTH, GROUNDED, Grounded, Passage, load_grounded, select
from judges.records import UserError

KINDS = (
    *("entity", "temporal", "numerical", "relation_inversion", "location"),
    *("affiliation", "ranking", "causal", "negation_modality", "multihop_bridge"),
)


def record(name="a1", answering=(True, True, False), **changed):
    passages = [
        {f"cite_{i}": f"text {i}", "age": "3 days", "date": "1 May 2025", "provider": "web"}
        for i in range(1, len(answering) + 1)
    ]
    return {
        "sample_id": name,
        "question_date": "4 May 2025",
        "grounding": passages,
        "question": "Who?",
        "question_valid": "YES",
        "question_false_premise": "NO",
        "question_seeking": "YES",
        "question_type": "",
        "question_complexity": "Multi-hop",
        "question_category": "/Sports/Team Sports",
        "question_popularity": "Tail",
        "evidence_correct": ["ANSWER-THE-QUESTION" if one else "RELATED-INFORMATION" for one in answering],
        "answer_generate": "She.[cite_1]",
        "answer_validate": "YES",
    } | changed


def save(folder, *records, name="GaRAGe_benchmark.jsonl"):
    content = "".join(json.dumps(one) + "\n" for one in records).encode()
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return file


def test_fields_of_garage(tmp_path):
    save(tmp_path, record(), name="data/GaRAGe_benchmark.jsonl.gz")
    (one,) = load_grounded("garage", tmp_path).records
    assert (one.id, one.question, one.answer, one.date) == ("a1", "Who?", "She.[cite_1]", "4 May 2025")
    assert one.passages[1] == Passage("cite_2", "text 2", "1 May 2025", "web", True)
    assert [passage.answers for passage in one.passages] == [True, True, False]
    assert (one.question_valid, one.false_premise, one.seeking, one.answer_validate) == (True, False, True, True)
    assert (one.complexity, one.category, one.popularity) == ("Multi-hop", "Sports", "Tail")


def test_what_the_readme_leaves_open_is_read_either_way(tmp_path):
    same = [{"cite_1": "x"}, {"cite_1": "y"}]
    changed = {"question_valid": True, "question_false_premise": False, "answer_validate": "", "grounding": same}
    tags = {"evidence_correct": ["OUTDATED", ""], "question_category": "Law & Government"}
    save(tmp_path, record(**changed, **tags))
    (one,) = load_grounded("garage", tmp_path).records
    assert [(p.id, p.text, p.answers) for p in one.passages] == [("cite_1", "x", False), ("cite_2", "y", False)]
    assert (one.question_valid, one.answer_validate, one.category) == (True, False, "Law & Government")


NEEDED = (
    "sample_id",
    "grounding",
    "question",
    "question_valid",
    "question_false_premise",
    "question_seeking",
    "question_complexity",
    "question_category",
    "question_popularity",
    "evidence_correct",
    "answer_generate",
    "answer_validate",
)


@pytest.mark.parametrize("field", NEEDED)
def test_a_missing_field_is_named_with_file_and_line(tmp_path, field):
    short = record("b2")
    del short[field]
    save(tmp_path, record(), short)
    with pytest.raises(UserError, match=f"GaRAGe_benchmark.jsonl:2: the field '{field}' is missing"):
        load_grounded("garage", tmp_path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"question_valid": "perhaps"}, ":1: the field 'question_valid' must be YES or NO, not 'perhaps'"),
        ({"grounding": "none"}, ":1: the field 'grounding' must be a list of objects"),
        ({"grounding": [{"date": "x"}] * 3}, ":1, passage 1: no field such as 'cite_1' holds the text; found 'date'"),
        ({"grounding": [{"cite_1": None}] * 3}, ":1, passage 1: the field 'cite_1' must be a string, not null"),
        ({"evidence_correct": ["UNKNOWN"]}, ":1: 1 tags in 'evidence_correct' for 3 passages in 'grounding'"),
    ],
)
def test_an_ill_formed_field_is_named(tmp_path, changed, said):
    save(tmp_path, record(**changed))
    with pytest.raises(UserError, match=said):
        load_grounded("garage", tmp_path)


def test_ids_that_occur_twice_empty_questions_and_records_without_passages(tmp_path):
    save(tmp_path, record("a"), record("b"), record("a"))
    with pytest.raises(UserError, match=r"The id 'a' occurs twice: .*:1 and .*:3"):
        load_grounded("garage", tmp_path)
    save(tmp_path, record("a"), record("b", question=" "), record("c", answering=()))
    loaded = load_grounded("garage", tmp_path)
    assert [one.id for one in loaded.records] == ["a"]
    assert loaded.provenance["dropped"] == {"no question": ["b"], "no passages": ["c"]}
    assert loaded.warnings[0] == "garage: 1 record(s) left out, no question: b."


def test_hostile_text_stays_and_lone_surrogates_go(tmp_path):
    save(tmp_path, record(question="=1+1 {answer} </think>", answer_generate="a\ud800"))
    (one,) = load_grounded("garage", tmp_path).records
    assert one.question == "=1+1 {answer} </think>" and one.answer == "a\ufffd"


def test_limits_are_nested_and_seeded(tmp_path):
    save(tmp_path, *(record(f"r{i}") for i in range(30)))
    ids = {n: [r.id for r in load_grounded("garage", tmp_path, limit=n).records] for n in (5, 12, 99)}
    assert len(ids[5]) == 5 and set(ids[5]) < set(ids[12]) and ids[99] == [f"r{i}" for i in range(30)]
    assert ids[5] != [r.id for r in load_grounded("garage", tmp_path, limit=5, seed=1).records]
    with pytest.raises(UserError, match=r"data\.limit=0 leaves no records"):
        load_grounded("garage", tmp_path, limit=0)


def test_without_a_path_the_pinned_file_is_fetched(tmp_path, monkeypatch):
    served = save(tmp_path / "served", record(), name=garage.NAME)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(garage, "ORIGIN", (tmp_path / "served").as_uri())
    monkeypatch.setattr(garage, "SHA256", hashlib.sha256(served.read_bytes()).hexdigest())
    loaded = load_grounded("garage")
    assert [one.id for one in loaded.records] == ["a1"]
    assert loaded.provenance["files"][0]["origin"] == served.as_uri()


def test_names_and_paths():
    with pytest.raises(UserError, match=r"no grounded records 'grage'. Did you mean 'garage'\? Known: grounded_demo"):
        load_grounded("grage")
    with pytest.raises(UserError, match="ships with the package"):
        load_grounded("grounded_demo", "somewhere")
    with pytest.raises(UserError, match=r"data\.path=FILE.jsonl"):
        load_grounded("grounded_jsonl")
    assert list(GROUNDED) == ["grounded_demo", "garage", "grounded_jsonl"]


def test_any_jsonl_with_question_answer_and_passages(tmp_path):
    passages = ["plain", {"text": "named", "id": "n", "date": "2024", "answers": True}]
    save(tmp_path, {"question": "q", "answer": "a", "passages": passages}, name="mine.jsonl")
    (one,) = load_grounded("grounded_jsonl", tmp_path).records
    assert one == Grounded("record-00000", "q", "a", (Passage("p1", "plain"), Passage("n", "named", "2024", "", True)))
    assert one.answering == one.passages[1:]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"question": 1}, "mine.jsonl:1: the field 'question' must be a string, not a number"),
        ({"passages": None}, "mine.jsonl:1: the field 'passages' must be a list of texts or objects, not null"),
        ({"passages": [{"id": "x"}]}, "mine.jsonl:1, passage 1: the field 'text' is missing"),
        ({"passages": [3]}, "passage 1: must be a text or an object with 'text', not a number"),
        ({"passages": ["x", {"text": "y", "id": "p1"}]}, "two passages have the same id"),
        ({"seeking": "YES"}, "'seeking' must be true or false"),
    ],
)
def test_other_jsonl_ill_formed(tmp_path, line, said):
    line = {"question": "q", "answer": "a", "passages": ["x"]} | line
    with pytest.raises(UserError, match=said):
        load_grounded("grounded_jsonl", save(tmp_path, line, name="mine.jsonl"))


# Selection


def made(name, popularity="Tail", complexity="Set", category="Sports", answering=2, **said):
    passages = tuple(Passage(f"p{i}", "x", answers=i < answering) for i in range(3))
    facts = {"question_valid": True, "false_premise": False, "seeking": True, "answer_validate": True} | said
    return Grounded(name, "q", "a", passages, complexity=complexity, category=category, popularity=popularity, **facts)


def test_the_funnel_counts_what_each_filter_leaves():
    unfit = [
        made("v", question_valid=False),
        made("s", seeking=False),
        made("f", false_premise=True),
        made("a", answer_validate=False),
        made("p", answering=1),
        made("both", question_valid=False, seeking=False),
    ]
    chosen, funnel = select([made("x"), *unfit, made("y")], n=1)
    assert funnel == {
        "read": 8,
        "valid": 6,
        "seeking": 5,
        "no_false_premise": 4,
        "validated": 3,
        "eligible": 2,
        "selected": 1,
    }
    assert chosen[0].id in "xy"


def test_what_nobody_says_keeps_no_record_out():
    one = Grounded("x", "q", "a", (Passage("p1", "x"), Passage("p2", "y")))
    assert select([one])[0] == (one,)
    assert select([Grounded("x", "q", "a", (Passage("p1", "x"),))])[1]["eligible"] == 0


def test_rounds_take_one_of_each_cell_before_a_second():
    records = [made(f"h{i}", popularity="Head") for i in range(50)]
    records += [made(f"t{i}", complexity="Comparison") for i in range(2)] + [
        made(f"c{i}", category="Law") for i in range(5)
    ]
    assert Counter(one.id[0] for one in select(records, 3)[0]) == {"h": 1, "t": 1, "c": 1}
    assert Counter(one.id[0] for one in select(records, 12)[0]) == {"h": 5, "t": 2, "c": 5}


CELLS = st.tuples(st.sampled_from("HTt"), st.sampled_from("SM"), st.integers(0, 3))


@given(st.lists(CELLS, max_size=40), st.integers(1, 50))
def test_selection_is_nested_deterministic_and_in_order(cells, n):
    records = [made(f"{i:02}", p, c, answering=a) for i, (p, c, a) in enumerate(cells)]
    chosen, funnel = select(records, n)
    assert (chosen, funnel) == select(records, n) and len(chosen) == min(n, funnel["eligible"]) == funnel["selected"]
    assert set(chosen) <= set(select(records, n + 1)[0])
    assert [one.id for one in chosen] == sorted(one.id for one in chosen)
    taken = Counter((one.popularity, one.complexity) for one in chosen)
    there = Counter((one.popularity, one.complexity) for one in records if len(one.answering) >= 2)
    most = max(taken.values(), default=0)
    assert all(taken[cell] >= min(size, most - 1) for cell, size in there.items())


# The demo


@pytest.fixture(scope="module")
def demo():
    records = {one.id: one for one in load_grounded("grounded_demo").records}
    return records, [json.loads(line) for line in DEMO_TRUTH.read_text().splitlines()]


def test_the_demo_covers_all_kinds(demo):
    records, truth = demo
    kinds = Counter(one["kind"] for one in truth)
    assert set(kinds) == set(KINDS) and min(kinds.values()) == 4 and len(truth) == 42
    chosen, funnel = select(list(records.values()))
    assert {one["sample_id"] for one in truth} == {one.id for one in chosen}
    assert list(funnel.values()) == [47, 46, 45, 44, 43, 42, 42]
    assert all(2 <= len(one.passages) <= 5 for one in records.values())
    assert {one.complexity for one in chosen} == {
        "Simple",
        "Simple w. condition",
        "Set",
        "Comparison",
        "Aggregation",
        "Multi-hop",
        "Post-processing heavy",
    }
    assert all(any(not passage.answers for passage in one.passages) for one in chosen)


def test_edits_change_exactly_the_answering_passages_and_leave_no_trace(demo):
    records, truth = demo
    for told in truth:
        one = records[told["sample_id"]]
        assert told["original"].casefold() in one.answer.casefold(), one.question
        for passage in one.passages:
            text = passage.text
            for old, new in told["edits"].items():
                text = text.replace(old, new)
            assert (text != passage.text) is passage.answers, (one.question, passage.id)
            assert not any(old.casefold() in text.casefold() for old in told["edits"]), (one.question, passage.id)
            assert any(new in text for new in told["edits"].values()) is passage.answers


def test_nothing_in_a_record_tells_what_it_was_written_for(demo):
    records, truth = demo
    for told in truth:
        one = records[told["sample_id"]]
        shown = " ".join((one.answer, *(passage.text for passage in one.passages)))
        assert told["replacement"].casefold() not in shown.casefold(), one.question
        assert told["false_claim"] not in repr(one) and "perturb" not in repr(one)
