from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.formula.api import mixedlm, ols
from statsmodels.stats.anova import anova_lm

from analysis.columns import TableError
from analysis.crossed import squares
from analysis.dependability import d_study, dependability, designs
from analysis.generalizability import components, g_study
from analysis.reliability import trust
from analysis.repeats import items
from analysis.variance import anova

FACETS = ("judge", "dataset", "format")


def cells(values, metric="T", **columns):
    """Tidy metrics of cells whose values are given as an array over judges, data sets and formats."""
    names = [[f"{f}{i}" for i in range(n)] for f, n in zip("jdf", values.shape, strict=True)]
    table = pd.DataFrame(list(product(*names)), columns=list(FACETS))
    constant = {"study": "trust", "method": "", "reference": "", "temperature": 0.0, "constrained": False}
    return table.assign(
        value=values.ravel(), metric=metric, slice="overall", note="", generator="", **constant | columns
    )


def simulated(rng, sizes, variances):
    """Responses whose effects are drawn with these variances, by the axes of each."""
    values = np.zeros(sizes)
    for axes, variance in variances.items():
        shape = [n if a in axes else 1 for a, n in enumerate(sizes)]
        values = values + rng.normal(0, np.sqrt(variance), shape)
    return values


def test_sums_of_squares_by_hand():
    found = squares(np.array([[1.0, 2.0], [3.0, 6.0]]), ["a", "b"])
    assert {source: (of.df, of.ss) for source, of in found.items()} == {
        ("a",): (1, 9),
        ("b",): (1, 4),
        ("a", "b"): (1, 1),
    }


@settings(deadline=None, max_examples=50)
@given(arrays(float, (3, 2, 4), elements=st.floats(-1, 1)))
def test_sums_of_squares_add_up_to_the_total(values):
    parts = sum(of.ss for of in squares(values, FACETS).values())
    assert parts == pytest.approx(((values - values.mean()) ** 2).sum(), abs=1e-12)


def test_anova_agrees_with_statsmodels():
    table = cells(np.random.default_rng(0).random((4, 3, 5)))
    model = ols("value ~ judge * dataset + format + judge:format + dataset:format", table).fit()
    theirs = anova_lm(model, typ=2)
    ours = anova(table).set_index("term")
    names = {term: term.replace(":", " x ") for term in theirs.index[:-1]} | {
        "Residual": "residual (judge x dataset x format)"
    }
    for term, name in names.items():
        assert ours.loc[name, "ss"] == pytest.approx(theirs.loc[term, "sum_sq"])
        assert ours.loc[name, "df"] == theirs.loc[term, "df"]
    assert ours["eta2"]["total"] == 1
    assert ours["eta2"].iloc[:-1].sum() == pytest.approx(1)


def test_a_metric_that_only_judges_differ_in():
    values = np.broadcast_to(np.array([0.2, 0.4, 0.9])[:, None, None], (3, 2, 2))
    found = anova(cells(values)).set_index("term")["eta2"]
    assert found["judge"] == pytest.approx(1)
    assert found[["dataset", "format", "judge x dataset"]].tolist() == pytest.approx([0, 0, 0])


def test_one_format_leaves_format_out():
    found = anova(cells(np.random.default_rng(0).random((3, 2, 1))))
    assert found["term"].tolist() == ["judge", "dataset", "residual (judge x dataset)", "total"]


def test_every_temperature_is_analysed_apart():
    rng = np.random.default_rng(0)
    both = pd.concat([cells(rng.random((3, 2, 2))), cells(rng.random((2, 2, 2)), temperature=1.0)])
    assert anova(both).groupby("temperature")["df"].max().to_dict() == {0.0: 11, 1.0: 7}


def test_missing_cells_are_named_or_left_out():
    table = cells(np.random.default_rng(0).random((3, 2, 2))).drop(index=[1, 2, 3])
    with pytest.raises(TableError, match=r"3 of 12 cells .* judge j0, dataset d0, format f1; judge j0, dataset d1"):
        anova(table)
    found = anova(table, complete_only=True)
    assert found["df"].max() == 7
    assert found["note"].iloc[0] == "2 of judge, 2 of dataset, 2 of format; left out: judge j0"


def test_what_cannot_be_analysed_is_said():
    table = cells(np.ones((2, 2, 1)))
    with pytest.raises(TableError, match="there is no metric 'kappa'; there are T"):
        anova(table, "kappa")
    with pytest.raises(TableError, match=r"two levels or more .* dataset d0, format f0 is all there is"):
        anova(table[table["dataset"] == "d0"])
    with pytest.raises(TableError, match="two responses in one cell, judge j0, dataset d0"):
        anova(pd.concat([table, table]))


def test_an_undefined_metric_is_named(rows):
    once = pd.concat([rows({"p": ("A", "A", "A")}, judge=j, format=f) for j in "jk" for f in "xy"])
    with pytest.raises(TableError, match=r"T is undefined in 4 cells, j d x, .*two readable repeats"):
        anova(trust(once, rng=np.random.default_rng(0), replicates=0))


def test_components_by_hand():
    found = components(np.array([[1.0, 2.0], [3.0, 6.0]]), ["a", "b"])
    assert {s: c.variance for s, c in found.items()} == {("a",): 4, ("b",): 1.5, ("a", "b"): 1}


def test_components_are_recovered_from_simulated_responses():
    rng = np.random.default_rng(0)
    sizes, facets = (20, 5, 4, 3), ("pair", "judge", "format", "order")
    true = {(0,): 1.0, (1,): 0.3, (3,): 0.1, (0, 1): 0.8, (0, 3): 0.4, (1, 2): 0.2, (0, 1, 3): 0.25, (0, 1, 2, 3): 0.5}
    runs = [components(simulated(rng, sizes, true), facets) for _ in range(200)]
    for source in runs[0]:
        estimates = np.array([run[source].variance for run in runs])
        expected = true.get(tuple(facets.index(f) for f in source), 0.0)
        assert abs(estimates.mean() - expected) < 4 * estimates.std() / np.sqrt(len(runs)), source


def test_components_agree_with_a_mixed_model():
    values = simulated(np.random.default_rng(3), (12, 8), {(0,): 1.0, (1,): 0.6, (0, 1): 0.5})
    table = pd.DataFrame({"y": values.ravel(), "a": np.repeat(range(12), 8), "b": np.tile(range(8), 12), "all": 1})
    model = mixedlm("y ~ 1", table, groups="all", vc_formula={"a": "0 + C(a)", "b": "0 + C(b)"}).fit(reml=True)
    theirs = dict(zip(model.model.exog_vc.names, model.vcomp, strict=True))
    ours = components(values, ["a", "b"])
    assert ours[("a",)].variance == pytest.approx(theirs["a"], rel=0.02)
    assert ours[("b",)].variance == pytest.approx(theirs["b"], rel=0.02)
    assert ours[("a", "b")].variance == pytest.approx(model.scale, rel=0.02)


def audit(rows, verdict, judges=2, formats=2, pairs=6):
    """Verdicts of crossed judges and formats: `verdict(pair, judge, format, order)` gives the repeats."""
    parts = [
        rows(
            {f"p{i}": ("AB"[i % 2], *(verdict(i, j, f, o) for o in (0, 1))) for i in range(pairs)},
            judge=f"j{j}",
            format=f"f{f}",
        )
        for j in range(judges)
        for f in range(formats)
    ]
    return pd.concat(parts, ignore_index=True)


def shares(table, **options):
    return g_study(items(table), **options).set_index("component")["share"]


def test_verdicts_that_follow_the_pair_or_the_place_alone(rows):
    by_pair = shares(audit(rows, lambda i, j, f, o: "AAA" if i % 3 else "BBB"))
    assert by_pair["pair"] == pytest.approx(1)
    by_place = shares(audit(rows, lambda i, j, f, o: "ABA"[o] * 3))
    assert by_place["order"] == pytest.approx(1)
    taste = shares(audit(rows, lambda i, j, f, o: "AB"[(i + j) % 2] * 3))
    assert taste["pair x judge"] == pytest.approx(1)


def test_correctness_is_another_response(rows):
    right = audit(rows, lambda i, j, f, o: "AB"[i % 2] * 2 if j or i else "BB")
    found = shares(right, response="correct")
    assert found["pair"] < shares(right)["pair"]
    assert found.sum() == pytest.approx(1)


def test_negative_components_are_shown_raw_and_count_as_zero(rows):
    rng = np.random.default_rng(0)
    found = g_study(items(audit(rows, lambda i, j, f, o: rng.choice(["A", "B"]) * 2, pairs=20)))
    assert (found["variance"] < 0).any()
    assert (found["truncated"] == found["variance"].clip(lower=0)).all()
    assert found["share"].sum() == pytest.approx(1)


def test_repeats_are_a_component_of_their_own(rows):
    """Each verdict is A with chance 0.8 or 0.2 by pair: within a cell the variance is 0.16, between pairs 0.09."""
    rng = np.random.default_rng(0)
    say = lambda i, j, f, o: "".join(rng.choice(["A", "B"], 10, p=[0.8, 0.2] if i % 2 else [0.2, 0.8]))  # noqa: E731
    found = g_study(items(audit(rows, say, 3, 3, 60)), verdicts="each").set_index("component")["variance"]
    assert found["pair x judge x format x order x repeat"] == pytest.approx(0.16, rel=0.05)
    assert found["pair"] == pytest.approx(0.09 * 60 / 59, rel=0.05)
    assert found["pair x judge x format x order"] == pytest.approx(0, abs=0.004)


def test_designs_that_are_not_complete_are_refused_or_trimmed(rows):
    table = audit(rows, lambda i, j, f, o: "?" if (i, j, f, o) == (4, 1, 0, 1) else "AB"[i % 2])
    units = items(table)
    with pytest.raises(TableError, match=r"1 of 48 cells .* pair p4, judge j1, format f0, order BA"):
        g_study(units)
    assert "left out: pair p4" in g_study(units, complete_only=True)["note"].iloc[0]
    patchy = audit(rows, lambda i, j, f, o: "?" if i < 7 and (j, f, o) == (1, 0, 1) else "AB"[i % 2], pairs=40)
    note = g_study(items(patchy), complete_only=True)["note"].iloc[0]
    assert note == "33 of pair, 2 of judge, 2 of format, 2 of order; left out: 7 of pair"
    with pytest.raises(TableError, match="no part of the design"):
        g_study(items(audit(rows, lambda i, j, f, o: "?")), complete_only=True)


def test_ties_name_no_answer(rows):
    units = items(audit(rows, lambda i, j, f, o: "=" if i == 0 else "A"))
    with pytest.raises(TableError, match="ties are among the verdicts on 4 pairs"):
        g_study(units)
    assert len(g_study(units, response="correct")) == 15


def test_what_the_g_study_cannot_do_is_said(rows):
    units = items(audit(rows, lambda i, j, f, o: "AB"[i % 2]))
    with pytest.raises(TableError, match="choose A or correct"):
        g_study(units, response="B")
    with pytest.raises(TableError, match="needs two readable repeats"):
        g_study(units, verdicts="each")


def test_one_judge_leaves_the_judge_out(rows):
    found = g_study(items(audit(rows, lambda i, j, f, o: "AB"[i % 2] * 2, judges=1)))
    assert "pair x format x order" in set(found["component"])
    assert not found["component"].str.contains("judge").any()


def test_dependability_by_hand():
    parts = {"pair": 0.2, "order": 0.02, "pair x order": 0.06, "format": -0.5}
    assert dependability(parts, "pair", {"order": 2}) == pytest.approx(0.2 / 0.24)
    assert dependability(parts, "order", {"pair": 10}) == pytest.approx(0.02 / (0.02 + 0.02 + 0.006))
    with pytest.raises(TableError, match="no component 'judge', as there is but one judge"):
        dependability(parts, "judge", {})


def test_more_of_anything_is_never_less_dependable():
    parts = {"pair": 0.2, "judge": 0.1, "order": 0.02, "pair x judge": 0.3, "pair x judge x order x repeat": 0.1}
    every = designs(parts, "pair", {"judge": 3, "order": 2, "repeat": 4})
    grid = every.set_index(["judge", "order", "repeat"])["dependability"]
    for (j, o, k), value in grid.items():
        assert value <= min(grid.get(n, 1) for n in ((j + 1, o, k), (j, o + 1, k), (j, o, k + 1))) + 1e-12
    assert every.query("judge == 3 and order == 2 and repeat == 4")["calls"].item() == 24


def test_the_cheapest_design_reaches_the_target_and_none_is_cheaper(rows):
    rng = np.random.default_rng(1)

    def say(i, j, f, o):
        return "".join(rng.choice(["A", "B"], 4, p=[0.85, 0.15] if i % 3 else [0.15, 0.85]))

    units = items(audit(rows, say, 3, 2, 40))
    found = d_study(units, targets=(0.7, 0.9)).set_index(["of", "target"])
    parts = g_study(units, verdicts="each").set_index("component")["variance"]
    every = designs(parts.to_dict(), "pair")
    for target in (0.7, 0.9):
        row = found.loc[("pair", target)]
        assert row["calls"] == every.loc[every["dependability"] >= target, "calls"].min()
        numbers = {f: row[f] for f in ("order", "repeat", "format", "judge")}
        assert row["dependability"] == pytest.approx(float(dependability(parts, "pair", numbers)))


def test_judges_that_differ_are_told_apart_by_enough_pairs_and_equal_ones_by_none(rows):
    def right(share):
        return audit(rows, lambda i, j, f, o: "AB"[(i + (i >= 40 * share[j])) % 2], 2, 2, 40)

    unlike, alike = (d_study(items(right(s)), targets=(0.8,)).set_index("of") for s in ((1, 0.5), (0.5, 0.5)))
    assert unlike.loc["judge", "dependability"] >= 0.8
    assert 1 < unlike.loc["judge", "pair"] < 40
    assert unlike.loc["judge", "note"] == ""
    assert alike.loc["judge", "note"] == "no variance between judges was found"
