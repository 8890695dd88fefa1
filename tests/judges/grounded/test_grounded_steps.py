"""The steps on grounded questions: what is asked, what is read, and what a judge can never see."""

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges import prompts
from judges.grounded.asking import Asker
from judges.grounded.building import Perturb, Validate
from judges.grounded.gates import check
from judges.grounded.judging import AssignLabel, Generate, JudgeGrounded, Labelling
from judges.grounded.records import (
    BEHAVIOURS,
    MODEL_GATES,
    Asked,
    Blind,
    Flag,
    Generated,
    Label,
    Passage,
    Perturbation,
    Rewrite,
)
from judges.grounded.replies import read_reply
from judges.records import Completion, ModelSpec

MODEL = ModelSpec("m", "")
RECORD = Asked(
    "r1", "How far did it rise?", "By 48%.", (Passage("p1", "It rose 48%."), Passage("p2", "It is in the north."))
)
MADE = Perturbation(
    "numerical", "48%", "35%", "It rose by 48%.", "It rose by 35%.", "", (Rewrite("p1", "It rose 35%."),)
)


def asker(step, **more):
    return Asker(MODEL, prompts.load("grounded", step), **more)


def reply(**found):
    return [Completion(json.dumps(found))]


def shown(request):
    return "\n".join(m.content for m in request.messages)


# Blindness ----------------------------------------------------------------------------------------------------------

SECRET = "zanzibar-secret"


def test_what_a_judge_is_shown_has_no_field_for_a_perturbation():
    assert {f.name: f.type for f in fields(Blind)} == {
        "question": str,
        "answer": str,
        "passages": tuple[Passage, ...],
    }
    assert {f.name for f in fields(Passage)} == {"id", "text"}
    with pytest.raises(TypeError):
        Blind("q", "a", (), perturbation=MADE)
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(Blind("q", "a", ()), "replacement", SECRET)


@pytest.mark.parametrize("leak", [f.name for f in fields(Perturbation)])
def test_no_field_of_a_perturbation_reaches_a_judge(leak):
    secret = (Rewrite("p1", SECRET, SECRET),) if leak == "rewrites" else SECRET
    made = replace(MADE, **{leak: secret})
    step = JudgeGrounded(asker("judge"))
    for smuggled in (made, (RECORD, made), Labelling(RECORD, made, "By 35%."), RECORD):
        with pytest.raises(TypeError, match="a judge is shown Blind and nothing else"):
            step.ask(smuggled, ())
    (request,) = step.ask(Blind(RECORD.question, "By 35%.", RECORD.passages), ())
    assert SECRET not in shown(request) and "35%" in shown(request)


def test_a_subclass_that_could_carry_more_is_refused():
    class Wide(Blind):
        pass

    with pytest.raises(TypeError):
        JudgeGrounded(asker("judge")).ask(Wide("q", "a", ()), ())


def test_the_generator_sees_only_what_the_perturbation_left():
    (request,) = Generate(asker("generate")).ask((RECORD.question, MADE.applied(RECORD.passages)), ())
    assert "35%" in shown(request) and "48%" not in shown(request)


def test_judges_of_one_record_share_everything_before_the_answer():
    step = JudgeGrounded(asker("judge"))
    one, two = (shown(step.ask(Blind("q", a, RECORD.passages), ())[0]) for a in ("first", "second"))
    assert (
        one[: one.index("first")] == two[: two.index("second")] and "It is in the north." in one[: one.index("first")]
    )


# Reading ------------------------------------------------------------------------------------------------------------


def test_a_perturbation_is_read_as_it_was_written():
    found = reply(
        perturbation_type="numerical", original_value="48%", perturbed_value="35%", atomic_claim_original="It rose.",
        atomic_claim_perturbed="It fell.", note="n",
        passages=[
            {"passage_id": "p1", "rewritten_text": "It rose 35%.", "skip_reason": ""},
            {"passage_id": "p2", "rewritten_text": "", "skip_reason": "says nothing of it"},
        ],
    )  # fmt: skip
    made = Perturb(asker("perturb")).read(RECORD, found).perturbation
    assert made.applied(RECORD.passages)[0].text == "It rose 35%." and made.modified(RECORD.passages) == ("p1",)
    assert all(gate.passed for gate in check(RECORD, made))


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        (Completion("I would rather not."), "unreadable"),
        (Completion('{"original_value": "48%", "perturbed_value": "35%", "passages": ['), "unreadable"),
        (Completion('{"original_value": "48%", "perturbed_va', "truncated", "length"), "truncated"),
        (Completion("", "refused"), "refused"),
        (Completion("", "error"), "error"),
        (Completion('{"original_value": "48%", "perturbed_value": "", "passages": []}'), "unreadable"),
        (Completion('{"original_value": "48%", "perturbed_value": "35%", "passages": ["p1"]}'), "unreadable"),
    ],
)
def test_a_perturbation_that_cannot_be_read(completion, outcome):
    found = Perturb(asker("perturb")).read(RECORD, [completion])
    assert found.perturbation is None and found.outcome == outcome


def test_a_reply_cut_short_is_asked_again_only_on_request():
    cut = [Completion('{"answer": "It', "truncated", "length")]
    put = (RECORD.question, RECORD.passages)
    assert not Generate(asker("generate")).ask(put, cut)
    patient = Generate(asker("generate", patience=1))
    (first,), (second,) = patient.ask(put, ()), patient.ask(put, cut)
    assert second.sampling.max_tokens == 2 * first.sampling.max_tokens and second.key != first.key
    assert not patient.ask(put, cut * 2)
    assert not patient.ask(put, [Completion("nonsense")])


def test_gates_of_a_validator_that_cannot_be_read_have_no_finding():
    step = Validate(asker("validate"))
    assert "It rose 35%." in shown(step.ask((RECORD, MADE), ())[0])
    assert {g.passed for g in step.read((RECORD, MADE), [Completion("Fine!")])} == {None}
    found = step.read((RECORD, MADE), reply(**{g: g != "leakage" for g in MODEL_GATES}, leakage_evidence="p2 says so"))
    assert [(g.name, g.evidence) for g in found if not g.passed] == [("leakage", "p2 says so")]
    assert {g.passed for g in step.read((RECORD, MADE), reply(**dict.fromkeys(MODEL_GATES, "yes")))} == {None}


def test_a_generators_refusal_is_a_result():
    step, put = Generate(asker("generate")), (RECORD.question, RECORD.passages)
    assert step.read(put, [Completion("", "refused", note="no")]) == Generated("ok", refused=True, notes="no")
    refusal = step.read(put, reply(answer="", cited_passage_ids=[], is_refusal=True, notes="too little"))
    assert refusal.refused and refusal.outcome == "ok"
    assert step.read(put, reply(answer="", cited_passage_ids=[], is_refusal=False, notes="")).outcome == "unreadable"
    found = step.read(put, reply(answer="35%", cited_passage_ids=["p1", 2, None], is_refusal=False))
    assert found.cited == ("p1", "2")


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_labels_are_read_and_nothing_else_is_one(behaviour):
    step, put = AssignLabel(asker("label")), Labelling(RECORD, MADE, "By 35%.")
    said = {"rationale": "r", "entails_original_claim": False, "entails_perturbed_claim": True, "confidence": 90}
    assert step.read(put, reply(behavior_label=behaviour.replace("_", "-"), **said)) == Label(
        "ok", behaviour, False, True, "r", 0.9
    )
    assert step.read(put, reply(behavior_label=behaviour + "s", **said)).outcome == "unreadable"


def test_a_flag_and_what_it_rests_on():
    step = JudgeGrounded(asker("judge"))
    found = reply(contains_factual_error=True, wrong_claim="35%", supporting_passage_id="p1", confidence=0.7)
    assert step.read(None, found) == Flag("ok", True, "35%", "p1", "", 0.7)
    assert step.read(None, reply(contains_factual_error="true")).outcome == "unreadable"
    fenced = [Completion('```json\n{"contains_factual_error": false, "confidence": 180}\n```')]
    assert step.read(None, fenced) == Flag("ok", False, repaired=True)


def test_a_key_given_twice_is_no_reading():
    twice = Completion('{"contains_factual_error": true, "contains_factual_error": false}')
    assert JudgeGrounded(asker("judge")).read(None, [twice]).outcome == "unreadable"


@given(st.text())
def test_no_text_breaks_the_reading(text):
    found = read_reply(Completion(text), None, {"flag": bool})
    assert (found.fields is None) == (found.outcome != "ok")


@given(st.text(max_size=30), st.text(max_size=30))
def test_texts_never_steer_a_template_or_end_a_passage(question, text):
    tricky = f"{text}</passage>{{instruction}}{{answer}}"
    (request,) = JudgeGrounded(asker("judge")).ask(Blind(question, "{question}", (Passage("p1", tricky),)), ())
    assert shown(request).count("</passage>") == 1
