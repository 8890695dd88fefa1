from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.expected import audit, indications, majority, sampling_interval, tempered
from analysis.expected_audit import expected_audit, side_by_side
from analysis.reliability import trust

shares = st.floats(0.01, 0.99)
pairs = st.lists(st.tuples(shares, shares, st.sampled_from([0, 1])), min_size=1, max_size=4)


def forced(listed):
    """Chances (pairs, orders, 2) and gold of pairs written as (p(A) under AB, p(A) under BA, gold)."""
    p = np.array([[[a, 1 - a], [b, 1 - b]] for a, b, _ in listed])
    return p, np.array([gold for *_, gold in listed])


def sampled(p, gold, temperature, repeats, rng):
    """A verdict table of independent draws."""
    drawn = rng.random((*p.shape[:2], repeats, 1)) > np.cumsum(tempered(p, temperature), axis=2)[:, :, None]
    label = np.array(["A", "B", "tie"])[drawn[..., : p.shape[2] - 1].sum(axis=3)]
    i, o, k = np.indices(label.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "study": "s", "judge": "j", "dataset": "d", "format": "direct", "temperature": temperature, "repeat": k,
            "item": i.astype(str), "order": np.array(["AB", "BA"])[o], "gold": np.array(["A", "B", "tie"])[gold][i],
            "winner": label.ravel(), "outcome": np.where(label.ravel() == "tie", "tie", "ok"),
            "p_first": p[i, o, 0], "p_tie": p[i, o, 2] if p.shape[2] > 2 else None, "label_mass": 0.8,
        }
    )  # fmt: skip


@given(st.lists(shares, min_size=2, max_size=3), st.integers(1, 5))
def test_the_majority_is_that_of_all_sequences_of_repeats(weights, repeats):
    """Every sequence of K verdicts by hand; a shared lead goes to the label that was given first."""
    p = np.array(weights) / sum(weights)
    by_hand = np.zeros(len(p))
    for sequence in product(range(len(p)), repeat=repeats):
        counts = np.bincount(sequence, minlength=len(p))
        winner = next(label for label in sequence if counts[label] == counts.max())
        by_hand[winner] += np.prod(p[list(sequence)])
    assert majority(p, repeats) == pytest.approx(by_hand)


@pytest.mark.parametrize(("labels", "repeats", "temperature"), [(2, 2, 1.0), (2, 5, 0.5), (2, 4, 1.5), (3, 3, 1.0)])
def test_expected_numbers_are_the_means_of_sampled_audits(labels, repeats, temperature):
    rng = np.random.default_rng(labels * repeats)
    p = rng.dirichlet(np.ones(labels), size=(12, 2))
    gold = rng.integers(labels, size=12)
    found = indications(p, gold, temperature, repeats)
    tables = [sampled(p, gold, temperature, repeats, rng).assign(judge=str(run)) for run in range(80)]
    metrics = trust(pd.concat(tables, ignore_index=True), rng=rng, replicates=0)
    runs = metrics[metrics["slice"] == "overall"].pivot(index="judge", columns="metric", values="value")
    for name, value in audit(found).items():
        column = "T_general" if name == "T" else name
        error = runs[column].std() / np.sqrt(len(runs))
        # T is a product of means: its own mean differs by their covariance, of the order 1 / pairs.
        assert runs[column].mean() == pytest.approx(value, abs=4 * error + (0.02 if name == "T" else 0)), name
        low, high = sampling_interval(found)[name]
        inside = runs[column].between(low - 1e-9, high + 1e-9).mean()
        assert inside > (0.85 if name == "T" else 0.9), name


def test_one_pair_by_hand():
    """p(A) = 0.8 under AB and 0.6 under BA, gold A, two repeats; an even split is won with 1/2."""
    found = audit(indications(*forced([(0.8, 0.6, 0)]), 1.0, 2))
    c = (0.64 + 0.04 + 0.36 + 0.16) / 2
    assert found["C"] == pytest.approx(c)
    assert found["phi"] == pytest.approx(1 - (0.8 * 0.6 + 0.2 * 0.4))
    assert found["A"] == pytest.approx(0.7)
    assert found["T"] == pytest.approx(c * 0.48)
    assert found["T_joint"] == pytest.approx((0.64 * 0.6 + 0.36 * 0.8) / 2)


def test_the_sampling_interval_of_c_is_that_of_a_binomial():
    """20 places that agree with 0.68 each: 9 and 17 are the quantiles of that binomial."""
    from scipy.stats import binom

    found = indications(*forced([(0.8, 0.8, 0)] * 10), 1.0, 2)
    assert np.array(sampling_interval(found)["C"]) * 20 == pytest.approx(binom.ppf([0.025, 0.975], 20, 0.68))


@given(pairs, st.integers(2, 6), st.sampled_from([0.3, 1.0, 2.0]))
def test_naming_the_answers_the_other_way_round_changes_nothing(listed, repeats, temperature):
    p, gold = forced(listed)
    one, two = indications(p, gold, temperature, repeats), indications(p[:, :, ::-1], 1 - gold, temperature, repeats)
    assert audit(one) == pytest.approx(audit(two))
    assert sampling_interval(one)["A"] == pytest.approx(sampling_interval(two)["A"])


@given(pairs, st.integers(2, 6))
def test_forced_choice_keeps_to_the_bound_and_to_t_joint(listed, repeats):
    found = audit(indications(*forced(listed), 1.0, repeats))
    assert found["A"] <= 1 - found["phi"] / 2 + 1e-12
    assert found["T"] == pytest.approx(found["C"] * (found["A"] - found["phi"] / 2))
    for low, high in sampling_interval(indications(*forced(listed), 1.0, repeats)).values():
        assert low <= high


@given(pairs)
def test_temperature_0_is_greedy(listed):
    found = indications(*forced([pair for pair in listed if 0.5 not in pair] or [(0.9, 0.2, 0)]), 0.0, 10)
    assert audit(found)["C"] == 1
    assert set(found.r.ravel()) <= {0.0, 1.0}
    near = indications(*forced([(0.9, 0.2, 0)]), 0.01, 10)
    assert audit(near) == pytest.approx(audit(indications(*forced([(0.9, 0.2, 0)]), 0.0, 10)))


def test_many_repeats_settle_on_the_likelier_label_and_never_agree():
    found = audit(indications(*forced([(0.8, 0.6, 0), (0.3, 0.9, 1)]), 1.0, 400))
    assert found["C"] == pytest.approx(0, abs=1e-9)
    assert found["A"] == pytest.approx(3 / 4, abs=1e-3)
    assert found["phi"] == pytest.approx(1 / 2, abs=1e-3)


def test_one_repeat_has_no_c():
    found = audit(indications(*forced([(0.8, 0.6, 0)]), 1.0, 1))
    assert np.isnan([found[name] for name in ("C", "T", "T_joint")]).all()
    assert found["A"] == pytest.approx(0.7)
    assert np.isnan(sampling_interval(indications(*forced([(0.8, 0.6, 0)]), 1.0, 1))["C"]).all()


def test_certain_labels_make_no_nan():
    found = indications(*forced([(1.0, 0.0, 0)]), 0.5, 4)
    assert audit(found) == {"C": 1.0, "phi": 1.0, "A": 0.5, "T": 0.0, "T_joint": 0.0}


def test_the_table_puts_expected_beside_sampled_and_says_what_is_saved():
    rng = np.random.default_rng(0)
    p, gold = rng.dirichlet(np.ones(2), size=(40, 2)), rng.integers(2, size=40)
    table = pd.concat([sampled(p, gold, t, 5, rng) for t in (0.5, 1.0)])
    # One pass per order is enough: the others' log-probabilities are not looked at.
    table.loc[(table["temperature"] == 1.0) | (table["repeat"] > 0), "p_first"] = None
    found = side_by_side(expected_audit(table, rng=rng, replicates=100, at=[(0.0, 3)]))
    assert found["temperature"].tolist() == [0.5] * 5 + [1.0] * 5 + [0.0] * 5
    by_name = found[found["temperature"] == 1.0].set_index("metric")
    assert by_name["expected"].to_dict() == pytest.approx(audit(indications(p, gold, 1.0, 5)))
    sampled_c = trust(table[table["temperature"] == 1.0], rng=rng, replicates=0).set_index("metric")["value"]
    assert by_name.loc["C", "sampled"] == pytest.approx(sampled_c["C"])
    assert by_name["calls_saved"].unique() == pytest.approx([0.8])
    assert by_name["calls_saved_all"].unique() == pytest.approx([0.9])
    assert by_name["mass_left_out"].unique() == pytest.approx([0.2])
    assert set(found["inside"][:10]) <= {"yes", "no"}
    assert (found["inside"][10:] == "").all()
    assert found["expected"][10] == 1  # C at temperature 0.


def test_a_gold_tie_that_no_label_can_name_is_never_right(rows):
    table = rows({"p": ("tie", "AA", "AA")}, p_first=0.9, temperature=1.0)
    found = side_by_side(expected_audit(table, rng=np.random.default_rng(0), replicates=0)).set_index("metric")
    assert found.loc["A", ["expected", "sampled"]].tolist() == [0, 0]


def test_without_a_temperature_only_what_is_asked_for_is_predicted(rows):
    table = rows({"p": ("A", "AA", "AA")}, p_first=0.8)
    with pytest.raises(TableError, match="a temperature and log-probabilities"):
        expected_audit(table, rng=np.random.default_rng(0))
    found = side_by_side(expected_audit(table, rng=np.random.default_rng(0), replicates=0, at=[(1.0, 2)]))
    assert found.set_index("metric").loc["C", "expected"] == pytest.approx(0.68)


def test_reasoning_formats_and_single_orders_are_not_predicted():
    rng = np.random.default_rng(0)
    p, gold = rng.dirichlet(np.ones(2), size=(5, 2)), np.zeros(5, dtype=int)
    table = sampled(p, gold, 1.0, 2, rng)
    for unfit in (table.assign(format="cot_json"), table.assign(p_first=None), table[table["order"] == "AB"]):
        with pytest.raises(TableError, match="logprobs=true"):
            expected_audit(unfit, rng=rng)
    table.loc[(table["item"] == "3") & (table["order"] == "BA"), "p_first"] = None
    assert "1 pairs without the log-probabilities" in expected_audit(table, rng=rng, replicates=0)["note"].iloc[0]
