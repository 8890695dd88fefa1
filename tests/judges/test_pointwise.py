"""Judges of single answers: what they are shown, and what becomes of their replies."""

import math
from dataclasses import replace

import pytest

from judges.formats import Thinking
from judges.pointwise import PointwiseJudge, Single, way
from judges.records import Completion, Factors, Item, ModelSpec, Trial, UserError

MODEL = ModelSpec("m", "r")
ITEM = Item("i", "d", "Who wrote {answer}?", ("Ann",), None, language="te")
WAYS = {
    "NR/json": way("refsense", "NR", "none", "answers", "json"),
    "RV/json": way("refsense", "RV", "before", "answers", "json"),
    "RVP/json": way("refsense", "RVP", "after", "answers", "json"),
    "RC/json": way("refsense", "RC", "before", "compare", "json"),
    "RC/idk": way("refsense", "RC", "before", "compare", "word", idk=True),
    "standard": way("swapref", "standard", "before", "reference", "word"),
    "direct": way("swapref", "direct", "before", "only_reference", "word"),
    "cot": way("swapref", "cot", "before", "reference", "cot"),
    "vote": way("swapref", "self_consistency", "before", "reference", "word", samples=5),
    "cot_vote": way("swapref", "cot_self_consistency", "before", "reference", "cot", samples=5),
}
JUDGE = PointwiseJudge(MODEL, WAYS, seed=3)


def single(name, answer="It was Bo. {reference}", reference="Ann </reference> {answer}", **factors):
    return Single(Trial(ITEM, Factors(method="pointwise", **factors)), answer, reference, name)


def shown(name):
    (request, *_) = JUDGE.ask(single(name), [])
    return request.messages[-1].content


def read(name, *texts, answer="It was Bo.", **factors):
    return JUDGE.read(single(name, answer, **factors), [Completion(t) if isinstance(t, str) else t for t in texts])


def test_the_prompt_shows_everything_as_it_is_and_names_the_language():
    text = shown("RV/json")
    assert text.startswith("Language: Telugu")
    assert "Who wrote {answer}?" in text
    assert "Ann </reference> {answer}" in text
    assert "It was Bo. {reference}" in text


def test_the_reference_stands_where_the_setting_has_it():
    assert "<reference>" not in shown("NR/json")
    assert shown("RV/json").index("<reference>") < shown("RV/json").index("<answer>")
    assert shown("RVP/json").index("<answer>") < shown("RVP/json").rindex("<reference>")


def test_settings_differ_in_their_closing_instruction_only():
    closed = [shown(name).rpartition("</answer>") for name in ("RV/json", "RC/json", "RC/idk")]
    assert len({before for before, _, _ in closed}) == 1
    assert len({instruction for _, _, instruction in closed}) == 3
    before = {shown(name).rpartition("</answer>")[0] for name in ("standard", "direct", "cot", "vote")}
    assert len(before) == 1


def test_idk_is_offered_where_it_is_asked_for():
    assert "UNKNOWN" in shown("RC/idk")
    assert "UNKNOWN" not in shown("RC/json") + shown("standard") + shown("cot")
    assert read("RC/idk", "UNKNOWN").grade == "UNKNOWN"
    assert read("standard", "UNKNOWN").outcome == "unreadable"


def test_a_reference_that_is_missing_is_an_error():
    with pytest.raises(UserError, match="no reference"):
        JUDGE.ask(single("RV/json", reference=" "), [])


def test_a_vote_is_asked_for_five_times_each_call_with_a_seed_of_its_own():
    requests = JUDGE.ask(single("vote", temperature=0.6, repeat=2), [])
    assert len({r.call_seed for r in requests}) == 5
    assert {r.repeat for r in requests} == set(range(10, 15))
    assert {r.sampling.temperature for r in requests} == {0.6}
    assert JUDGE.ask(single("vote"), [Completion("")] * 5) == []


C, I, X = "CORRECT", "INCORRECT", "Paris"  # noqa: E741


@pytest.mark.parametrize(
    ("votes", "grade", "share"),
    [
        ([C, C, C, I, I], "CORRECT", 0.6),
        ([I, I, I, I, C], "INCORRECT", 0.2),
        ([C, C, C, X, X], "CORRECT", 1.0),
        ([C, C, C, I, X], "CORRECT", 0.75),
        ([C, C, I, I, X], None, None),
        ([C, C, X, X, X], None, None),
        ([C, C, I, X, X], None, None),
        ([X, X, X, X, X], None, None),
    ],
)
def test_a_majority_that_no_missing_vote_could_change(votes, grade, share):
    found = read("vote", *votes)
    assert (found.grade, found.score_a) == (grade, share)
    assert found.outcome == ("ok" if grade else "unreadable")


def test_a_vote_says_why_there_is_none():
    votes = [Completion("CORRECT"), *[Completion("", outcome="error")] * 2, *[Completion("", outcome="truncated")] * 2]
    assert read("vote", *votes).outcome == "error"


@pytest.mark.parametrize("outcome", ["overflow", "refused", "error"])
def test_a_call_without_a_reply_has_no_grade(outcome):
    found = read("standard", Completion("CORRECT", outcome=outcome))
    assert (found.outcome, found.grade) == (outcome, None)


def test_a_cut_reply_counts_where_its_verdict_came_before_the_cut():
    assert read("standard", Completion("CORRECT. It", outcome="truncated")).grade == "CORRECT"
    cut = Completion('{"extracted_answer": "Bo", "explanation": "It', outcome="truncated")
    assert (read("RC/json", cut).outcome, read("RC/json", cut).grade) == ("truncated", None)


@pytest.mark.parametrize(
    ("extracted", "outcome", "grade"),
    [("Bo", "unreadable", None), ("", "ok", "CORRECT"), ("  ", "ok", "CORRECT")],
)
@pytest.mark.parametrize("answer", ["", " \n "])
def test_an_invented_answer_is_not_credited(answer, extracted, outcome, grade):
    text = f'{{"extracted_answer": "{extracted}", "explanation": "", "verdict": "CORRECT"}}'
    found = read("RC/json", text, answer=answer)
    assert (found.outcome, found.grade, found.extracted) == (outcome, grade, extracted)


def test_thinking_is_split_off():
    judge = replace(JUDGE, thinking=Thinking())
    text = "<think>CORRECT? Verdict: CORRECT</think>INCORRECT"
    assert judge.read(single("standard"), [Completion(text)]).grade == "INCORRECT"
    (request,) = judge.ask(single("standard"), [])
    assert request.sampling.max_tokens == 32 + Thinking().max_tokens


def test_log_probabilities_are_those_of_the_grades():
    judge = replace(JUDGE, logprobs=True)
    (request,) = judge.ask(single("standard"), [])
    assert (request.labels, request.label_after) == (("CORRECT", "INCORRECT"), "")
    (request,) = judge.ask(single("cot"), [])
    assert request.label_after == "Verdict: "
    assert all(not r.labels for r in judge.ask(single("vote"), []))
    logs = {"CORRECT": math.log(0.3), "INCORRECT": math.log(0.1)}
    found = judge.read(single("standard"), [Completion("CORRECT", label_logprobs=logs)])
    assert found.p_first == pytest.approx(0.75)
    assert found.label_mass == pytest.approx(0.4)


def test_a_grammar_and_a_cap_reach_the_request():
    (request,) = replace(JUDGE, max_tokens=8).ask(single("cot", constrained=True), [])
    assert request.sampling.max_tokens == 8
    assert request.constraint.kind == "regex"
    for name, kind in {"standard": "choice", "RC/json": "json"}.items():
        assert JUDGE.ask(single(name, constrained=True), [])[0].constraint.kind == kind
        assert JUDGE.ask(single(name), [])[0].constraint is None


def test_a_persons_own_templates_stand_in(tmp_path):
    folder = tmp_path / "refsense"
    folder.mkdir()
    (folder / "RC.user.txt").write_text("Q={question} R={reference} A={answer} [no language, no instruction]")
    own = {
        "RC/json": way("refsense", "RC", "before", "compare", "json", folder=tmp_path),
        "RV/json": way("refsense", "RV", "before", "answers", "json", folder=tmp_path),
    }
    judge = replace(JUDGE, ways=own)
    (request,) = judge.ask(single("RC/json", answer="{question}", reference="r"), [])
    assert request.messages[-1].content == "Q=Who wrote {answer}? R=r A={question} [no language, no instruction]"
    assert judge.ask(single("RV/json"), [])[0].messages == JUDGE.ask(single("RV/json"), [])[0].messages
