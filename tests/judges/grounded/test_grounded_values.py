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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("48%", "forty-eight percent"),
        ("48 %", "48 per cent"),
        ("48%", "48pct"),
        ("3.5", "3,5"),
        ("3,50 Meter", "3.5 meter"),
        ("2nd", "second"),
        ("second place", "2nd place"),
        ("21st", "twenty-first"),
        ("5 May 2020", "May 5, 2020"),
        ("5 May 2020", "2020-05-05"),
        ("5 May 2020", "the 5th of May 2020"),
        ("Sept. 3, 1999", "3 September 1999"),
        ("$5 million", "5 million dollars"),
        ("$5m", "five million dollars"),
        ("US$5,000,000", "$5 million"),
        ("€3.5 bn", "3,5 billion euros"),
        ("1200", "twelve hundred"),
        ("1969", "nineteen sixty-nine"),
        ("1,200,000", "1.2 million"),
        ("a hundred and two people", "102 people"),
        ("5 years", "five years"),
        ("minus 5 degrees", "-5 degrees"),
        ("48 km", "48km"),
        ("countries", "country"),
        ("increased", "increases"),
        ("Zürich", "Zurich"),
        ("القاهرة", "قاهرة"),
        ("٤٨٪", "48%"),
        ("౪౮", "forty-eight"),
    ],
)
def test_two_spellings_of_one_value_are_found_in_each_others_texts(one, other):
    assert holds(f"they say: {one}, and so on", other)
    assert holds(f"they say: {other}, and so on", one)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("between 48–50 percent", "48%"),
        ("signed on May 5, 2020", "May 2020"),
        ("05/05/2020", "5 May 2020"),
        ("a 5-million-dollar prize", "$5 million"),
        ("for\u200bty-eight", "48"),
        ("بالقاهرة", "القاهرة"),
        ("القَاهِرَة", "القاهرة"),
        ("హైదరాబాద్\u200cలో", "హైదరాబాద్"),
        ("హైదరాబాదులో", "హైదరాబాద్"),
        ("東京都で", "東京"),
    ],
)
def test_forms_that_lie_within_others(text, value):
    assert holds(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twenty-five", "5"),
        ("forty-eight", "40"),
        ("one hundred and five", "5"),
        ("5 million", "5"),
        ("five million", "5"),
        ("$5m", "$5"),
        ("48,000", "48"),
        ("4.8%", "48%"),
        ("0.5", "5"),
        ("15 May 2020", "5 May 2020"),
        ("5 May 2021", "5 May 2020"),
        ("it may be", "May 2020"),
        ("£5 million", "$5 million"),
        ("5 million people", "$5 million"),
        ("5 m", "$5 million"),
        ("22nd", "2nd"),
        ("twenty-second", "2nd"),
        ("ten seconds", "2nd"),
        ("مكتبة", "كتب"),
    ],
)
def test_what_only_looks_like_a_value(text, value):
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
