"""Where a verdict stands in a judge's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.formats import FORMATS, Thinking
from judges.spans import locate

PLACES = [
    ("pairwise", "direct", "B", "B", 0),
    ("pairwise", "direct", "A good try, but the better answer is **B**.", "B", 39),
    ("pairwise", "direct", "<think>A is better.</think>\nB", "B", 28),
    ("pairwise", "vf_json", r'{"reason": "it says \"verdict\": \"A\"", "verdict": "B"}', "B", 53),
    ("pairwise", "vf_json", """{"verdict": "B", "reason": "not 'verdict': 'A', though"}""", "B", 13),
    ("pairwise", "cot_json", '```json\n{"reasoning": "", "verdict": "A"}\n```', "A", 38),
    ("pairwise", "cot_xml", "<reasoning>B</reasoning>\n<verdict> A </verdict>", "A", 35),
    ("pairwise", "arena_hard", "My final verdict is [[B>>A]].", "B>>A", 22),
    ("pairwise", "prometheus", "Response A slips. [RESULT] B", "B", 27),
    ("pairwise", "skywork_critic", "[[A]]", "A", 2),
    ("pairwise", "compass_judger", "B is clearer: [[B>A]]", "B>A", 16),
    ("pairwise", "auto_j", "So, the final decision is Response 2.", "2", 35),
    ("pointwise", "json", '{"extracted_answer": "CORRECT", "verdict": "INCORRECT"}', "INCORRECT", 44),
    ("pointwise", "word", "Correct. It says so.", "Correct", 0),
    ("pointwise", "standard", "The answer is not correct.", "not correct", 14),
    ("pointwise", "cot", "The answer is correct so far.\nVerdict: INCORRECT", "INCORRECT", 39),
    ("pointwise", "cot_self_consistency", "It names Rome.\nVerdict: CORRECT", "CORRECT", 24),
    ("pointwise", "word_idk", "I don't know.", "I don't know.", 0),
    ("grounded", "json", '{"explanation": "true", "contains_factual_error": false}', "false", 50),
    ("flask", "direct", "Answer A", "A", 7),
    ("geval", "direct", 'Here: {"A": {"clarity": 4}}', '{"A": {"clarity": 4}}', 6),
]


@pytest.mark.parametrize(("method", "form", "text", "label", "start"), PLACES)
def test_the_place_holds_the_label(method, form, text, label, start):
    assert locate(method, form, text, None) == (start, start + len(label))
    assert text[start : start + len(label)] == label


@pytest.mark.parametrize(
    ("method", "form", "text"),
    [
        ("pairwise", "direct", ""),
        ("pairwise", "direct", "I can't tell."),
        ("pairwise", "vf_json", '{"verdict": "A", "verdict": "B"}'),
        ("pairwise", "arena_hard", "[[A>B]] or [[B>A]]"),
        ("pointwise", "word", "CORRECT or INCORRECT"),
        ("pointwise", "a format of others", "CORRECT"),
        ("reward", "score", "A"),
        ("", "", "A"),
    ],
)
def test_a_text_without_a_verdict_has_no_place(method, form, text):
    assert locate(method, form, text) is None


def test_thinking_is_passed_over():
    text = "The tags are missing at first. A is better.</think>\n\nB"
    assert locate("pairwise", "direct", text, Thinking()) == (len(text) - 1, len(text))


@given(st.sampled_from(sorted(FORMATS)), st.text(alphabet='AB<>[]{}":verdict \n=', max_size=60))
def test_a_place_is_told_exactly_where_the_reader_reads(form, text):
    found = locate("pairwise", form, text)
    assert (found is not None) == (FORMATS[form].read(text).winner is not None)
    if found:
        assert 0 <= found[0] < found[1] <= len(text)
