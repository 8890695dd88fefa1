import numpy as np
import pandas as pd
import pytest

from analysis.columns import TableError
from analysis.contrast import temperature
from analysis.repeats import items


def contrast(*tables, **options):
    options = {"rng": np.random.default_rng(0), "replicates": 2000} | options
    return temperature(items(pd.concat(tables)), **options).set_index("metric")


def test_two_cells_by_hand(rows):
    """C falls from 1 to 1/2 in one cell and not at all in the other; A and phi stay."""
    calm = {"p": ("A", "AAA", "AAA"), "q": ("A", "AAA", "AAA")}
    hot = {"p": ("A", "AAB", "ABA"), "q": ("A", "AAA", "AAA")}
    found = contrast(
        rows(calm, temperature=0.0),
        rows(hot, temperature=1.0),
        rows(calm, temperature=0.0, format="x"),
        rows(calm, temperature=1.0, format="x"),
    )
    assert found["change"].to_dict() == {"C": -0.25, "A-phi/2": 0, "T": -0.25}
    assert found.loc["T", ["value_from", "value_to", "cells", "n"]].tolist() == [1, 0.75, 2, 8]
    assert found.loc["C", ["ci_low", "ci_high"]].tolist() == [-0.5, 0]


def test_every_temperature_against_the_lowest(rows):
    pair = {"p": ("A", "AA", "AA"), "q": ("A", "AA", "AB")}
    found = contrast(*(rows(pair, temperature=t) for t in (0.5, 0.0, 1.0)))
    assert found.loc["C", ["temperature_from", "temperature_to"]].to_numpy().tolist() == [[0, 0.5], [0, 1]]
    assert (found["change"] == 0).all()


def test_cells_at_one_temperature_stay_out(rows):
    pair = {"p": ("A", "AA", "AA"), "q": ("A", "AA", "AA")}
    warm = rows({"p": ("A", "AB", "AB"), "q": ("A", "AB", "AB")}, temperature=1.0)
    found = contrast(rows(pair, temperature=0.0), warm, rows(pair, temperature=0.0, judge="reasoning"))
    assert found.loc["C", ["change", "cells", "n"]].tolist() == [-1, 1, 4]


def test_pairs_are_resampled_within_their_data_set(rows):
    """One data set loses all its reproducibility, the other none: no resample can tell otherwise."""
    calm, hot = ({f"p{i}": ("A", v, v) for i in range(5)} for v in ("AA", "AB"))
    parts = [(calm, 0.0, "d"), (hot, 1.0, "d"), (calm, 0.0, "e"), (calm, 1.0, "e")]
    found = contrast(*(rows(pairs, temperature=t, dataset=d) for pairs, t, d in parts))
    assert found.loc["C", ["change", "ci_low", "ci_high"]].tolist() == [-0.5, -0.5, -0.5]


def test_what_is_missing_is_said(rows):
    pair = {"p": ("A", "AA", "AA")}
    with pytest.raises(TableError, match=r"needs cells judged at two temperatures; the table's are: 0$"):
        contrast(rows(pair, temperature=0.0))
    with pytest.raises(TableError, match="none recorded"):
        contrast(rows(pair))
    once = {"p": ("A", "A", "A")}
    with pytest.raises(TableError, match=r"C is undefined in 1 of 1 cells .*j on d in format '': needs two readable"):
        contrast(rows(once, temperature=0.0), rows(once, temperature=1.0))
