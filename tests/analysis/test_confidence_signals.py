import numpy as np
import pandas as pd
import pytest

from analysis.columns import TableError
from analysis.confidence import SIGNALS, places


def place(rows, pairs, order="AB", **columns):
    """Signals of the pair p in one order."""
    found = places(rows(pairs, **columns))
    return found[(found["item"] == "p") & (found["order"] == order)].iloc[0]


def test_the_verdict_is_the_majority_and_signals_speak_of_it(rows):
    table = rows({"p": ("A", "AAB", "BAA")}).assign(
        p_first=[0.8, 0.7, 0.6, 0.3, 0.6, 0.6], confidence=[None, 0.9, 0.2, 0.4, 0.5, 0.6], label_mass=0.75
    )
    ab, ba = (row for _, row in places(table).iterrows())
    assert ab["verdict"] == ba["verdict"] == "A"
    assert ab["correct"] == 1
    assert ab["p"] == pytest.approx(0.8)
    assert ab["margin"] == pytest.approx(np.log(0.8 / 0.2))
    assert ab["p_mean"] == pytest.approx(0.7)
    assert ab["repeats"] == pytest.approx(2 / 3)
    assert ab["stated"] == pytest.approx(0.9)  # The first that says A and how sure it is.
    assert ab["label_mass"] == pytest.approx(0.75)
    assert ab["orders"] == 0  # BA begins with B, although its majority is A.
    assert ba["orders"] == 1
    assert ba["p"] == pytest.approx(0.3)  # Of A, which the first repeat did not say.
    assert ba["stated"] == pytest.approx(0.5)


def test_the_probability_of_a_verdict_for_b_is_what_a_and_the_tie_leave(rows):
    said = place(rows, {"p": ("B", "B", "B")}, p_first=0.2, p_tie=0.3)
    assert said["p"] == pytest.approx(0.5)
    assert said["margin"] == pytest.approx(np.log(0.5 / 0.3))


def test_an_impossible_label_gives_an_infinite_margin_and_no_nan(rows):
    assert place(rows, {"p": ("A", "A", "A")}, p_first=1.0)["margin"] == np.inf
    assert place(rows, {"p": ("A", "A", "A")}, p_first=0.0)["margin"] == -np.inf


def test_formats_are_held_against_the_first_verdict_of_the_others(rows):
    said = {"direct": "AAB", "json": "BAA", "xml": "ABB", "cot": "?A"}
    table = pd.concat([rows({"p": ("A", verdicts, "")}, format=name) for name, verdicts in said.items()])
    found = places(table).set_index("format")["formats"]
    assert found.to_dict() == pytest.approx({"direct": 2 / 3, "json": 1, "xml": 1 / 3, "cot": 2 / 3})


def test_a_reward_margin_favours_the_verdict(rows):
    table = rows({"p": ("A", "A", "B")}).assign(score_a=2.0, score_b=-1.0, method="reward")
    assert places(table)["reward_margin"].tolist() == [3.0, -3.0]


def test_costs_count_each_call_once(rows):
    table = rows({"p": ("A", "AA", "AA")}).assign(
        p_first=0.8, prompt_tokens=100, completion_tokens=5, requests=["k1", "k1", "k2 k3", "k4"]
    )
    ab, ba = (row for _, row in places(table).iterrows())
    assert (ab["calls_p"], ab["calls_repeats"], ab["calls_orders"]) == (1, 1, 3)
    assert (ba["calls_p"], ba["calls_repeats"], ba["calls_p_mean"]) == (2, 3, 3)
    assert (ab["tokens_repeats"], ba["tokens_repeats"]) == (105, 210)


def test_what_was_not_recorded_is_null(rows):
    found = place(rows, {"p": (None, "A", "")})
    assert found[[*SIGNALS, "correct"]].isna().all()
    assert place(rows, {"p": ("A", "??", "AA")}, p_first=0.9)[["p", "margin", "correct", "orders"]].isna().all()


def test_order_of_rows_does_not_matter(rows):
    table = rows({"p": ("A", "AAB", "BAA"), "q": ("B", "BBA", "AB?")}).assign(p_first=np.linspace(0.1, 0.9, 12))
    shuffled = table.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(places(table), places(shuffled))


@pytest.mark.parametrize("column", ["p_first", "confidence", "label_mass"])
@pytest.mark.parametrize("value", [1.2, -0.1, -np.inf, np.inf])
def test_a_share_outside_zero_to_one_is_refused(rows, column, value):
    table = rows({"p": ("A", "A", "A")}).assign(**{column: [0.5, value]})
    with pytest.raises(TableError, match=rf"column '{column}' must lie between 0 and 1; row 1"):
        places(table)


def test_probabilities_that_exceed_one_together_are_refused(rows):
    with pytest.raises(TableError, match=r"p_first' and 'p_tie' sum to 1.2"):
        places(rows({"p": ("A", "A", "A")}, p_first=0.7, p_tie=0.5))
