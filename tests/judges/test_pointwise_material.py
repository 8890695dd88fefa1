"""Steps that make what is graded: answers, beliefs, types, sentences."""

import pytest

from judges import prompts
from judges.answering import Answerer
from judges.construction import Claim, Typer, Writer, fault
from judges.entity_types import by_rule
from judges.formats import Thinking
from judges.records import Completion, Item, ModelSpec

MODEL = ModelSpec("m", "r")
ITEM = Item("i", "d", "Where is {answer}?", ("Rome",), None, language="ar")
CLAIM = Claim(ITEM, "{question}")
BELIEF = Answerer(MODEL, prompts.load("answering", "belief"), "belief")
ANSWER = Answerer(MODEL, prompts.load("answering", "answer"))
TYPER = Typer(MODEL, prompts.load("construction", "entity_type"))
WRITER = Writer(MODEL, prompts.load("construction", "sentence"))


@pytest.mark.parametrize(("step", "x"), [(BELIEF, ITEM), (ANSWER, ITEM), (TYPER, CLAIM), (WRITER, CLAIM)])
def test_a_step_asks_once_shows_the_text_as_it_is_and_names_the_language(step, x):
    (request,) = step.ask(x, [])
    text = request.messages[-1].content
    assert "Language: Arabic" in text
    assert "Where is {answer}?" in text
    assert "{instruction}" not in text and "{labels}" not in text
    assert step.ask(x, [Completion("")]) == []


@pytest.mark.parametrize(
    ("text", "belief", "outcome"),
    [
        ("Rome", "Rome", "ok"),
        (' "Rome." ', "Rome", "ok"),
        ("The answer is Rome.", "Rome", "ok"),
        ('**Answer:** "Rome"', "Rome", "ok"),
        ("Answering machine", "Answering machine", "ok"),
        ("", "", "unreadable"),
        ("...", "...", "unreadable"),
        ("Rome\nor Paris", "Rome\nor Paris", "unreadable"),
        ("r" * 200, "r" * 200, "unreadable"),
    ],
)
def test_a_belief_is_a_short_answer(text, belief, outcome):
    found = BELIEF.read(ITEM, [Completion(text)])
    assert (found.text, found.outcome) == (belief, outcome)


def test_an_empty_answer_is_one_and_so_is_what_was_said_before_a_cut():
    assert ANSWER.read(ITEM, [Completion("  ")]).outcome == "ok"
    cut = Completion("Rome is", outcome="truncated")
    assert ANSWER.read(ITEM, [cut]).outcome == "ok"
    assert ANSWER.read(ITEM, [cut]).reason == "cut off by the length limit"
    assert ANSWER.read(ITEM, [Completion("", outcome="truncated")]).outcome == "truncated"
    assert BELIEF.read(ITEM, [cut]).outcome == "truncated"
    assert WRITER.read(CLAIM, [cut]).outcome == "truncated"
    assert ANSWER.read(ITEM, [Completion("", outcome="refused")]).outcome == "refused"
    thinking = Answerer(MODEL, ANSWER.prompt, thinking=Thinking())
    assert thinking.read(ITEM, [Completion("<think>Paris?</think>Rome")]).text == "Rome"


@pytest.mark.parametrize(
    ("text", "kind", "outcome"),
    [
        ("person", "person", "ok"),
        ("Person.", "person", "ok"),
        ("The answer is a place", "place", "ok"),
        ("living thing", "living thing", "ok"),
        ("person or place", "person or place", "unreadable"),
        ("personality", "personality", "unreadable"),
        ("Rome", "Rome", "unreadable"),
    ],
)
def test_a_type_is_one_of_the_labels(text, kind, outcome):
    found = TYPER.read(CLAIM, [Completion(text)])
    assert (found.text, found.outcome) == (kind, outcome)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The capital is Rome.", ""),
        ("The capital is Roma.", ""),
        ("The capital is Romania.", "does not name its answer"),
        ("Not Paris but Rome.", "names the other answer, too"),
        ("", "is empty"),
        ("Rome.\nIt is old.", "is more than one line"),
    ],
)
def test_a_candidate_names_its_answer_by_any_alias_and_no_other(sentence, said):
    assert fault(sentence, ["Rome", "Roma"], ["Paris", "Lutetia"]) == said


@pytest.mark.parametrize(
    ("question", "answer", "kind"),
    [
        ("who sings it", "Spektor", "person"),
        ("when was it published", "1890", "date"),
        ("When did it begin?", "October 22, 2017", "date"),
        ("where is the optic chiasm", "below the brain", "place"),
        ("What is the capital of Utah?", "Salt Lake City", "place"),
        ("how many are there", "eight", "number"),
        ("how many are there", "1,000", "number"),
        ("What carries oxygen?", "red blood cells", "concept"),
        ("What is it called?", "Ulysses", "other"),
        ("ఎవరు రాశారు?", "పోతన", "other"),
        ("ఎన్ని?", "౭౨", "number"),
    ],
)
def test_rules_tell_types_by_the_form_of_the_answer_and_the_question_word(question, answer, kind):
    assert by_rule(question, answer) == kind
