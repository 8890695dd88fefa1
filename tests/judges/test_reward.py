import json
import math
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.ask import carry_out
from judges.engines.scripted import Scripted
from judges.records import Completion, Factors, Item, ModelSpec, Trial
from judges.reward import RewardJudge
from judges.store import Store
from judges.store.compact import compact

MODEL = ModelSpec("reward", "1")
JUDGE = RewardJudge(MODEL)
ITEM = Item("i", "d", "Which?", ("the first answer", "the second answer"), "A")
DESIGN = [
    Trial(ITEM, Factors("reward", "score", order, repeat=repeat)) for order in ("AB", "BA") for repeat in range(3)
]


def answers(a, b):
    return [Completion("", score=a), Completion("", score=b)]


def test_each_answer_is_put_with_the_question_in_a_conversation_of_its_own():
    asked = JUDGE.ask(DESIGN[0], [])
    assert [[(m.role, m.content) for m in r.messages] for r in asked] == [
        [("user", "Which?"), ("assistant", "the first answer")],
        [("user", "Which?"), ("assistant", "the second answer")],
    ]
    assert JUDGE.ask(DESIGN[0], answers(1.0, 2.0)) == []


def test_all_orders_and_repeats_share_two_calls():
    assert len({r.key for trial in DESIGN for r in JUDGE.ask(trial, [])}) == 2


@pytest.mark.parametrize(
    ("a", "b", "winner", "outcome"), [(1.5, -2.0, "A", "ok"), (-3.0, -2.0, "B", "ok"), (0.25, 0.25, "tie", "tie")]
)
@pytest.mark.parametrize("trial", DESIGN)
def test_the_higher_score_wins_and_equal_ones_tie_in_both_orders(trial, a, b, winner, outcome):
    verdict = JUDGE.read(trial, answers(a, b))
    assert (verdict.winner, verdict.outcome, verdict.score_a, verdict.score_b) == (winner, outcome, a, b)


@given(a=st.floats(), b=st.floats())
def test_exchanging_the_answers_exchanges_the_verdict(a, b):
    one, other = JUDGE.read(DESIGN[0], answers(a, b)), JUDGE.read(DESIGN[0], answers(b, a))
    assert other.winner == {"A": "B", "B": "A"}.get(one.winner, one.winner)
    assert (one.winner is None) == (one.outcome not in ("ok", "tie"))
    assert (one.outcome == "error") == (not (math.isfinite(a) and math.isfinite(b)))


@pytest.mark.parametrize("outcome", ["overflow", "error"])
def test_an_answer_without_a_score_leaves_no_verdict(outcome):
    scored, missing = Completion("", score=1.0), Completion("", outcome=outcome)
    for pair in ([scored, missing], [missing, scored]):
        verdict = JUDGE.read(DESIGN[0], pair)
        assert (verdict.outcome, verdict.winner, verdict.score_a) == (outcome, None, None)


def test_text_in_place_of_a_score_is_no_verdict():
    assert JUDGE.read(DESIGN[0], [Completion("A"), Completion("B")]).winner is None


def longer_is_better(request):
    return Completion("", score=float(len(request.messages[1].content)))


def test_the_store_makes_each_call_once(tmp_path):
    asked = []

    def score(request):
        asked.append(request.key)
        return longer_is_better(request)

    with Store(tmp_path) as store:
        found = carry_out(JUDGE, DESIGN, Scripted(score), store)
    assert len(asked) == 2
    assert {answer.result.winner for answer in found} == {"B"}
    with Store(tmp_path) as store:
        again = carry_out(JUDGE, DESIGN, Scripted(score), store)
    assert len(asked) == 2 and [a.result for a in again] == [a.result for a in found]


def test_equal_answers_are_one_call_and_a_tie(tmp_path):
    trial = Trial(replace(ITEM, answers=("same", "same")), Factors("reward", "score"))
    with Store(tmp_path) as store:
        [answer] = carry_out(JUDGE, [trial], Scripted(longer_is_better), store)
    assert answer.result.outcome == "tie" and len(set(answer.keys)) == 1


@pytest.mark.parametrize("score", [0.1, -7.25, 0.0, None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("compacted", [False, True])
def test_a_score_comes_back_from_the_store_as_it_was_put(tmp_path, score, compacted):
    request = JUDGE.ask(DESIGN[0], [])[0]
    with Store(tmp_path) as store:
        store.put(request, Completion("", score=score, engine="reward"))
    if compacted:
        compact(tmp_path)
    found = Store(tmp_path).read([request.key])[request.key].score
    assert found == score or (found is not None and score is not None and math.isnan(found) and math.isnan(score))
    if not math.isfinite(score or 0):
        assert JUDGE.read(DESIGN[0], [Completion("", score=found), Completion("", score=1.0)]).outcome == "error"


def test_what_was_stored_before_there_were_scores_is_still_read(tmp_path):
    requests = JUDGE.ask(DESIGN[0], [])
    with Store(tmp_path) as store:
        store.put(requests[0], Completion("old"))
    (shard,) = tmp_path.glob("*.jsonl")
    line = json.loads(shard.read_text())
    del line["score"]
    shard.write_text(json.dumps(line) + "\n")
    assert Store(tmp_path).read([requests[0].key])[requests[0].key] == Completion("old")

    compact(tmp_path)
    (file,) = tmp_path.glob("*.parquet")
    pq.write_table(pq.read_table(file).drop_columns("score"), file)  # as an older version wrote it
    with Store(tmp_path) as store:
        assert store.read([requests[0].key])[requests[0].key].text == "old"
        store.put(requests[1], Completion("", score=2.0))
    compact(tmp_path)
    found = Store(tmp_path).read(r.key for r in requests)
    assert [c.score for c in found.values()] == [None, 2.0]
