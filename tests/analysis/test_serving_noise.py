import numpy as np
import pandas as pd
import pytest

from analysis.columns import TableError
from analysis.noise import decomposed
from analysis.serving import requests, serving


def served(verdicts, order="AB", **columns):
    """Requests written as {condition: verdicts of the items i0, i1, ...}; a text is its verdict."""
    rows = [
        {"condition": c, "item": f"i{i}", "winner": None if w == "?" else w, "text_sha": w, "order": order}
        for c, said in verdicts.items()
        for i, w in enumerate(said)
    ]
    table = pd.DataFrame(rows).assign(study="serving", judge="j", dataset="d", format="direct", tokens=10)
    table["outcome"] = np.where(table["winner"].isna(), "unreadable", "ok")
    return table.assign(**columns)


def values(table, column="value"):
    found = serving(table, rng=np.random.default_rng(0), replicates=0)
    return found.set_index(["slice", "metric"])[column]


def test_four_requests_by_hand():
    table = served({"alone": "AABB", "batch_8": "ABBB", "shuffled": "AABA"}).assign(
        differing_tokens=[0] * 4 + [0, 5, 1, 0] + [0, 0, 0, 10],
        first_difference=[-1] * 4 + [-1, 5, 9, -1] + [-1, -1, -1, 0],
        max_logprob_difference=[0] * 4 + [0.01, 0.5, 0.02, 0] + [None] * 4,
    )
    table.loc[table["condition"] == "batch_8", "text_sha"] = ["A", "B", "B'", "B"]
    found = values(table)
    assert found["batch_8", "verdict_difference"] == 1 / 4
    assert found["batch_8", "text_difference"] == 2 / 4
    assert found["batch_8", "token_difference"] == 6 / 40
    assert found["batch_8", "max_logprob_difference"] == 0.5
    assert found["batch_8", "first_difference"] == 7
    assert found["shuffled", "verdict_difference"] == 1 / 4
    assert found["any", "verdict_difference"] == 2 / 4
    assert ("any", "token_difference") not in found.index
    assert np.isnan(found["shuffled", "max_logprob_difference"])
    assert "log-probabilities" in values(table, "note")["shuffled", "max_logprob_difference"]


def test_an_unreadable_verdict_differs_from_a_readable_one_and_not_from_another():
    found = values(served({"alone": "A??", "resumed": "?A?"}))
    assert found["resumed", "verdict_difference"] == pytest.approx(2 / 3)
    assert (
        values(served({"alone": "A??", "resumed": "?A?"}), "share_unreadable")["resumed", "verdict_difference"] == 2 / 3
    )


def test_what_was_unreadable_under_one_condition_was_so_under_any():
    table = served({"alone": "AABB", "batch_2": "A?BB", "batch_8": "??BB"})
    assert values(table, "share_unreadable")["any", "verdict_difference"] == 2 / 4


def test_requests_that_were_not_served_alone_are_left_out_and_counted():
    table = served({"alone": "AA", "batch_2": "AB"})
    table = table[~((table["condition"] == "alone") & (table["item"] == "i1"))]
    assert values(table)["batch_2", "verdict_difference"] == 0
    assert values(table, "note")["batch_2", "verdict_difference"] == "undefined for 1 of 2"


def test_intervals_resample_groups():
    table = served({"alone": "A" * 40, "batch_8": "AB" * 20})
    found = serving(table, rng=np.random.default_rng(0), replicates=2000).set_index("metric")
    row = found.loc["verdict_difference"].iloc[0]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.35, 0.65), abs=0.03)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="text_sha"), "no column 'text_sha'"),
        (lambda t: pd.concat([t, t.iloc[:1]], ignore_index=True), "served twice under one condition: rows 0, 4"),
        (lambda t: t[t["condition"] != "alone"], "no row has the condition 'alone'"),
        (lambda t: t[t["condition"] == "alone"], "no condition but 'alone'"),
        (lambda t: t.assign(order="CD"), "column 'order' must be one of AB, BA"),
        (lambda t: t.assign(tokens=-1), "column 'tokens' must be a whole number"),
    ],
)
def test_faulty_tables_are_named(change, message):
    with pytest.raises(TableError, match=message):
        serving(change(served({"alone": "AA", "batch_2": "AB"})), rng=np.random.default_rng(0))


def test_one_minus_c_is_sampling_and_serving(rows):
    """Of four places two have repeats that disagree; one verdict changes with the batch: 1/2 = 1/4 + 1/4."""
    audit = rows({"i0": ("A", "AB", "AA"), "i1": ("A", "AA", "BA")}, format="direct", temperature=1.0)
    table = pd.concat([served({"alone": "AA", "batch_8": "AB"}), served({"alone": "AA", "batch_8": "AA"}, order="BA")])
    found = decomposed(audit, table, rng=np.random.default_rng(0), replicates=100)
    assert found.set_index("part")["value"].to_dict() == {"1-C": 0.5, "sampling": 0.25, "serving": 0.25}
    assert (found["n"] == 4).all()


def test_at_temperature_0_all_of_it_is_serving(rows):
    audit = rows({"i0": ("A", "AB", "AA")}, format="direct", temperature=0.0)
    table = pd.concat([served({"alone": "A", "batch_8": "A"}, order=o) for o in ("AB", "BA")])
    found = decomposed(audit, table, rng=np.random.default_rng(0), replicates=0)
    assert found.set_index("part")["value"].to_dict() == {"1-C": 0.5, "sampling": 0.0, "serving": 0.5}


def test_tables_that_share_nothing_are_refused(rows):
    with pytest.raises(TableError, match="share no pair"):
        decomposed(rows({"x": ("A", "AA", "AA")}), served({"alone": "A", "b": "A"}), rng=np.random.default_rng(0))


def test_a_request_knows_whether_anything_changed_it():
    found = requests(served({"alone": "AB", "batch_2": "AB", "batch_8": "AA"}))
    assert found[found["condition"] == "any"].set_index("item")["verdict_differs"].to_dict() == {"i0": 0, "i1": 1}
