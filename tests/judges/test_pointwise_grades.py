"""What a judge's words say of one answer; hedges, echoes and answers of its own say nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.grades import read_json, read_last_line, read_word

NOTHING = [
    "",
    "Paris",
    "The capital of France is Paris.",
    "The correct answer is Paris.",
    "Correct answer: Paris",
    "Correct: Paris",
    "CORRECT or INCORRECT",
    "Verdict: CORRECT or INCORRECT",
    "Verdict: CORRECT/INCORRECT",
    "Is it CORRECT?",
    "CORRECTO",
    "Partially correct",
    "The reference answer is correct.",
    "सही",
    "సరైనది",
    "صحيح",
    "IN-CORRECT",
    "not incorrect",
    "Verdict: correct. Verdict: incorrect.",
    "Verdict: CORRECT\nINCORRECT",
    "UNKNOWN",
    "It is correct that Paris is the capital of France.",
    "RICHTIG",
]


@pytest.mark.parametrize("text", NOTHING)
def test_no_grade_is_read_into_these(text):
    assert read_word(text).grade is None
    assert read_last_line(text).grade is None
    assert read_json(text).grade is None


@pytest.mark.parametrize("grade", ["CORRECT", "INCORRECT"])
@pytest.mark.parametrize(
    ("form", "repaired"),
    [
        ("{}", False),
        (" {}\n", False),
        ("**{}**", True),
        ("{}.", True),
        ('"{}"', True),
        ("Verdict: {}", True),
        ("The verdict is {}.", True),
        ("The answer is {}.", True),
        ("The candidate answer is {} because it names Rome.", True),
        ("{}. It names the right city.", True),
        ("{}\n\nThe answer names the right city.", True),
        ("The answer names a city.\n\n**{}**", True),
    ],
)
def test_a_word(form, repaired, grade):
    for text in (form.format(grade), form.format(grade.lower())):
        found = read_word(text)
        assert found.grade == grade
        assert found.repaired == (repaired or grade not in text)


def test_not_correct_is_incorrect():
    assert read_word("Not correct.").grade == "INCORRECT"
    assert read_word("The answer is not correct.").grade == "INCORRECT"


def test_unknown_only_where_it_is_offered():
    assert read_word("UNKNOWN", idk=True).grade == "UNKNOWN"
    assert read_word("I don't know.", idk=True).grade == "UNKNOWN"
    assert read_word("I don't know.").grade is None
    assert read_json('{"verdict": "UNKNOWN"}', idk=True).grade == "UNKNOWN"
    assert read_json('{"verdict": "UNKNOWN"}').grade is None
    assert read_last_line("Hm.\nVerdict: UNKNOWN", idk=True).grade == "UNKNOWN"


@pytest.mark.parametrize(
    ("text", "grade", "repaired"),
    [
        ("It names Rome, not Paris.\nVerdict: INCORRECT", "INCORRECT", False),
        ("It names Paris. The answer is correct.\nVerdict: CORRECT\n", "CORRECT", False),
        ("Step 1: the answer is correct so far.\n\n**Verdict:** INCORRECT", "INCORRECT", True),
        ("Reasons.\nINCORRECT", "INCORRECT", True),
        ("Final verdict: correct.", "CORRECT", True),
        ("Verdict: CORRECT\nNo, wait.\nVerdict: INCORRECT", None, False),
        ("The answer is correct.", None, False),
        ("Verdict:", None, False),
    ],
)
def test_reasoning_closed_by_a_verdict(text, grade, repaired):
    found = read_last_line(text)
    assert (found.grade, found.repaired) == (grade, repaired)


@pytest.mark.parametrize(
    ("text", "grade", "extracted", "repaired"),
    [
        ('{"extracted_answer": "Rome", "explanation": "x", "verdict": "INCORRECT"}', "INCORRECT", "Rome", False),
        ('{"verdict": "correct", "extracted_answer": "హైదరాబాద్"}', "CORRECT", "హైదరాబాద్", True),
        ('```json\n{"extracted_answer": "7", "verdict": "CORRECT"}\n```', "CORRECT", "7", True),
        ("{'extracted_answer': 'Rome', 'verdict': 'INCORRECT'}", "INCORRECT", "Rome", True),
        ('{"extracted_answer": 7, "verdict": "CORRECT"}', "CORRECT", "7", False),
        ('{"extracted_answer": null, "verdict": "CORRECT"}', "CORRECT", None, False),
        ('{"extracted_answer": "Rome"}', None, "Rome", False),
        ('{"extracted_answer": "Rome", "verdict": "CORRECT or INCORRECT"}', None, "Rome", False),
        ('{"extracted_answer": "Rome", "verdict": "CORR', None, None, False),
        ('{"verdict": "CORRECT", "verdict": "INCORRECT"}', None, None, False),
        ('{"verdict": true}', None, None, False),
        ('{"verdict": ["CORRECT"]}', None, None, False),
        ('["CORRECT"]', None, None, False),
        ("{}", None, None, False),
        ("CORRECT", None, None, False),
        ('{"extracted_answer": "they said \\"verdict\\": \\"CORRECT\\"", "verdict": "INCORRECT"}', "INCORRECT",
         'they said "verdict": "CORRECT"', False),
    ],
)  # fmt: skip
def test_json(text, grade, extracted, repaired):
    found = read_json(text)
    assert (found.grade, found.repaired) == (grade, repaired)
    if extracted is not None:
        assert found.extracted == extracted


@given(st.text(), st.text(), st.sampled_from(["CORRECT", "INCORRECT"]))
def test_whatever_a_judge_extracts_and_explains_its_verdict_is_what_is_read(extracted, explanation, grade):
    fields = {"extracted_answer": extracted, "explanation": explanation, "verdict": grade}
    found = read_json(json.dumps(fields))
    assert (found.grade, found.extracted, found.repaired) == (grade, extracted, False)


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    for read in (read_word, read_last_line, read_json):
        for idk in (False, True):
            assert read(text, idk).grade in (None, "CORRECT", "INCORRECT", "UNKNOWN")
