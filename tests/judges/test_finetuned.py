import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.finetuned import FINETUNED
from judges.formats import FORMATS
from judges.judge import PairwiseJudge
from judges.prompts import load, pair_messages
from judges.records import Completion, Factors, Item, ModelSpec, Trial

# text, winner, repaired
PROMETHEUS = [
    ("Response A slips in step 2. [RESULT] B", "B", False),
    ("Feedback: Response B is thorough.\nIt adds up.\n[RESULT] B\n", "B", False),
    ("[RESULT]A", "A", False),
    ("A errs. [RESULT] Response B", "B", True),
    ("A errs. [Result]: B", "B", True),
    ("A errs. [RESULT: B]", "B", True),
    ("A errs. [RESULT] **B**", "B", True),
    ("A errs. [RESULT] (B).", "B", True),
    ("A errs.\nResult: B", "B", True),
    ("[RESULT] B\n\nI hope that this helps.", "B", True),
    ("[RESULT] A. A adds up.", "A", True),
    ("A errs. [RESULT] B ... so once more [RESULT] B", "B", True),
    ("I end with [RESULT] (A or B). A errs. [RESULT] B", "B", True),
    ("B", "B", True),
    ("[RESULT] A better answer would be short.", None, False),  # an article
    ("[RESULT] (A or B)", None, False),
    ("[RESULT] Tie", None, False),
    ("[RESULT] 4", None, False),
    ("[RESULT] C", None, False),
    ("A errs. [RESULT]", None, False),  # cut there
    ("A errs. Response B is better.", None, False),
    ("[RESULT] A, no: [RESULT] B", None, False),
    ("[RESULT] B\n[RESULT] Tie", None, False),
    ("", None, False),
]
SKYWORK = [
    ("[[A]]", "A", False),
    (" [[B]]\n", "B", False),
    ("My verdict: [[B]]", "B", True),
    ("[[A]]\n\nAssistant A adds up.", "A", True),
    ("[[a]]", "A", True),
    ("[[ B ]]", "B", True),
    ('"A"', "A", True),
    ("[B]", "B", True),
    ("Assistant B", "B", True),
    ("[[A]] ... [[A]]", "A", True),
    ("The matrix is [[1, 2], [3, 4]], so [[A]]", "A", True),
    ("[[A]] [[B]]", None, False),
    ('"[[A]]" if assistant A\'s answer is better, "[[B]]" if assistant B\'s is', None, False),
    ("[[C]]", None, False),
    ("[[A>B]]", None, False),
    ("[[A]", "A", True),
    ("[[1]]", None, False),
    ("A good answer", None, False),
    ("Assistant A is better than assistant B.", None, False),
    ("", None, False),
]
COMPASS = [
    ("My own answer is 7. My final verdict is: [[A>>B]].", "A", False),
    ("[[A>B]]", "A", False),
    ("[[A=B]]", "tie", False),
    ("[[B=A]]", "tie", False),
    ("[[B>A]] and so [[B>A]]", "B", False),
    ("[[B>>A]]", "B", False),
    ("A errs, so [[B]]", "B", True),
    ("Both are fine: [[C]]", "tie", True),
    ("[[c]]", "tie", True),
    ("B", "B", True),
    ("[[A>B]] ... [[A>>B]]", None, False),
    ("[[A>B]] ... [[B]]", None, False),
    ("[[A]] [[B]] [[C]]", None, False),
    ("[[A>A]]", None, False),
    ("[[D]]", None, False),
    ("C", None, False),
    ("Assistant A is better.", None, False),
    ("", None, False),
]
AUTO_J = [
    ("Both are sound. So, the final decision is Response 1.", "A", False),
    ("So, the final decision is Response 2. It is clearer.", "B", False),
    ("So, the final decision is Tie", "tie", False),
    ("the final decision is response 2", "B", True),
    ("So, the final decision is **Response 1**", "A", True),
    ("Final decision: Response 2", "B", True),
    ("So the final decision is that Response 2 is better", "B", True),
    ("So, the final decision is a tie.", "tie", True),
    ("The final decision is based on depth. So, the final decision is Response 2.", "B", False),
    ("So, the final decision is Response 1 / Response 2 / Tie. So, the final decision is Response 1", "A", False),
    ("the final decision is Response 1, as Response 2 or a tie would overlook its proof", "A", False),
    ("So, the final decision is Response 1 / Response 2 / Tie", None, False),
    ("So, the final decision is Response 1 or Response 2", None, False),
    ("So, the final decision is Response 3", None, False),
    ("So, the final decision is Response 12", None, False),
    ("So, the final decision is not Response 1", None, False),
    ("So, the final decision is Response 1. No, the final decision is Response 2.", None, False),
    ("So, the final decision is Tie. So, the final decision is Response 2.", None, False),
    ("So, the final decision is", None, False),
    ("Response 1 is better.", None, False),
    ("A", None, False),
    ("", None, False),
]
TABLES = {"prometheus": PROMETHEUS, "skywork_critic": SKYWORK, "compass_judger": COMPASS, "auto_j": AUTO_J}
CASES = [(name, *case) for name, table in TABLES.items() for case in table]
ALPHABET = st.sampled_from("AB12[]()<>=*:/. \nCabcresultfinaldcso ") | st.sampled_from(
    ["[RESULT]", "[[", "]]", "final decision is ", "Response ", "Tie", " or "]
)


@pytest.mark.parametrize(("name", "text", "winner", "repaired"), CASES)
def test_readings(name, text, winner, repaired):
    reading = FINETUNED[name].read(text)
    assert (reading.winner, reading.repaired and winner is not None) == (winner, repaired)
    assert (reading.winner is None) == bool(reading.problem)


def test_every_format_has_a_table_and_is_one_of_the_formats():
    assert TABLES.keys() == FINETUNED.keys() <= FORMATS.keys()


def _mirrored(name, text):
    """The text with the labels of both answers exchanged; whole labels only, so that words stay as they are."""
    labels = {"1": "2", "2": "1"} if name == "auto_j" else {"A": "B", "B": "A", "a": "b", "b": "a"}
    alone = f"(?<![A-Za-z0-9])[{''.join(labels)}](?![A-Za-z0-9])"
    return re.sub(alone, lambda m: labels[m[0]], text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, text, *_ in CASES])
def test_reading_is_symmetric_in_the_labels(name, text):
    read = FINETUNED[name].read
    winner = read(text).winner
    assert read(_mirrored(name, text)).winner == {"A": "B", "B": "A"}.get(winner, winner)


@pytest.mark.parametrize("name", FINETUNED)
@given(parts=st.lists(ALPHABET, max_size=30))
def test_no_text_breaks_a_reader_and_its_mirror_image_gives_the_mirrored_verdict(name, parts):
    text = "".join(parts)
    read = FINETUNED[name].read
    reading = read(text)
    assert reading.winner in ("A", "B", "tie", None)
    assert (reading.winner is None) == bool(reading.problem)
    assert read(_mirrored(name, text)).winner == {"A": "B", "B": "A"}.get(reading.winner, reading.winner)


@pytest.mark.parametrize("name", FINETUNED)
@given(text=st.text())
def test_any_text_is_read(name, text):
    reading = FINETUNED[name].read(text)
    assert (reading.winner is None) == bool(reading.problem)


ITEM = Item("i", "d", "Which?", ("the first answer", "the second answer"), "A")
REPLIES = {
    "prometheus": "x [RESULT] A",
    "skywork_critic": "[[A]]",
    "compass_judger": "x [[A>B]]",
    "auto_j": "So, the final decision is Response 1.",
}


@pytest.mark.parametrize("name", FINETUNED)
def test_a_verdict_is_mapped_back_to_the_items_own_order(name):
    judge = PairwiseJudge(ModelSpec("m", "1"), {name: load("pairwise", name)})
    for order in ("AB", "BA"):
        trial = Trial(ITEM, Factors(format=name, order=order))
        assert judge.read(trial, [Completion(REPLIES[name])]).winner == order[0]


MARKS = {
    "prometheus": ["[RESULT]", "###Score Rubric:", "###Feedback:"],
    "skywork_critic": ["[[A]]", "[[B]]"],
    "compass_judger": ["[[A>>B]]", "[[A=B]]"],
    "auto_j": ["final decision is", "[Response 2]"],
}


@pytest.mark.parametrize("name", FINETUNED)
def test_the_prompt_quotes_the_grammar_and_is_itself_no_verdict(name):
    prompt = load("pairwise", name)
    shown = "\n".join(m.content for m in pair_messages(prompt, "Q?", "first", "second"))
    for mark in MARKS[name]:
        assert mark in shown
    assert FINETUNED[name].read(shown).winner is None


@pytest.mark.parametrize("name", ["skywork_critic", "compass_judger", "auto_j"])
def test_models_that_were_trained_without_a_system_message_get_none(name):
    assert [m.role for m in pair_messages(load("pairwise", name), "Q?", "first", "second")] == ["user"]
