import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.formats import FORMATS, Thinking, read_brackets, read_json, read_letter, read_xml, split_thinking

LETTERS = [
    # text, winner, repaired
    ("A", "A", False),
    (" B\n", "B", False),
    ("Answer A", "A", False),
    ("A.", "A", True),
    ("**B**", "B", True),
    ("b", "B", True),
    ("[[A]]", "A", True),
    ("(B)", "B", True),
    ("Answer: B", "B", True),
    ("Verdict: **B**", "B", True),
    ("**Verdict:** B", "B", True),
    ("A\n\nB makes an error in its second step.", "A", True),
    ("A: it is right", "A", True),
    ("A is better", "A", True),
    ("Answer B\n\nAnswer A has errors.", "B", True),
    ("Both are close, but the better answer is B.", "B", True),
    ("The best response is A because it adds up.", "A", True),
    ("Answer A is clearly better because it adds up.", "A", True),
    ("Having weighed both, B is the better one.", "B", True),
    # "A" as an article, and letters that are no statement.
    ("A good answer would say 7.", None, False),
    ("The better answer is a clear one", None, False),
    ("better answer: A good one", None, False),
    ("My choice: A-team", None, False),
    ("I think B", None, False),
    ("Answer A is not better.", None, False),
    ("A, B", None, False),
    ("The correct value is 7.", None, False),
    ("", None, False),
    ("C", None, False),
    # Contradicting statements.
    ("A\nB", None, False),
    ("A) is short\nB) is long", None, False),
    ("The better answer is A. No: the better answer is B.", None, False),
]


@pytest.mark.parametrize(("text", "winner", "repaired"), LETTERS)
def test_letter(text, winner, repaired):
    reading = read_letter(text)
    assert (reading.winner, reading.repaired) == (winner, repaired)
    assert (reading.winner is None) == bool(reading.problem)


JSON = [
    ('{"verdict": "A", "reason": "It adds up."}', "A", False),
    ('{"reasoning": "B errs.", "verdict": "A"}', "A", False),
    ('  {"verdict":"B"}\n', "B", False),
    ('{"verdict": "Answer B", "reason": ""}', "B", True),
    ('{"verdict": "b"}', "B", True),
    ('```json\n{"verdict": "A", "reason": "x"}\n```', "A", True),
    ('Here it is: {"verdict": "B", "reason": "x"} I hope this helps.', "B", True),
    ("{'verdict': 'A', 'reason': 'it's right'}", "A", True),
    ('{"verdict": A, "reason": "x"}', "A", True),
    ('{"verdict": "A", "reason": "cut in the mid', "A", True),
    ('{"verdict": "A", "reason": "first\nsecond line"}', "A", True),
    # A verdict that the length limit cut, or that names no answer, is none.
    ('{"reasoning": "x", "verdict": "A', None, False),
    ('{"reasoning": "x", "verdict": "', None, False),
    ('{"reasoning": "the better one is A', None, False),
    ('{"verdict": "A or B"}', None, False),
    ('{"verdict": "A/B", "reason": "x"} extra', None, False),
    ('{"verdict": "tie"}', None, False),
    ('{"verdict": null}', None, False),
    ('{"verdict": 1}', None, False),
    ('{"answer": "A"}', None, False),
    ("A", None, False),
    ("[]", None, False),
    ("null", None, False),
    # Two verdicts: a later key or object does not quietly win.
    ('{"verdict": "A", "verdict": "B"}', None, False),
    ('{"verdict": "A"} {"verdict": "B"}', None, False),
    ('{"verdict": "A"} {"verdict": "A"}', "A", True),
    # The word in the reasoning is no verdict.
    (json.dumps({"reasoning": 'I could write "verdict": "B", but no.', "verdict": "A"}), "A", False),
    (json.dumps({"reasoning": 'I could write "verdict": "B", but no.', "verdict": "A"}) + " done", "A", True),
]


@pytest.mark.parametrize(("text", "winner", "repaired"), JSON)
def test_json(text, winner, repaired):
    reading = read_json(text)
    assert (reading.winner, reading.repaired and winner is not None) == (winner, repaired)
    assert (reading.winner is None) == bool(reading.problem)


XML = [
    ("<verdict>A</verdict>\n<reason>It adds up.</reason>", "A", False),
    ("<reasoning>B errs.</reasoning>\n<verdict>A</verdict>", "A", False),
    ("<reasoning>\nB errs.\n</reasoning>\n\n<verdict>B</verdict>\n", "B", False),
    ("<verdict> Answer B </verdict><reason>x</reason>", "B", True),
    ("Sure! <verdict>A</verdict>", "A", True),
    ("```xml\n<verdict>A</verdict>\n```", "A", True),
    ("<verdict>A</verdict><reason>cut in the mid", "A", True),
    ("<VERDICT>A</VERDICT>", "A", True),
    ("<verdict>A", None, False),
    ("<verdict>A or B</verdict>", None, False),
    ("<verdict></verdict>", None, False),
    ("<verdict>A</verdict> <verdict>B</verdict>", None, False),
    ("A", None, False),
]


@pytest.mark.parametrize(("text", "winner", "repaired"), XML)
def test_xml(text, winner, repaired):
    reading = read_xml(text)
    assert (reading.winner, reading.repaired) == (winner, repaired)


BRACKETS = [
    ("My answer is 7. [[A>>B]]", "A", ""),
    ("[[A>B]]", "A", ""),
    ("[[A=B]]", "tie", ""),
    ("[[B>A]] and so [[B>A]]", "B", ""),
    ("[[B>>A]]", "B", ""),
    ("[[A>B]] ... [[A>>B]]", None, "contradicting verdicts"),
    ("[[A>B]] ... [[B>A]]", None, "contradicting verdicts"),
    ("[[A>A]]", None, "[[A>A]] is none of the five verdicts"),
    ("[[A]]", None, "[[A]] is none of the five verdicts"),
    ("A>B", None, "no verdict"),
    ("[[yes]]", None, "no verdict"),
]


@pytest.mark.parametrize(("text", "winner", "problem"), BRACKETS)
def test_brackets(text, winner, problem):
    reading = read_brackets(text)
    assert (reading.winner, reading.problem) == (winner, problem)


@pytest.mark.parametrize("name", FORMATS)
@given(text=st.text(alphabet=st.sampled_from("AB{}[]<>=\"':,. \nabverdict/\\")) | st.text())
def test_no_text_breaks_a_reader(name, text):
    reading = FORMATS[name].read(text)
    assert reading.winner in ("A", "B", "tie", None)
    assert (reading.winner is None) == bool(reading.problem)


def _swapped(text):
    return re.sub(r"(?<![A-Za-z])[ABab](?![A-Za-z])", lambda m: "BAba"["ABab".index(m[0])], text)


@pytest.mark.parametrize("text", [case[0] for case in (*XML, *BRACKETS, *JSON)] + ["A", "B", "Answer: B", "A\nB"])
@pytest.mark.parametrize("name", FORMATS)
def test_reading_is_symmetric_in_the_labels(name, text):
    read = FORMATS[name].read
    expected = {"A": "B", "B": "A"}.get(read(text).winner, read(text).winner)
    assert read(_swapped(text)).winner == expected


THINKING = [
    ("<think>B errs</think>A", ("B errs", "A")),
    ("\n<think>\nB errs\n</think>\n\nA", ("B errs", "A")),
    ("B errs</think>A", ("B errs", "A")),  # the template wrote the opening tag
    ("<think>B errs", ("B errs", "")),  # cut off while thinking
    ("<think></think>A", ("", "A")),
    ("A", ("", "A")),
    ("<think>x</think>It quotes </think>. A", ("x", "It quotes </think>. A")),
]


@pytest.mark.parametrize(("text", "parts"), THINKING)
def test_thinking_is_split_off(text, parts):
    assert split_thinking(text, Thinking()) == parts


def test_a_model_that_does_not_think_may_quote_the_tags():
    assert split_thinking("A: the other one writes </think>", None) == ("", "A: the other one writes </think>")
    assert split_thinking("<think>hm</think>A", None) == ("hm", "A")


def test_other_delimiters():
    assert split_thinking("[THINK]hm[/THINK]B", Thinking("[THINK]", "[/THINK]")) == ("hm", "B")
