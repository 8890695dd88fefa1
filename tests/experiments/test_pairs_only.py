from types import SimpleNamespace

import pytest

from experiments.design import cross
from judges.data import load
from judges.records import Item, UserError

SETTINGS = SimpleNamespace(
    study="trust",
    asked=[("pairwise", "direct")],
    order=("AB",),
    temperature=(0.0,),
    constrained=False,
    repeats_of=lambda form, temperature: 1,
)


def test_questions_with_accepted_answers_are_no_pairs():
    two = Item("i", "popqa", "q", ("a", "b"), None, references={"gold": "a"})
    for items in (load("verifiable_qa", limit=2).items, (two,)):
        with pytest.raises(UserError, match=f"data={items[0].dataset} holds questions.*trust compares pairs"):
            cross(items, SETTINGS)


def test_pairs_without_gold_can_be_judged():
    (trial,) = cross([Item("i", "d", "q", ("a", "b"), None)], SETTINGS)
    assert trial.item.id == "i"
