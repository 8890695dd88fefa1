"""What plain code finds in a perturbation."""

from dataclasses import replace

import pytest

from judges.grounded.gates import CODE_GATES, check
from judges.grounded.records import Asked, Passage, Perturbation, Rewrite

RECORD = Asked(
    "r1",
    "How far did attendance rise?",
    "It rose by 48%.",
    (
        Passage("p1", "In her first season the league saw a 48% jump in attendance over the year before."),
        Passage("p2", "Attendance was forty-eight percent up, said the commissioner in a statement in autumn."),
        Passage("p3", "The league has thirteen teams and plays from May to October in all of its arenas."),
    ),
)
GOOD = Perturbation(
    "numerical", "48%", "35%", "It rose by 48%.", "It rose by 35%.", "",
    (
        Rewrite("p1", RECORD.passages[0].text.replace("48%", "35%")),
        Rewrite("p2", RECORD.passages[1].text.replace("forty-eight", "thirty-five")),
        Rewrite("p3", skipped="says nothing of it"),
    ),
)  # fmt: skip


def failing(made, record=RECORD):
    gates = check(record, made)
    assert tuple(g.name for g in gates) == CODE_GATES and all(g.by == "code" for g in gates)
    return {g.name: g.evidence for g in gates if not g.passed}


def with_rewrites(*rewrites):
    return replace(GOOD, rewrites=rewrites)


def test_a_clean_one_passes_every_gate():
    assert failing(GOOD) == {}


def test_a_value_left_in_another_spelling_is_a_leak():
    left = with_rewrites(GOOD.rewrites[0], Rewrite("p2", skipped="overlooked"), GOOD.rewrites[2])
    assert failing(left) == {"gone": "'48%' is still in passages p2"}


def test_one_that_rewrites_nothing():
    found = failing(with_rewrites(*(Rewrite(p.id, skipped="no") for p in RECORD.passages)))
    assert found["scope"] == "no passage was changed" and "p1, p2" in found["gone"]


def test_one_that_rewrites_everything():
    third = Rewrite("p3", RECORD.passages[2].text.replace("thirteen", "35%"))
    assert "also p3, which never said '48%'" in failing(with_rewrites(*GOOD.rewrites[:2], third))["scope"]


def test_one_that_invents_a_passage():
    assert failing(with_rewrites(*GOOD.rewrites, Rewrite("p9", "35% it was."))) == {"ids": "there are no passages p9"}


def test_passages_without_a_word_or_with_two():
    assert failing(with_rewrites(*GOOD.rewrites[:2]))["complete"] == "not a word on passages p3"
    assert "come twice" in failing(with_rewrites(*GOOD.rewrites, GOOD.rewrites[0]))["complete"]
    assert "neither rewritten nor skipped" in failing(with_rewrites(*GOOD.rewrites[:2], Rewrite("p3")))["complete"]


def test_a_rewrite_without_the_new_value_and_one_that_is_another_text():
    other = Rewrite("p1", "Nobody came to any of these games, and the whole thing was called off in the end.")
    found = failing(with_rewrites(other, *GOOD.rewrites[1:]))
    assert found["replaced"] == "'35%' is not in the rewritten passages p1"
    assert "in passages p1" in found["unchanged"]


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"kind": "vibes"}, "kind"),
        ({"replacement": "48 percent"}, "answer_value"),
        ({"original": "62%"}, "answer_value"),
        ({"original": "thirteen"}, "answer_value"),
    ],
)
def test_faults_of_the_value_itself(change, gate):
    assert gate in failing(replace(GOOD, **change))
