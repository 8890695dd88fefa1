import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.agreement import cohen_kappa, gwet_ac1, krippendorff_alpha, majority, percent_agreement

LABELS = st.lists(st.tuples(st.sampled_from("AB="), st.sampled_from("AB=")), min_size=2, max_size=40)


def two_by_two(both_yes, yes_no, no_yes, both_no):
    cells = {("y", "y"): both_yes, ("y", "n"): yes_no, ("n", "y"): no_yes, ("n", "n"): both_no}
    return tuple(zip(*(pair for pair, count in cells.items() for _ in range(count)), strict=True))


@pytest.mark.parametrize(
    ("cells", "observed", "kappa"),
    [
        ((20, 5, 10, 15), 0.70, 0.40),  # the example of Wikipedia's article on Cohen's kappa
        ((45, 15, 25, 15), 0.60, 0.1304),
        ((25, 35, 5, 35), 0.60, 0.2593),
    ],
)
def test_kappa_of_known_tables(cells, observed, kappa):
    a, b = two_by_two(*cells)
    assert percent_agreement(a, b) == pytest.approx(observed)
    assert cohen_kappa(a, b) == pytest.approx(kappa, abs=5e-5)


def test_ac1_does_not_fall_with_prevalence():
    """Gwet 2008, table 2: 118 of 125 agreed, yet kappa is below zero."""
    a, b = two_by_two(118, 5, 2, 0)
    assert cohen_kappa(a, b) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac1(a, b) == pytest.approx(0.9408, abs=5e-5)


KRIPPENDORFF = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def test_alpha_of_krippendorffs_own_example():
    """Krippendorff 2011, section C: four observers, twelve units, some labels missing."""
    rows = [(unit, label) for rater in KRIPPENDORFF for unit, label in enumerate(rater.split()) if label != "."]
    assert krippendorff_alpha(*zip(*rows, strict=True)) == pytest.approx(0.743, abs=5e-4)


@given(LABELS)
def test_two_raters_agree_as_well_as_two_and_labels_have_no_names(pairs):
    a, b = zip(*pairs, strict=True)
    renamed = str.maketrans("AB=", "xyz")
    for measure in (percent_agreement, cohen_kappa, gwet_ac1):
        value = measure(a, b)
        assert value <= 1 or math.isnan(value)
        assert measure(b, a) == pytest.approx(value, nan_ok=True)
        assert measure([x.translate(renamed) for x in a], [x.translate(renamed) for x in b]) == pytest.approx(
            value, nan_ok=True
        )


@given(LABELS)
def test_alpha_of_two_raters_without_gaps_is_scotts_pi_corrected(pairs):
    """With 2n labels: 1 - alpha = (1 - pi) (2n - 1) / 2n (Krippendorff 2011)."""
    a, b = zip(*pairs, strict=True)
    n = len(pairs)
    shares = [(a.count(label) + b.count(label)) / (2 * n) for label in "AB="]
    expected = sum(s**2 for s in shares)
    alpha = krippendorff_alpha([*range(n), *range(n)], [*a, *b])
    if expected == 1:
        assert math.isnan(alpha)
    else:
        pi = (percent_agreement(a, b) - expected) / (1 - expected)
        assert 1 - alpha == pytest.approx((1 - pi) * (2 * n - 1) / (2 * n))


def test_missing_labels_are_left_out():
    a, b = ["A", "A", "B", "B", None, "A"], ["A", "B", "B", "B", "A", np.nan]
    assert percent_agreement(a, b) == 0.75
    assert cohen_kappa(a, b) == 0.5
    assert krippendorff_alpha(list("xxyyzw"), ["A", "A", "B", "B", "A", None]) == 1


def test_what_is_undefined_is_no_number():
    for measure in (percent_agreement, cohen_kappa, gwet_ac1):
        assert math.isnan(measure([], []))
        assert math.isnan(measure([None], ["A"]))
    assert math.isnan(cohen_kappa(["A"] * 7, ["A"] * 7))
    assert math.isnan(gwet_ac1(["A"] * 7, ["A"] * 7))
    assert math.isnan(krippendorff_alpha(["x", "y"], ["A", "B"]))
    assert math.isnan(krippendorff_alpha(["x", "x"], ["A", "A"]))


def test_raters_of_different_cases_are_refused():
    with pytest.raises(ValueError, match="2 and 1 labels"):
        cohen_kappa(["A", "B"], ["A"])


def test_an_even_split_is_a_tie():
    votes = majority(list("aaabbcccc"), ["A", "A", "B", "A", "B", "A", "A", "tie", "tie"])
    assert votes.to_dict() == {"a": "A", "b": "tie", "c": "tie"}
