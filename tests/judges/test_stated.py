import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.formats import FORMATS
from judges.judge import PairwiseJudge
from judges.prompts import load
from judges.records import Completion, Factors, Item, ModelSpec, Trial
from judges.stated import read_confidence

STATED = [
    ('{"verdict": "A", "confidence": 85}', 0.85, False),
    ('{"verdict": "A", "confidence": 0}', 0.0, False),
    ('{"verdict": "A", "confidence": 100}', 1.0, False),
    ('{"verdict": "A", "confidence": 72.5}', 0.725, False),
    ('{"verdict": "A", "confidence": 1}', 0.01, False),
    ('{"verdict": "A", "confidence": "85"}', 0.85, True),
    ('{"verdict": "A", "confidence": "85 %"}', 0.85, True),
    ('Sure: {"verdict": "A", "confidence": 85} Bye', 0.85, True),
    ('```json\n{"verdict": "A", "confidence": 85}\n```', 0.85, True),
    ('{"verdict": "A", "confidence": 85', 0.85, True),
    # Off the scale, or on another one: never moved onto it.
    ('{"verdict": "A", "confidence": 850}', None, True),
    ('{"verdict": "A", "confidence": -5}', None, True),
    ('{"verdict": "A", "confidence": 0.85}', None, True),
    ('{"verdict": "A", "confidence": NaN}', None, True),
    ('{"verdict": "A", "confidence": 1e400}', None, True),
    ('{"verdict": "A", "confidence": true}', None, True),
    ('{"verdict": "A", "confidence": null}', None, True),
    ('{"verdict": "A", "confidence": "high"}', None, True),
    ('{"verdict": "A", "confidence": "85/100"}', None, True),
    ('{"verdict": "A", "confidence": [85]}', None, True),
    ('{"verdict": "A", "confidence": 85, "confidence": 15}', None, True),
    ('{"verdict": "A"}', None, True),
    ("A", None, True),
    ("", None, True),
]


@pytest.mark.parametrize(("text", "confidence", "repaired"), STATED)
def test_a_stated_confidence_is_a_share_or_none(text, confidence, repaired):
    stated = read_confidence(text)
    assert stated.confidence == (None if confidence is None else pytest.approx(confidence))
    assert stated.repaired == repaired


@given(st.text() | st.text(alphabet='{}":,. 0123456789%confidence-eE'))
def test_no_text_breaks_the_reader(text):
    for written in (text, f'{{"confidence": {text}}}', json.dumps({"confidence": text})):
        confidence = read_confidence(written).confidence
        assert confidence is None or 0 <= confidence <= 1


def verdict(text, order="AB"):
    judge = PairwiseJudge(ModelSpec("m", "1"), {"confidence_json": load("pairwise", "confidence_json")})
    item = Item("i", "d", "Which?", ("the first answer", "the second answer"), "A")
    return judge.read(Trial(item, Factors(format="confidence_json", order=order)), [Completion(text)])


def test_a_verdict_stands_where_its_confidence_cannot_be_read():
    found = verdict('{"verdict": "B", "confidence": "very"}')
    assert (found.outcome, found.winner, found.confidence, found.repaired) == ("ok", "B", None, True)


def test_the_confidence_is_the_verdicts_whichever_order_was_shown():
    for order, winner in (("AB", "B"), ("BA", "A")):
        found = verdict('{"verdict": "B", "confidence": 90}', order)
        assert (found.winner, found.confidence, found.repaired) == (winner, 0.9, False)


def test_what_has_no_verdict_has_no_confidence():
    assert verdict('{"confidence": 90}').confidence is None


def test_the_grammar_allows_what_the_reader_takes():
    schema = json.loads(FORMATS["confidence_json"].constraint.value)
    assert list(schema["properties"]) == ["verdict", "confidence"]
