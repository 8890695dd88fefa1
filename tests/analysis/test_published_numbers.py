import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import accuracy, reliability
from analysis.columns import TableError
from analysis.published import beside, faults, footnotes, printed, protocol
from analysis.reliability import trust

SHARED = Path(__file__).parents[2].parent / "shared" / "published"
PAPERS = ("trust", "swapref", "refsense", "evalpair")
CELL = ["judge", "dataset", "method", "format", "slice"]


def cells(paper, *tables, by=CELL):
    rows = pd.concat([printed(paper, table) for table in tables]).query("statistic == 'value'")
    return rows.drop_duplicates([*by, "metric"]).pivot(index=by, columns="metric", values="value")


def sums(cell, pairs=1000):
    """Sums of a study's terms that have a printed cell's rates."""
    means = {"N": cell["C"], "P": 1 - cell["phi"], "R_AB": cell["A"], "R_BA": cell["A"]}
    return {k: np.array(v * pairs) for k, v in means.items()} | {
        **{f"{k}_n": np.array(float(pairs)) for k in (*means, "R_flip")},
        "R_flip": np.array(pairs / 2),
        "free": np.array(0.0),
    }


def test_trust_follows_from_its_parts_in_every_cell_that_prints_them():
    found = cells("trust", "1").dropna(subset=["C", "phi", "A", "T"])
    assert len(found) == 7
    for name, cell in found.iterrows():
        assert reliability.trust_rate(sums(cell)) == pytest.approx(cell["T"], abs=0.001), name
        assert reliability.bound(sums(cell)) >= cell["A"] - 0.001, name


def test_printed_bounds_follow_from_phi():
    found = cells("trust", "1").dropna(subset=["bound"])
    assert len(found) == 2
    for name, cell in found.iterrows():
        assert reliability.bound(sums(cell.fillna(1))) == pytest.approx(cell["bound"], abs=0.0005), name


def test_where_c_is_not_printed_there_is_one_that_gives_the_printed_trust():
    found = cells("trust", "1").query("C != C").dropna(subset=["phi", "A", "T"])
    assert len(found) == 4
    for name, cell in found.iterrows():
        implied = cell["T"] / reliability.net_accuracy(sums(cell.fillna(1)))
        assert 0.754 <= implied <= 1.001, name


def test_format_ranges_follow_from_the_printed_ends_and_from_the_cells():
    ends = printed("trust", "4").pivot_table(index=["judge", "dataset"], columns="statistic", values="value")
    both = ends.dropna(subset=["max", "min"])
    assert len(both) == 2
    assert (both["max"] - both["min"]).tolist() == pytest.approx(both["value"].tolist())
    rates = pd.concat([printed("trust", t) for t in "12"]).query("metric == 'T' and method == 'pairwise'")
    for judge, dataset in both.index:
        values = rates.query("judge == @judge and dataset == @dataset and statistic == 'value'")["value"]
        assert np.ptp(values) == pytest.approx(both.loc[(judge, dataset), "value"])


def test_paradigms_repeat_the_direct_cells():
    direct, grid = (
        cells("trust", "2").xs("pairwise", level="method"),
        cells("trust", "1").xs("pairwise", level="method"),
    )
    shared = grid.reindex(direct.index)[direct.columns]
    assert ((direct - shared).abs().stack() == 0).sum() == 6


def test_variance_shares_leave_room_for_what_is_not_printed():
    found = printed("trust", "C.1").set_index("slice")["value"]
    assert found.idxmax() == "judge x dataset"
    assert 0.5 < found.sum() < 1


@pytest.mark.parametrize("row", protocol().to_dict("records"), ids=lambda r: r["verdict_AB"] + r["verdict_BA"])
def test_the_benchmarks_protocol_is_the_prose(rows, row):
    say = {"A": "A", "B": "B", "tie": "="}
    for gold in "AB":
        found = accuracy.items(rows({"p": (gold, say[row["verdict_AB"]], say[row["verdict_BA"]])}))
        assert found["correct"].item() == (row["prose"] == gold)
    assert ("judgebench-14" in row["faults"]) == (row["recipe"] != row["prose"])
    assert ("judgebench-15" in row["faults"]) == (row["recipe_unmapped"] != row["prose"])


def test_accuracies_are_means_of_pairings_but_for_the_known_faults():
    by = ["judge", "dataset", "slice"]
    rows = pd.concat([printed("swapref", t) for t in "16"])
    wide = cells("swapref", "1", "6", "7", by=by)
    assert len(wide) == 104
    assert (wide["ACC_o"] - wide["ACC_s"]).to_numpy() == pytest.approx(wide["RPAG"].to_numpy(), abs=0.00101)
    apart = 0
    for end, metric in (("o", "ACC_o"), ("s", "ACC_s")):
        known = rows[rows["metric"] == metric].set_index(by)["faults"]
        differs = (wide[[f"accuracy_{end}o", f"accuracy_{end}s"]].mean(axis=1) - wide[metric]).abs() > 0.0006 + 1e-9
        assert (differs == known.reindex(differs.index).str.contains("swapref-")).all()
        apart += differs.sum()
    assert apart == 66


def test_prompting_repeats_the_standard_gap():
    first = printed("swapref", "1").query("metric == 'RPAG' and judge == 'GPT-4o'")
    second = printed("swapref", "2").query("format == 'standard'")
    by = ["dataset", "slice"]
    assert first.set_index(by)["value"].to_dict() == second.set_index(by)["value"].to_dict()


def test_rates_of_the_matrix_follow_from_its_counts():
    by = ["judge", "generator", "slice"]
    full = cells("evalpair", "18", by=by)
    precision, recall = full["TP"] / (full["TP"] + full["FP"]), full["TP"] / (full["TP"] + full["FN"])
    assert precision.tolist() == pytest.approx(full["precision"].tolist(), abs=0.0005)
    assert recall.tolist() == pytest.approx(full["recall"].tolist(), abs=0.0005)
    for table in ("2", "18"):
        part = cells("evalpair", table, by=by).dropna(subset=["precision"])
        f1 = 2 * part["precision"] * part["recall"] / (part["precision"] + part["recall"])
        assert f1.tolist() == pytest.approx(part["f1"].tolist(), abs=0.001)
    counts = cells("evalpair", "1", by=["generator", "slice"])
    assert (counts["n"] / 299).tolist() == pytest.approx(counts["share"].tolist(), abs=0.0005)


def test_off_grid_rates_are_exactly_those_marked():
    found = printed("trust", "1").query("metric in ['C', 'phi', 'A']")
    step = found["metric"].map({"C": 0.005, "phi": 0.01, "A": 0.005})
    off = ((found["value"] / step) % 1).between(1e-6, 1 - 1e-6) & (found["step"] < 0.01)
    assert (off == found["faults"].str.contains("trust-26")).all()
    assert off.sum() == 10


def test_faults_are_exactly_those_documented():
    known = faults()
    assert sorted(int(fault.split("-")[1]) for fault in known) == list(range(1, 27))
    assert all(len(says) > 30 for says in known.values())
    carried = {f for paper in PAPERS for cell in printed(paper)["faults"] for f in cell.split()}
    assert carried <= set(known)
    assert {f.split("-")[0] for f in faults("trust")} == {"trust"}


@pytest.mark.skipif(not SHARED.exists(), reason="the sources' figures are not here")
def test_there_are_as_many_faults_as_the_sources_have():
    text = (SHARED / "README.md").read_text(encoding="utf-8")
    numbered = re.findall(r"^(\d+)\. ", text.split("## Inconsistencies")[1], re.MULTILINE)
    assert {int(n) for n in numbered} == {int(f.split("-")[1]) for f in faults()}


@pytest.mark.skipif(not SHARED.exists(), reason="the sources' figures are not here")
@pytest.mark.parametrize(
    ("paper", "file", "value", "unit", "few"),
    [
        ("trust", "trust_cells", "value", "unit", 0),
        ("trust", "trust_paradigms", "value", "unit", 3),
        ("swapref", "swapref_accuracy", "accuracy", "unit", 0),
        ("swapref", "swapref_pairings", "accuracy", "unit", 0),
        ("refsense", "refsense_position", "correctness", "unit", 0),
        ("evalpair", "evalpair_full300", "value", "unit", 0),
    ],
)
def test_numbers_are_those_of_the_source(paper, file, value, unit, few):
    source = pd.read_csv(SHARED / f"{file}.csv")
    expected = source[value] / source[unit].map({"%": 100, "pp": 100}).fillna(1)
    ours = printed(paper)["value"].round(6).value_counts()
    missing = expected.round(6).value_counts().sub(ours, fill_value=0).clip(lower=0).sum()
    assert missing <= few


def audit(rows, **columns):
    table = rows({f"p{i}": ("A", "AAA", "BBB" if i < 3 else "AAA") for i in range(25)}, **columns)
    return trust(table, rng=np.random.default_rng(0), replicates=500)


def test_ours_beside_theirs(rows):
    ours = audit(rows, judge="gpt-4o", dataset="judgebench", method="pairwise", format="direct", temperature=0.0)
    found = beside(ours, "trust", "1")
    assert list(found)[:4] == ["judge", "dataset", "format", "metric"]
    own = found[found["judge"] == "GPT-4o"].set_index("metric")
    assert own.loc["phi", ["ours", "printed", "place"]].tolist() == [0.12, 0.24, "inside"]
    assert own.loc["A", ["ours", "printed", "place"]].tolist() == [0.94, 0.51, "outside"]
    assert set(found.loc[found["judge"] != "GPT-4o", "place"]) == {"not measured"}
    assert len(found) == len(printed("trust", "1").query("statistic == 'value'"))


def test_other_temperatures_and_missing_intervals_are_not_mistaken(rows):
    same = {"judge": "GPT-4o", "dataset": "JudgeBench", "method": "pairwise", "format": "direct"}
    hot = beside(audit(rows, temperature=1.0, **same), "trust", "1")
    assert set(hot["place"]) == {"not measured"}
    bare = audit(rows, temperature=0.0, **same).assign(ci_low=np.nan, ci_high=np.nan)
    assert set(beside(bare, "trust", "1").query("judge == 'GPT-4o'")["place"]) == {"no interval"}


def test_the_last_printed_digit_is_no_difference():
    rows = printed("trust", "1").query("metric == 'T'")
    ours = rows.assign(value=rows["value"] + 0.0004, temperature=0.0)
    found = beside(ours.assign(ci_low=ours["value"], ci_high=ours["value"]), "trust", "1")
    assert set(found.query("metric == 'T'")["place"]) == {"inside"}


def test_footnotes_are_those_of_the_table(rows):
    notes = footnotes(beside(audit(rows), "trust", "2"))
    assert list(notes) == ["trust-21"]
    assert notes["trust-21"] == faults()["trust-21"]


def test_unknown_tables_are_named():
    with pytest.raises(TableError, match="trust has no table '99'; it has 1, figure 2, 2, 4, "):
        printed("trust", "99")
    with pytest.raises(TableError, match="has no published numbers; choose swapref"):
        printed("judgebench")
    with pytest.raises(TableError, match="prints ranges and means over cells"):
        beside(printed("trust"), "trust", "10")
    assert all(len(printed(paper)) > 50 for paper in PAPERS)
