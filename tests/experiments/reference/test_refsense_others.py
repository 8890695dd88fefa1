"""Other items' answers, and people's labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.refsense.labels import join, read, unused
from experiments.refsense.others import deranged, others
from judges.answers import overlap
from judges.records import Item, UserError


def item(name, *answers, source="s", language="en"):
    return Item(name, "d", f"Question {name}?", answers, None, source=source, language=language)


def rng(seed=0):
    return np.random.default_rng(seed)


words = st.sampled_from(["Rome", "roma", "Paris", "Lima", "Oslo", "10", "100", "١٠"])


@given(st.lists(words, min_size=1, max_size=15), st.integers(0, 5))
@settings(max_examples=80)
def test_nobody_is_dealt_an_answer_that_can_pass_for_the_right_one(answers, seed):
    items = [item(str(i), answer) for i, answer in enumerate(answers)]
    dealt = deranged(items, rng(seed))
    by_id = {i.id: i for i in items}
    assert len({got.id for got in dealt.values()}) == len(dealt)
    for name, got in dealt.items():
        assert got.id != name
        assert not overlap(got.answers[0], by_id[name].answers)
    most = max(sum(overlap(i.answers[0], [a]) for a in answers) for i in items)
    if most <= len(items) // 2:
        assert len(dealt) == len(items)


def test_answers_stay_in_their_language_and_category_where_they_can():
    items = [
        *(item(f"a{i}", f"answer{i}", source="a") for i in range(5)),
        *(item(f"b{i}", f"thing{i}", source="b") for i in range(5)),
        item("c", "alone", source="c"),
        item("te", "రోమ్", source="a", language="te"),
    ]
    found = others(items, (), rng()).set_index("item")
    for name in found.index[:10]:
        assert found.loc[name, "taken_from"][0] == name[0]
    assert found.loc["c", "same_category"] == False  # noqa: E712
    assert found.loc["c", "other"] != ""
    assert found.loc["te", "reason"] == "no other answer in its language"
    lent = others(items, [item("c2", "lent", source="c")], rng()).set_index("item")
    assert (lent.loc["c", "other"], lent.loc["c", "same_category"]) == ("lent", True)


def test_an_answer_that_is_an_alias_of_the_right_one_is_never_dealt():
    items = [item("1", "Rome", "Roma"), item("2", "Roma", "Città"), item("3", "ROMA")]
    assert (others(items, (), rng())["reason"] != "").all()


def test_the_same_seed_deals_the_same():
    items = [item(str(i), f"answer{i}") for i in range(30)]
    assert others(items, (), rng(1)).equals(others(items, (), rng(1)))
    assert not others(items, (), rng(1)).equals(others(items, (), rng(2)))


VERDICTS = pd.DataFrame({"item": ["1", "1", "2", "1"], "generator": ["g", "g", "g", ""], "reference": list("abab")})


def written(tmp_path, text):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_go_with_the_answers_that_they_are_of(tmp_path):
    people = read(written(tmp_path, "item,generator,human,human_2\n1,g,C,I\n2,g,,P\n9,g,C,C\n"))
    table = join(VERDICTS, people)
    assert table["human"].fillna("-").tolist() == ["C", "C", "-", "-"]
    assert table["human_2"].fillna("-").tolist() == ["I", "I", "P", "-"]
    assert unused(people, VERDICTS) == 1
    assert len(table) == len(VERDICTS)


def test_one_annotator_will_do(tmp_path):
    table = join(VERDICTS, read(written(tmp_path, "item,generator,human\n1,g,P\n")))
    assert table["human"].fillna("-").tolist() == ["P", "P", "-", "-"]
    assert table["human_2"].isna().all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,generator,human\n1,g,C\n2,g,maybe\n", "row 3 hold a label that is none of C"),
        ("item,generator,human,human_2\n1,g,C,c\n", "column human_2: row 2"),
        ("item,human\n1,C\n", "no column generator"),
        ("item,generator,human\n1,g,C\n1,g,I\n", "row 3 grade an answer again"),
    ],
)
def test_faulty_labels_are_errors_that_name_the_place(tmp_path, text, said):
    with pytest.raises(UserError, match=said):
        read(written(tmp_path, text))


def test_labels_of_other_answers_than_those_that_are_judged_are_an_error(tmp_path):
    people = read(written(tmp_path, "item,generator,human\n1,gpt,C\n2,gpt,I\n"))
    with pytest.raises(UserError, match=r"none of the 2 goes with an answer .* are answers of gpt .* answers of g, to"):
        unused(people, VERDICTS[VERDICTS["generator"] != ""])


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UserError, match="nowhere"):
        read(tmp_path / "nowhere.csv")
