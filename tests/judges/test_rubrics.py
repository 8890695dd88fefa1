import json
from dataclasses import replace

import pytest

from judges.formats import Thinking
from judges.prompts import load
from judges.records import Completion, Factors, Item, ModelSpec, Trial, UserError
from judges.rubrics import CRITERIA, Flask, GEval, read_scores

MODEL = ModelSpec("model", "1")
ITEM = Item("i", "d", "Which?", ("one {criteria}", "other"), "A")
OBJECTIVE = CRITERIA["objective"]
FLASK = Flask(MODEL, load("flask", "direct"), OBJECTIVE)
GEVAL = GEval(MODEL, load("geval", "scores_json"), OBJECTIVE)


def trial(method, order="AB"):
    return Trial(ITEM, Factors(method=method, order=order))


def replies(votes):
    return [Completion(vote) for vote in votes]


def test_flask_asks_once_a_criterion():
    requests = FLASK.ask(trial("flask"), [])
    assert len(requests) == 4
    for name, request in zip(OBJECTIVE, requests, strict=True):
        assert f"The criterion is {name}: " in request.messages[-1].content
    assert FLASK.ask(trial("flask"), replies("AABA")) == []


@pytest.mark.parametrize(
    ("votes", "outcome", "winner"),
    [
        ("AAAA", "ok", "A"),
        ("AAAB", "ok", "A"),
        ("ABAB", "tie", "tie"),
        ("BBBA", "ok", "B"),
        ("AAA?", "ok", "A"),  # whatever the fourth said, A has the majority
        ("AAB?", "unreadable", None),  # a fourth vote could make it a tie
        ("AA??", "unreadable", None),
        ("????", "unreadable", None),
    ],
)
def test_flask_takes_a_majority_that_no_missing_vote_could_change(votes, outcome, winner):
    verdict = FLASK.read(trial("flask"), replies(votes))
    assert (verdict.outcome, verdict.winner) == (outcome, winner)


def test_flask_says_why_there_is_no_verdict():
    votes = [Completion("A"), Completion("", outcome="overflow"), Completion("B"), Completion("?")]
    assert FLASK.read(trial("flask"), votes).outcome == "overflow"


@pytest.mark.parametrize("votes", ["AAAB", "ABAB", "AABB", "BBBB"])
def test_flask_maps_back_to_the_items_own_order(votes):
    own, swapped = (FLASK.read(trial("flask", order), replies(votes)) for order in ("AB", "BA"))
    assert swapped.winner == {"A": "B", "B": "A", "tie": "tie"}[own.winner]
    assert (own.score_a, own.score_b) == (swapped.score_b, swapped.score_a)


def scores(a, b):
    return json.dumps({"A": dict(zip(OBJECTIVE, a, strict=True)), "B": dict(zip(OBJECTIVE, b, strict=True))})


def test_geval_compares_sums():
    (request,) = GEVAL.ask(trial("geval"), [])
    assert all(f"- {name}: " in request.messages[-1].content for name in OBJECTIVE)
    verdict = GEVAL.read(trial("geval"), [Completion(scores([5, 4, 3, 2], [5, 4, 3, 1]))])
    assert (verdict.winner, verdict.score_a, verdict.score_b) == ("A", 14, 13)
    verdict = GEVAL.read(trial("geval", "BA"), [Completion(scores([5, 4, 3, 2], [5, 4, 3, 1]))])
    assert (verdict.winner, verdict.score_a, verdict.score_b) == ("B", 13, 14)
    assert GEVAL.read(trial("geval"), [Completion(scores([1, 2, 3, 4], [4, 3, 2, 1]))]).outcome == "tie"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A is better",
        "[]",
        '{"A": {"factuality": 5}}',
        scores([6, 4, 3, 2], [5, 4, 3, 1]),
        scores([0, 4, 3, 2], [5, 4, 3, 1]),
        scores([4.5, 4, 3, 2], [5, 4, 3, 1]),
        scores([True, 4, 3, 2], [5, 4, 3, 1]),
        scores([None, 4, 3, 2], [5, 4, 3, 1]),
        scores([5, 4, 3, 2], [5, 4, 3, 1]).replace('"factuality": 5', '"factuality": 5, "factuality": 1', 1),
        scores([5, 4, 3, 2], [5, 4, 3, 1])[:-12],  # cut before the last score
    ],
)
def test_geval_reads_all_scores_or_none(text):
    assert GEVAL.read(trial("geval"), [Completion(text)]).outcome == "unreadable"
    cut = Completion(text, outcome="truncated", finish="length")
    assert GEVAL.read(trial("geval"), [cut]).outcome == "truncated"


def test_a_fenced_reading_is_marked():
    fenced = f"```json\n{scores([5, 4, 3, 2], [5, 4, 3, 1])}\n```"
    assert read_scores(fenced, OBJECTIVE) == (14, 13, True)
    assert GEVAL.read(trial("geval"), [Completion(fenced)]).repaired


def test_a_tolerant_vote_is_marked():
    assert not FLASK.read(trial("flask"), replies("AAAB")).repaired
    assert FLASK.read(trial("flask"), replies(["A", "A", "**A**", "B"])).repaired


@pytest.mark.parametrize("judge", [FLASK, GEVAL])
def test_settings_reach_the_request_or_are_refused(judge):
    capped = replace(judge, max_tokens=8)
    assert {r.sampling.max_tokens for r in capped.ask(trial("any"), [])} == {8}
    with pytest.raises(UserError, match="constrained"):
        judge.ask(Trial(ITEM, Factors(method="any", constrained=True)), [])


def test_thinking_is_split_off():
    thinking = GEval(MODEL, GEVAL.prompt, OBJECTIVE, Thinking())
    text = f"<think>{scores([1, 1, 1, 1], [5, 5, 5, 5])}</think>{scores([5, 4, 3, 2], [5, 4, 3, 1])}"
    assert thinking.read(trial("geval"), [Completion(text)]).winner == "A"
