"""Short answers compared as text, in any script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.answers import names, normal, overlap, same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", " paris. "),
        ("The Beatles", "beatles"),
        ("Beyoncé", "BEYONCE"),
        ("café", unicodedata.normalize("NFD", "café")),
        ("1,234", "1234"),
        ("١٢٣", "123"),
        ("౭౨", "72"),
        ("\u200fالقاهرة\u200f", "القاهرة"),
        ("مُحَمَّد", "محمد"),
        ("ＡＢＣ", "abc"),
        ("−5", "-5"),
        ("Straße", "STRASSE"),
    ],
)
def test_the_same_answer_written_otherwise(one, other):
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("10", "100"), ("-5", "5"), ("3.5", "35"), ("కాకి", "కకి"), ("", "Paris"), ("?", "!"), ("a", "b"), ("12", "21")],
)
def test_different_answers(one, other):
    assert not same(one, other)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("There are 10 campuses.", "10"),
        ("It was Paris's first.", "Paris"),
        ("(Paris)", "paris"),
        ("Born in New   York City", "new york"),
        ("ఇది హైదరాబాద్‌లో ఉంది", "హైదరాబాద్"),
        ("الجواب هو بالقاهرة", "القاهرة".removeprefix("ا")),
        ("他住在北京市。", "北京"),
        ("The sum is ١٢.", "12"),
        ("The answer is the Nile.", "The Nile"),
        ("1947లో జరిగింది", "1947"),
        ("౫న మొదలైంది", "5"),
        ("عام ١٩٤٧م", "1947"),
        ("1947年です", "1947"),
        ("అది NASAలో ఉంది", "NASA"),
        ("100లో 10వ భాగం", "10"),
    ],
)
def test_a_text_names_an_answer(text, answer):
    assert names(text, answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("There are 100 campuses.", "10"),
        ("A party", "art"),
        ("It is 3.14 exactly", "14"),
        ("York, new or old", "New York"),
        ("", "Paris"),
        ("Paris", ""),
        ("Paris", "   "),
        ("anything at all", "?"),
        ("100లో ఉంది", "10"),
        ("the 10th of them", "10"),
        ("3.5లో", "5"),
        ("-5లో", "5"),
        ("మే 15న", "5"),
    ],
)
def test_a_text_that_does_not(text, answer):
    assert not names(text, answer)


def test_what_cannot_be_told_apart_overlaps():
    assert overlap("Washington", ["George Washington"])
    assert overlap("Paris, France", ["Lutetia", "Paris"])
    assert not overlap("Rome", ["Paris", "Lutetia"])
    assert not overlap("1", ["10", "100"])


@given(st.text())
def test_normalising_again_changes_nothing(text):
    assert normal(normal(text)) == normal(text) or normal(text).split()[0] in ("a", "an", "the")


@given(st.from_regex(r"[a-zA-Z0-9éशు]{1,9}( [a-zA-Z0-9]{1,9})?", fullmatch=True))
def test_a_sentence_names_the_answer_that_is_put_into_it(answer):
    assert names(f"So, the answer is “{answer}”.", answer) or not normal(answer)


@given(st.text(), st.text())
def test_sameness_goes_both_ways(one, other):
    assert same(one, other) == same(other, one)
    assert same(one, one)
