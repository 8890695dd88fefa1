"""Is a value in a text, in whatever form?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.grounded.values import holds, share_changed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a 48% jump", "48%"),
        ("a 48 percent jump", "48%"),
        ("48 per cent", "48%"),
        ("forty-eight percent of them", "48%"),
        ("Forty eight per cent", "48%"),
        ("a rise of 48 percentage points", "48%"),
        ("48% of it", "forty-eight"),
        ("it has 2,353,735 fans", "2353735"),
        ("it has 2353735 fans", "2,353,735"),
        ("one hundred and twenty people", "120"),
        ("in 1969, they", "1969"),
        ("٤٨ سنة", "48"),
        ("౪౮ ఏళ్లు", "48"),
        ("48 ఏళ్లు", "౪౮"),
        ("Marie Curie's notebook", "Marie Curie"),
        ("MARIE   CURIE", "Marie Curie"),
        ("the Ghanaian team of Ghana", "Ghana"),
        ("two countries", "country"),
        ("it promoted adoption", "promote"),
        ("promoting adoption", ["promotes", "adoption"][0][:-1]),
        ("Ｂｏｔｓｗａｎａ", "Botswana"),
        ("Jean-Paul arrived", "Jean Paul"),
        ("between 40-48% of them", "48%"),
        ("3.50 metres", "3.5"),
    ],
)
def test_forms_in_which_a_value_is_found(text, value):
    assert holds(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a 148% jump", "48%"),
        ("a 48.5% jump", "48%"),
        ("48 people", "48%"),
        ("1,480 people", "480"),
        ("seventeen", "seven"),
        ("irreversible", "reversible"),
        ("the catalogue", "cat"),
        ("Curie alone", "Marie Curie"),
        ("", "48"),
        ("anything", ""),
        ("anything", "  "),
    ],
)
def test_what_is_another_value(text, value):
    assert not holds(text, value)


@given(st.integers(0, 10**9), st.sampled_from(["", "%"]))
def test_a_number_is_found_with_and_without_separators(number, sign):
    assert holds(f"it was {number:,}{sign} then", f"{number}{sign}")
    assert holds(f"it was {number}{sign} then", f"{number:,}{sign}")
    assert not holds(f"it was {number}7{sign} then", f"{number}{sign}")


@given(st.text(max_size=40), st.text(max_size=20))
def test_no_text_breaks_it(text, value):
    assert holds(text, value) in (True, False)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_share_changed_is_a_share_and_none_of_itself(before, after):
    assert 0 <= share_changed(before, after) <= 1
    assert share_changed(before, before) == 0
