"""Which answer takes the place of the right one."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.swapref.persons import ranked, subjects, visits
from experiments.swapref.swaps import by_belief, by_name, by_type, extremes, pool
from judges.answers import overlap
from judges.records import Item, UserError


def item(name, *answers, kind="place", language="en", popularity=None):
    return Item(
        name, "d", f"Question {name}?", answers, None,
        language=language, entity_type=kind, popularity=popularity,
    )  # fmt: skip


def swapped(items, *, preserve=True, seed=0, lenders=()):
    types = {i.id: i.entity_type for i in items}
    found = by_type(items, types, pool(items, lenders, types), np.random.default_rng(seed), preserve=preserve)
    return found.set_index("item")


ITEMS = [
    item("1", "Rome", "Roma"),
    item("2", "Paris"),
    item("3", "roma"),
    item("4", "12", kind="number"),
    item("5", "Ann", kind="person"),
    item("6", "?", kind=""),
    item("7", "thing", kind="other"),
]


@pytest.mark.parametrize("seed", range(20))
def test_another_answer_of_the_same_type_and_never_an_alias(seed):
    found = swapped(ITEMS, seed=seed)["swapped"]
    assert found["1"] == "Paris"
    assert found["3"] == "Paris"
    assert found["2"] in ("Rome", "roma")
    assert found["4"] == ""


def test_what_cannot_be_swapped_says_why():
    reasons = swapped(ITEMS)["reason"]
    assert reasons["4"] == "no other answer of type number"
    assert reasons["6"] == reasons["7"] == "the type of its answer is not known"
    alone = swapped([item("1", "Rome"), item("2", "Roma", "Rome")])
    assert list(alone["reason"]) == ["no other answer of type place"] * 2
    assert swapped([item("1", "Rome")], preserve=False)["reason"]["1"] == "no other answer of another type than place"


@pytest.mark.parametrize("seed", range(20))
def test_an_answer_of_another_type(seed):
    found = swapped(ITEMS, preserve=False, seed=seed)
    types = {i.id: i.entity_type for i in ITEMS}
    for name, row in found.iterrows():
        if row["swapped"]:
            assert types[row["taken_from"]] not in (types[name], "", "other")


def test_answers_of_the_whole_data_set_may_be_lent_where_it_says_their_types():
    lenders = [item("1", "Rome"), item("8", "40", kind="number"), item("9", "untyped", kind="")]
    assert swapped(ITEMS, lenders=lenders)["swapped"]["4"] == "40"


def test_swaps_stay_in_the_language():
    items = [item("1", "Rome"), item("2", "రోమ్", language="te"), item("3", "పారిస్", language="te")]
    found = swapped(items)
    assert found["swapped"].to_dict() == {"1": "", "2": "పారిస్", "3": "రోమ్"}


words = st.sampled_from(["Rome", "rome", "Roma", "Paris", "New York", "York", "10", "100", "ten", "٤", "4"])


@given(
    st.lists(st.tuples(words, words, st.sampled_from(["a", "b"])), min_size=1, max_size=12),
    st.integers(0, 9),
    st.booleans(),
)
@settings(max_examples=60)
def test_a_swapped_answer_can_never_pass_for_the_right_one(facts, seed, preserve):
    items = [item(str(i), one, other, kind=kind) for i, (one, other, kind) in enumerate(facts)]
    types = {i.id: i.entity_type for i in items}
    found = swapped(items, seed=seed, preserve=preserve)
    assert list(found.index) == [i.id for i in items]
    for one in items:
        got = found.loc[one.id]
        if not got["reason"]:
            assert not overlap(got["swapped"], one.answers)
            assert (types[got["taken_from"]] == types[one.id]) == preserve


def test_the_same_seed_draws_the_same():
    many = [item(str(i), f"place {i}x") for i in range(50)]
    assert swapped(many, seed=3).equals(swapped(many, seed=3))
    assert not swapped(many, seed=3).equals(swapped(many, seed=4))
    assert swapped(many)["swapped"].nunique() > 20


def test_the_judges_own_answer_only_where_it_differs():
    items = [item("1", "Rome", "Roma"), item("2", "Paris"), item("3", "Lima")]
    found = by_belief(items, {"1": "roma", "2": "Lyon", "9": "x"})
    assert found[["item", "swapped"]].to_numpy().tolist() == [["2", "Lyon"]]


def test_the_most_and_the_least_visited_are_fifty_each_at_most_and_never_the_same():
    most, least = extremes({f"p{i}": i for i in range(300)})
    assert (len(most), most[0], most[-1]) == (50, "p299", "p250")
    assert (len(least), least[0], least[-1]) == (50, "p0", "p49")
    most, least = extremes({"a": 1, "b": 2, "c": 3})
    assert (most, least) == (("c",), ("a",))
    assert by_name([item("1", "Ann")], (), np.random.default_rng(0))["reason"].tolist() == ["no other person"]
    assert by_name([item("1", "Ann")], ("ann",), np.random.default_rng(0))["reason"].tolist() == ["no other person"]


def test_persons_are_those_whom_popqa_asks_about():
    asked = [
        ("What is Ada Lovelace's occupation?", 70),
        ("In what city was Ada Lovelace born?", 90),
        ("Who is the father of Seabiscuit?", 800),
        ("In what city was O'Neil (actor) born?", 5),
        ("What is the capital of Utah?", 900),
        ("What is Nobody's occupation?", None),
    ]
    items = [Item(str(i), "popqa", q, ("x",), None, popularity=p) for i, (q, p) in enumerate(asked)]
    assert subjects(items) == {"Ada Lovelace": 90, "O'Neil (actor)": 5}


def test_a_data_set_that_ranks_its_persons_names_them_in_every_language():
    items = [item("1", "Ann", kind="person", popularity=3), item("2", "అన్", kind="person", language="te", popularity=3)]
    known = ranked([*items, item("3", "Rome", popularity=9)])
    assert known["te"] == {"అన్": 3}
    assert "ar" not in known


def test_english_names_of_popqa_stand_in_for_no_answer_in_another_language(tmp_path):
    path = tmp_path / "popQA.tsv"
    asked = ["What is Ada Lovelace's occupation?", "In what city was Bo Nobody born?"]
    rows = [f'{i}\toccupation\t{q}\t"[""x""]"\t{9 - i}' for i, q in enumerate(asked)]
    path.write_text("\n".join(["id\tprop\tquestion\tpossible_answers\ts_pop", *rows]), encoding="utf-8")
    known = visits(SimpleNamespace(persons=path, data=SimpleNamespace(name="tydiqa", path=None)))
    assert known == {name: {"Ada Lovelace": 9, "Bo Nobody": 8} for name in ("en", "")}
    with pytest.raises(UserError, match=r"give its folder as persons=\. .*nowhere"):
        visits(SimpleNamespace(persons=tmp_path / "nowhere", data=SimpleNamespace(name="tydiqa", path=None)))
