"""The design of the study of confidence: what is asked once, what is sampled, and what is said where signals lack."""

from collections import Counter

import pytest

from experiments.confidence import Settings
from experiments.design import cross
from experiments.panel import panel
from judges.data import load

MODEL = {"name": "m", "family": "f", "weights": "w", "context": 4096}


def settings(**given):
    found = {
        "study": "confidence",
        "model": MODEL,
        "data": {"name": "verifiable", "label": "verifiable", "limit": 2},
        "engine": {"kind": "scripted"},
        "format": ["direct", "cot_xml", "confidence_json"],
        "temperature": [0.0, 0.5, 1.0],
        **given,
    }
    return Settings.model_validate(found)


def cells(found):
    items = load("verifiable", limit=2).items
    factors = [t.factors for t in cross(items, found)]
    return Counter((f.format, f.temperature) for f in factors)


def test_every_format_is_asked_once_and_the_sampled_ones_again_and_again():
    assert cells(settings()) == {
        **{(form, 0.0): 4 for form in ("direct", "cot_xml", "confidence_json")},
        ("direct", 0.5): 20,
        ("direct", 1.0): 20,
    }


def test_rationales_can_be_sampled_too():
    found = cells(settings(sampled=["direct", "cot_xml"], repeats=2, temperature=[0.0, 1.0]))
    assert found["cot_xml", 1.0] == found["direct", 1.0] == 8 and ("confidence_json", 1.0) not in found


def test_log_probabilities_are_asked_for_where_the_verdict_stands():
    found = settings()
    judge = panel(found, found.model.spec("m", "1"))
    asked = {t.factors.format: judge.ask(t, ())[0] for t in cross(load("verifiable", limit=1).items, found)}
    assert all(request.labels == ("A", "B") for request in asked.values())
    assert asked["direct"].label_after == "" and "verdict" in asked["cot_xml"].label_after


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="no format is called 'cot'"):
        settings(sampled=["cot"])
