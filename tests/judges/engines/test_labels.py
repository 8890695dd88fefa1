"""Label sets on the real tokenizers of four families, places in replies, and lists of the likeliest tokens."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.formats import FORMATS, Thinking
from judges.judge import shares, verdict_place
from judges.labels import label_logprobs, label_sets, label_tokens, labels_from_top_k, place_after, token_after
from judges.records import Completion, UserError


class Pieces:
    """A tokenizer that knows a few tokens and takes the longest first."""

    all_special_ids = ()

    def __init__(self, *tokens):
        self.tokens = tokens

    def get_vocab(self):
        return {token: i for i, token in enumerate(self.tokens)}

    def batch_decode(self, rows, **_):
        return [self.decode(row) for row in rows]

    def decode(self, ids):
        return "".join(self.tokens[i] for i in ids)

    def __call__(self, text, **_):
        ids = []
        while text:
            token = max((t for t in self.tokens if text.startswith(t)), key=len, default="")
            if token:
                ids.append(self.tokens.index(token))
            text = text[len(token) or 1 :]
        return {"input_ids": ids}


def texts(tokenizer, sets):
    return {label: {tokenizer.tokens[i] for i in ids} for label, ids in sets.items()}


def test_a_label_is_all_tokens_that_read_as_it():
    tokenizer = Pieces("A", " A", '"A', "(A", "AB", " a", "B", "B)", "!")
    assert texts(tokenizer, label_tokens(tokenizer, ("A", "B"))) == {"A": {"A", " A", '"A', "(A"}, "B": {"B", "B)"}}


def test_a_label_of_several_tokens_is_told_by_its_beginning():
    tokenizer = Pieces(*"COREINT ", "COR", "RECT", "IN", " IN", "INC", "OR")
    found = texts(tokenizer, label_tokens(tokenizer, ("CORRECT", "INCORRECT")))
    # C and I begin much else, and this tokenizer never writes them here.
    assert found == {"CORRECT": {"COR"}, "INCORRECT": {"IN", " IN", "INC"}}


def test_labels_that_share_their_first_word_are_told_apart_behind_it():
    tokenizer = Pieces("Answer", " ", "A", "B", " A", " B")
    sets = label_sets(tokenizer, ("Answer A", "Answer B"))
    assert texts(tokenizer, sets.tokens) == {"Answer A": {"A", " A"}, "Answer B": {"B", " B"}}
    logs = {i: math.log(0.1) for i in sets.ids}
    reply = tokenizer("Answer B")["input_ids"]
    assert sets.read(reply, lambda at: logs if at == 1 else {}, tokenizer.decode)["Answer B"] == pytest.approx(
        math.log(0.2)
    )
    assert sets.read(tokenizer("A")["input_ids"], lambda at: logs, tokenizer.decode) is None


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        (("un", "helpful", "harmful"), ("unhelpful", "unharmful")),  # Both begin with the same token.
        (("un", "helpful", "harmful", "unhelpful"), ("unhelpful", "unharmful")),
        (("x", "y"), ("A", "B")),  # Neither can be written.
        (("\ufffd",), ("正", "误")),  # Single bytes.
    ],
)
def test_a_tokenizer_that_splits_every_label_is_refused_in_words(tokens, labels):
    with pytest.raises(UserError, match=rf"splits the labels .*{labels[1]}"):
        label_sets(Pieces(*tokens), labels)


def test_a_label_that_begins_another_is_refused():
    with pytest.raises(UserError, match="one begins another"):
        label_sets(Pieces("A", "AB"), ("A", "AB"))


FAMILIES = ("llama3_1", "qwen3", "gemma3", "smollm2")
LABELS = [("A", "B"), ("CORRECT", "INCORRECT"), ("CORRECT", "INCORRECT", "UNKNOWN"), ("Answer A", "Answer B")]
CONTEXTS = ("", " ", "\n", '"', ' "')


@pytest.fixture(scope="module")
def tokenizer(family):
    from judges.engines import smollm2
    from judges.engines.chat import load_tokenizer

    known = {}

    def of(name):
        if name not in known:
            known[name] = load_tokenizer(smollm2.folder() if name == "smollm2" else family(name), False)
        return known[name]

    return of


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("labels", LABELS, ids=" ".join)
def test_whatever_stands_before_a_label_the_token_that_writes_it_is_in_its_set(tokenizer, name, labels):
    found = tokenizer(name)
    sets = label_sets(found, labels)
    assert len(sets.ids) == len(set(sets.ids)) <= 128  # As many as vLLM takes.
    for before in CONTEXTS:
        for label in labels:
            ids = found(before + label, add_special_tokens=False)["input_ids"]
            place = token_after(ids, sets.after, found.decode)
            at = next(i for i in ids[place:] if found.decode([i]).strip(' \n"'))
            assert at in sets.tokens[label]
            assert all(at not in ids for other, ids in sets.tokens.items() if other != label)


@pytest.mark.parametrize(("name", "letters"), [("llama3_1", 10), ("qwen3", 10), ("gemma3", 3), ("smollm2", 2)])
def test_how_many_tokens_of_a_family_read_as_a(tokenizer, name, letters):
    found = label_tokens(tokenizer(name), ("A", "B"))
    assert len(found["A"]) == letters


REPLIES = [
    ("direct", "B, for A errs", "B, for A errs"),
    ("vf_json", '{"verdict": "A", "reason": "I could write \\"verdict\\": \\"B\\""}', 'A", "reason"'),
    ("cot_json", '{"reasoning": "A is \\"verdict\\": \\"B\\"?", "verdict": "A"}', 'A"}'),
    ("cot_json", '{"reasoning": "B, A, B", "verdict" : "Answer A"}', 'A"}'),
    ("cot_xml", "<reasoning>A <verdict> tag?</reasoning><verdict>\nB</verdict>", "B</verdict>"),
    ("confidence_json", '{"verdict": "B", "confidence": 90}', 'B", "confidence"'),
    ("cot_json", '{"reasoning": "A is better"}', None),
]


@pytest.mark.parametrize("thinking", [None, Thinking()])
@pytest.mark.parametrize(("form", "reply", "rest"), REPLIES)
def test_the_place_is_that_of_the_final_verdict(form, reply, rest, thinking):
    text = f'<think>"verdict": "B" <verdict>B</verdict></think>\n\n{reply}' if thinking else reply
    after = verdict_place(FORMATS[form], thinking)
    place = place_after(text, after) if after else 0
    assert (place is None) if rest is None else text[place:].startswith(rest)


def test_a_model_cut_while_thinking_has_no_place():
    for form in ("direct", "cot_json"):
        assert place_after('<think>"verdict": "B', verdict_place(FORMATS[form], Thinking())) is None


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("said", ["Both err. 🏳️‍🌈 日本語 é", "Ja – „B“ ist besser", "x" * 300])
def test_the_token_at_the_place_writes_the_verdict(tokenizer, name, said):
    found = tokenizer(name)
    text = f'{{"reasoning": "{said}", "verdict": "B"}}'
    ids = found(text, add_special_tokens=False)["input_ids"]
    at = token_after(ids, FORMATS["cot_json"].label_after, found.decode)
    assert ids[at] in label_tokens(found, ("A", "B"))["B"]
    assert token_after(ids[:at], FORMATS["cot_json"].label_after, found.decode) is None


def test_what_is_not_a_number_stays_none_of_ours():
    assert math.isnan(label_logprobs({1: math.nan, 2: -1.0}, {"A": (1, 2)})["A"])
    assert shares(Completion("A", label_logprobs={"A": math.nan, "B": -1.0}), ("A", "B")) == {}


TOP = {"A": math.log(0.6), " A": math.log(0.1), "The": math.log(0.2)}


def test_a_label_outside_the_likeliest_tokens_has_bounds_and_is_not_zero():
    seen = labels_from_top_k(TOP, ("A", "B"))
    assert set(seen.logprobs) == {"A"} and seen.rest == pytest.approx(0.1)
    found = shares(Completion("A", label_logprobs=seen.logprobs, label_rest=seen.rest), ("A", "B"))
    assert found["p_first"] is None  # Between 0.7 / 0.8 and 0.8 / 0.8.
    assert (found["p_first_low"], found["p_first_high"]) == pytest.approx((0.875, 1.0))
    assert found["label_mass"] == pytest.approx(0.7)
    mirrored = shares(Completion("A", label_logprobs=seen.logprobs, label_rest=seen.rest), ("B", "A"))
    assert (mirrored["p_first_low"], mirrored["p_first_high"]) == pytest.approx((0.0, 0.125))


def test_narrow_bounds_leave_no_doubt_that_matters():
    found = shares(Completion("A", label_logprobs={"A": math.log(0.99)}, label_rest=0.01), ("A", "B"))
    assert found["p_first"] == pytest.approx(0.995)


def test_what_servers_write_for_zero_is_zero():
    seen = labels_from_top_k({"A": 0.0, "B": -9999.0}, ("A", "B"))
    assert seen.logprobs == {"A": 0.0, "B": -math.inf} and seen.rest == 0
    found = shares(Completion("A", label_logprobs=seen.logprobs, label_rest=seen.rest), ("A", "B"))
    assert found["p_first"] == found["p_first_low"] == found["p_first_high"] == 1


def test_neither_label_seen_and_nothing_left_is_no_probability():
    assert shares(Completion("x", label_logprobs={}, label_rest=0.0), ("A", "B")) == {"label_mass": 0}


@given(st.dictionaries(st.sampled_from(["A", " A", "B", '"B', "The", "a", "Answer", "C"]), st.floats(-30, 0)))
def test_the_truth_lies_within_the_bounds_wherever_the_rest_goes(top):
    total = sum(map(math.exp, top.values()))
    top = {token: log - math.log(total) - 0.2 for token, log in top.items()} if total > 0 else {}
    seen = labels_from_top_k(top, ("A", "B"))
    found = shares(Completion("", label_logprobs=seen.logprobs, label_rest=seen.rest), ("A", "B"))
    a, b = (math.exp(seen.logprobs.get(label, -math.inf)) for label in ("A", "B"))
    for to_a, to_b in ((1, 0), (0, 1), (0.5, 0.5), (0, 0)):
        mass = a + b + (to_a + to_b) * seen.rest
        if mass > 0:
            truth = (a + to_a * seen.rest) / mass
            assert found["p_first_low"] - 1e-9 <= truth <= found["p_first_high"] + 1e-9
    assert 0 <= found["label_mass"] <= 1 + 1e-9


def test_probabilities_that_add_up_to_a_little_more_than_one_are_one():
    found = shares(Completion("A", label_logprobs={"A": math.log(0.6000001), "B": math.log(0.4000001)}), ("A", "B"))
    assert found["label_mass"] == 1 and found["p_first"] == pytest.approx(0.6)
