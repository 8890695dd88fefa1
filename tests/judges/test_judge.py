import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.formats import FORMATS, Thinking
from judges.judge import PairwiseJudge
from judges.prompts import load
from judges.records import Completion, Factors, Item, ModelSpec, Trial, UserError

MODEL = ModelSpec("model", "1")
ITEM = Item("i", "d", "Which?", ("the first answer", "the second answer"), "A")
REPLIES = {
    "direct": "{}",
    "vf_json": '{{"verdict": "{}", "reason": "x"}}',
    "vf_xml": "<verdict>{}</verdict><reason>x</reason>",
    "cot_json": '{{"reasoning": "x", "verdict": "{}"}}',
    "cot_xml": "<reasoning>x</reasoning><verdict>{}</verdict>",
    "vanilla": "Answer {}",
}


def judge(**options):
    return PairwiseJudge(MODEL, {name: load("pairwise", name) for name in FORMATS}, **options)


def trial(form, order="AB", **factors):
    return Trial(ITEM, Factors(format=form, order=order, **factors))


def shown_first(request):
    text = request.messages[-1].content
    return "A" if text.index("the first answer") < text.index("the second answer") else "B"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("order", ["AB", "BA"])
def test_each_order_shows_its_first_answer_first(form, order):
    (request,) = judge().ask(trial(form, order), [])
    assert shown_first(request) == order[0]


@pytest.mark.parametrize("form", REPLIES)
@pytest.mark.parametrize("said", ["A", "B"])
def test_a_verdict_is_mapped_back_to_the_items_own_order(form, said):
    reply = [Completion(REPLIES[form].format(said))]
    assert judge().read(trial(form, "AB"), reply).winner == said
    assert judge().read(trial(form, "BA"), reply).winner == {"A": "B", "B": "A"}[said]


@given(st.text())
def test_one_text_under_both_orders_gives_mirrored_verdicts(text):
    for form in FORMATS:
        one, other = (judge().read(trial(form, order), [Completion(text)]) for order in ("AB", "BA"))
        assert one.outcome == other.outcome
        assert {one.winner, other.winner} in ({"A", "B"}, {"tie"}, {None})


@pytest.mark.parametrize("outcome", ["overflow", "refused", "error"])
def test_no_text_is_no_verdict(outcome):
    verdict = judge().read(trial("direct"), [Completion("A", outcome=outcome)])
    assert (verdict.outcome, verdict.winner) == (outcome, None)


def test_a_cut_reply_counts_where_its_verdict_came_before_the_cut():
    cut = Completion('{"verdict": "A", "reason": "because', outcome="truncated", finish="length")
    assert judge().read(trial("vf_json"), [cut]).outcome == "ok"
    cut = Completion('{"reasoning": "because', outcome="truncated", finish="length")
    assert judge().read(trial("cot_json"), [cut]).outcome == "truncated"
    assert judge().read(trial("cot_json"), [Completion('{"reasoning": "because"}')]).outcome == "unreadable"


def test_thinking_is_no_reply():
    thinking = judge(thinking=Thinking())
    assert thinking.read(trial("direct"), [Completion("A, no, B\n</think>\n\nA")]).winner == "A"
    cut = Completion("<think>The better answer is A.", outcome="truncated", finish="length")
    assert thinking.read(trial("direct"), [cut]).outcome == "truncated"


def test_thinking_gets_a_budget_of_its_own():
    (request,) = judge(thinking=Thinking(max_tokens=1000)).ask(trial("direct"), [])
    assert request.sampling.max_tokens == 1032


def test_a_reply_without_a_verdict_is_followed_up_once():
    t = trial("arena_hard")
    first = Completion("My own answer is 7.")
    (request,) = judge().ask(t, [first])
    assert [m.role for m in request.messages] == ["system", "user", "assistant", "user"]
    assert request.messages[2].content == "My own answer is 7."
    assert judge().ask(t, [first, Completion("Hm.")]) == []
    assert judge().read(t, [first, Completion("[[B>A]]")]).winner == "B"
    assert judge().read(t, [first, Completion("Hm.")]).outcome == "unreadable"


@pytest.mark.parametrize("text", ["[[A>B]]", "[[A=B]]", "[[A>B]] [[B>A]]", "[[A>A]]"])
def test_only_a_missing_verdict_is_followed_up(text):
    # Asking again until an answer parses would select the answers.
    assert judge().ask(trial("arena_hard"), [Completion(text)]) == []


def test_the_other_formats_ask_once():
    for form in REPLIES:
        assert judge().ask(trial(form), [Completion("no verdict at all")]) == []


CHANGES = ({"repeat": 1}, {"temperature": 0.5}, {"order": "BA"})


def test_what_changes_the_output_changes_the_key():
    base = trial("direct")
    requests = [judge().ask(base, [])[0]]
    requests += [
        judge().ask(trial("direct", **f), [])[0] for f in ({"repeat": 1}, {"temperature": 0.5}, {"order": "BA"})
    ]
    requests += [judge().ask(trial("direct", constrained=True), [])[0], judge(max_tokens=8).ask(base, [])[0]]
    requests += [judge(logprobs=True).ask(base, [])[0], judge(seed=1).ask(trial("direct", temperature=0.5), [])[0]]
    assert len({r.key for r in requests}) == len(requests)
    assert judge(seed=1).ask(base, [])[0].key == requests[0].key  # greedy decoding draws nothing


def test_sampled_repeats_have_unrelated_seeds():
    seeds = [judge().ask(trial("direct", temperature=1.0, repeat=k), [])[0].call_seed for k in range(100)]
    assert len(set(seeds)) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert min(abs(a - b) for a in seeds for b in seeds if a != b) > 2**40


def test_label_probabilities_are_in_the_items_own_order():
    reply = Completion("A", label_logprobs={"A": math.log(0.3), "B": math.log(0.1)})
    own, swapped = (judge(logprobs=True).read(trial("direct", order), [reply]) for order in ("AB", "BA"))
    assert own.p_first == pytest.approx(0.75)
    assert swapped.p_first == pytest.approx(0.25)
    assert own.label_mass == swapped.label_mass == pytest.approx(0.4)


def test_labels_that_got_no_probability_leave_p_undefined():
    reply = Completion("hm", label_logprobs={"A": -math.inf, "B": -math.inf})
    verdict = judge(logprobs=True).read(trial("direct"), [reply])
    assert (verdict.p_first, verdict.label_mass) == (None, 0.0)


def test_free_text_cannot_be_constrained():
    with pytest.raises(UserError, match="arena_hard"):
        judge().ask(trial("arena_hard", constrained=True), [])
