from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.__main__ import main
from analysis.columns import TableError
from analysis.published import beside, printed
from analysis.studies import STUDIES, Options, find
from analysis.swapref import design, swapref
from analysis.swapref_items import items
from analysis.verdicts import check, write

SIDES = {"o": "original", "s": "swapped"}
SAID = {"C": ("CORRECT", "ok"), "I": ("INCORRECT", "ok"), "U": ("UNKNOWN", "ok"), "?": (None, "unreadable")}


def triplets(said, **columns):
    """A table written as `{item: (verdicts on oo, os, so, ss)}`, one character a repeat; "" is not judged."""
    rows = [
        {
            "item": item,
            "reference": SIDES[pairing[0]],
            "candidate": SIDES[pairing[1]],
            "repeat": k,
            "gold": "CORRECT" if pairing[0] == pairing[1] else "INCORRECT",
            **dict(zip(("grade", "outcome"), SAID[v], strict=True)),
        }
        for item, all_four in said.items()
        for pairing, verdicts in zip(("oo", "os", "so", "ss"), all_four, strict=True)
        for k, v in enumerate(verdicts)
    ]
    fixed = {"study": "swapref", "judge": "j", "dataset": "d", "order": "AB", "winner": None, "swap": "type_preserving"}
    return pd.DataFrame(rows).assign(**{**fixed, **columns})


def measured(table, **options):
    return swapref(table, rng=np.random.default_rng(0), **({"replicates": 0} | options))


def values(table, part="overall", **options):
    found = measured(table, **options)
    return found[found["slice"] == part].set_index("metric")["value"]


NAMES = ["accuracy_oo", "accuracy_os", "accuracy_so", "accuracy_ss", "ACC_o", "ACC_s", "RPAG"]


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (("C", "I", "I", "C"), [1, 1, 1, 1, 1, 1, 0]),  # follows the reference always
        (("C", "I", "C", "I"), [1, 1, 0, 0, 1, 0, 1]),  # believes only itself, and knows the right answer
        (("I", "C", "I", "C"), [0, 0, 1, 1, 0, 1, -1]),  # believes only itself, and that is the swapped one
        (("C", "C", "C", "C"), [1, 0, 0, 1, 0.5, 0.5, 0]),  # accepts everything
        (("I", "I", "I", "I"), [0, 1, 1, 0, 0.5, 0.5, 0]),  # rejects everything
        (("U", "U", "U", "U"), [0, 0, 0, 0, 0, 0, 0]),  # never knows
    ],
)
def test_judges_of_known_behaviour(judge, expected):
    assert values(triplets({"p": judge, "q": judge}))[NAMES].tolist() == expected


def test_a_judge_that_flips_some_triplets():
    """Follows the reference but for 1 of 5 items, which it grades the wrong way round under the swapped reference."""
    follows, errs = ("C", "I", "I", "C"), ("C", "I", "C", "I")
    table = triplets({**{f"p{i}": follows for i in range(4)}, "p4": errs})
    assert values(table)[NAMES].tolist() == pytest.approx([1, 1, 0.8, 0.8, 1, 0.8, 0.2])


def test_a_judge_that_flips_at_random_at_a_known_rate():
    """Every verdict is turned over with probability 0.3: each accuracy is 0.7, and there is no gap."""
    rng = np.random.default_rng(1)
    right = np.array(["C", "I", "I", "C"])
    turned = {"C": "I", "I": "C"}
    said = {f"p{i}": tuple(turned[v] if rng.random() < 0.3 else v for v in right) for i in range(3000)}
    found = values(triplets(said))
    assert found[NAMES[:6]].tolist() == pytest.approx([0.7] * 6, abs=0.03)
    assert found["RPAG"] == pytest.approx(0, abs=0.03)


def test_repeats_are_averaged_within_the_item():
    table = triplets({"p": ("CCCI", "I", "I", "C"), "q": ("C", "I", "I", "C")})
    assert values(table)["accuracy_oo"] == pytest.approx((3 / 4 + 1) / 2)


def test_unreadable_verdicts_count_as_wrong_or_drop_the_item():
    table = triplets({"p": ("C", "I", "?", "C"), "q": ("C", "I", "C", "C"), "r": ("C?", "I", "I", "C")})
    wrong, drop = values(table), values(table, unreadable="drop")
    assert wrong[["accuracy_oo", "accuracy_so", "ACC_s"]].tolist() == pytest.approx([5 / 6, 1 / 3, 2 / 3])
    assert wrong[["ACC_s_worst", "ACC_s_best"]].tolist() == pytest.approx([2 / 3, 5 / 6])
    assert wrong[["RPAG_worst", "RPAG_best"]].tolist() == pytest.approx([1 - 2 / 3, 11 / 12 - 5 / 6])
    assert drop[["accuracy_oo", "accuracy_so", "RPAG"]].tolist() == pytest.approx([1, 1 / 2, 1 / 4])
    found = measured(table, unreadable="drop").set_index(["slice", "metric"]).loc[("overall", "RPAG")]
    assert (found["n"], found["note"]) == (2, "undefined for 1 of 3")
    assert found["share_unreadable"] == pytest.approx(2 / 13)


def test_items_without_all_four_triplets_are_counted_and_left_out():
    table = triplets({"p": ("C", "I", "I", "C"), "q": ("I", "I", "", "C")})
    found = measured(table).set_index(["slice", "metric"])
    assert found.loc[("overall", "accuracy_oo"), "value"] == 1
    assert found.loc[("overall", "RPAG"), "note"] == "undefined for 1 of 2"
    assert found.loc[("type_preserving", "n"), "value"] == 2
    none = measured(triplets({"p": ("C", "I", "", "")})).set_index(["slice", "metric"]).loc[("overall", "RPAG")]
    assert np.isnan(none["value"])
    assert "all four" not in none["note"]
    assert "each of its four triplets" in none["note"]


def test_swaps_and_strata_are_slices():
    follows, believes = ("C", "I", "I", "C"), ("C", "I", "C", "I")
    fresh = {"p": "never-changing", "q": "never-changing", "r": "fast-changing"}
    known = {"p": 1000.0, "q": 10.0, "r": 1.0}
    kept = triplets({"p": believes, "q": believes, "r": follows})
    changed = triplets({"p": believes, "q": follows, "r": follows}, swap="type_changing")
    table = pd.concat([kept, changed], ignore_index=True)
    table = table.assign(freshness=table["item"].map(fresh), popularity=table["item"].map(known))
    gaps = measured(table).query("metric == 'RPAG'").set_index("slice")["value"]
    assert gaps.to_dict() == pytest.approx(
        {
            "overall": 1 / 2,
            "type_preserving": 2 / 3,
            "type_changing": 1 / 3,
            "type_preserving/never-changing": 1,
            "type_preserving/fast-changing": 0,
            "type_changing/never-changing": 1 / 2,
            "type_changing/fast-changing": 0,
            "type_preserving/popularity-1of3": 0,
            "type_preserving/popularity-2of3": 1,
            "type_preserving/popularity-3of3": 1,
            "type_changing/popularity-1of3": 0,
            "type_changing/popularity-2of3": 0,
            "type_changing/popularity-3of3": 1,
        }
    )


def test_thirds_belong_to_the_data_set_and_equals_stay_together():
    one = triplets({f"p{i}": ("C", "I", "I", "C") for i in range(6)})
    table = one.assign(popularity=one["item"].map({f"p{i}": float(i // 2 * 7) for i in range(6)}))
    small = triplets({"p0": ("C", "I", "I", "C")}, dataset="small").assign(popularity=5.0)
    found = measured(pd.concat([table, small], ignore_index=True)).query("metric == 'RPAG'")
    thirds = found[found["slice"].str.contains("popularity")]
    assert thirds["dataset"].unique().tolist() == ["d"]
    assert thirds["n"].tolist() == [2, 2, 2]


CONSISTENT = printed("swapref", "7").query("dataset == 'nq_open'")


def test_printed_pairings_give_the_printed_accuracies():
    """1,000 items a cell, of which as many are right as the source prints; its own faults are the only differences."""
    keys = ["judge", "slice"]
    rates = CONSISTENT.pivot(index=keys, columns="metric", values="value")
    tables = []
    for (judge, swap), row in rates.iterrows():
        right = {p: np.arange(1000) < round(1000 * row[f"accuracy_{p}"]) for p in ("oo", "os", "so", "ss")}
        for (a, b), flags in zip(product(SIDES, SIDES), right.values(), strict=True):
            said = np.where(flags == (a == b), "CORRECT", "INCORRECT")
            named = {"judge": judge, "swap": swap, "reference": SIDES[a], "candidate": SIDES[b]}
            tables.append(pd.DataFrame({"item": np.arange(1000).astype(str), "grade": said}).assign(**named))
    table = pd.concat(tables, ignore_index=True)
    fixed = {"study": "swapref", "dataset": "nq_open", "format": "standard", "order": "AB"}
    found = measured(table.assign(**fixed, outcome="ok", gold=None, winner=None))
    pairings = beside(found, "swapref", "7").query("dataset == 'nq_open'")
    assert len(pairings) == 104
    assert pairings["ours"].to_numpy() == pytest.approx(pairings["printed"].to_numpy(), abs=1e-9)
    both = pd.concat([beside(found, "swapref", t).query("dataset == 'nq_open'") for t in "16"])
    at_fault = both.groupby(["judge", "slice"])["faults"].transform("sum").str.contains("swapref-[12]")
    assert len(both) == 78
    clean = both[~at_fault]
    assert len(clean) >= 30
    # Pairings are rounded to 0.001: their means can be off by 0.0005, and by as much again as they are rounded.
    off = (clean["ours"] - clean["printed"]).abs()
    assert off[clean["metric"] != "RPAG"].max() < 0.00101
    assert off[clean["metric"] == "RPAG"].max() < 0.00151
    counts = beside(found, "swapref", "3").query("dataset == 'nq_open' and slice.str.startswith('type')")
    assert counts["ours"].tolist() == counts["printed"].tolist() == [1000, 1000]


GRADES = st.sampled_from("CIU?")
TABLES = st.dictionaries(st.sampled_from("pqrst"), st.tuples(GRADES, GRADES, GRADES, GRADES), min_size=1)


@given(TABLES, st.sampled_from(["wrong", "drop"]))
@settings(max_examples=15)
def test_properties(said, rule):
    table = triplets(said)
    found = values(table, unreadable=rule)
    if np.isnan(found["RPAG"]):
        return
    assert -1 <= found["RPAG"] <= 1
    assert found["ACC_o"] == pytest.approx(found[["accuracy_oo", "accuracy_os"]].mean())
    assert found["ACC_s"] == pytest.approx(found[["accuracy_so", "accuracy_ss"]].mean())
    assert found["RPAG"] == pytest.approx(found["ACC_o"] - found["ACC_s"])
    assert found["RPAG_best"] - 1e-12 <= values(table)["RPAG"] <= found["RPAG_worst"] + 1e-12
    other = {item: (ss, so, os, oo) for item, (oo, os, so, ss) in said.items()}
    assert values(triplets(other), unreadable=rule)["RPAG"] == pytest.approx(-found["RPAG"])


@given(st.randoms(use_true_random=False))
@settings(max_examples=4)
def test_the_order_of_rows_changes_nothing(random):
    table = triplets({"p": ("CC", "I", "C", "C"), "q": ("C", "C?", "I", "U"), "r": ("C", "I", "I", "I")})
    order = list(range(len(table)))
    random.shuffle(order)
    shuffled = table.iloc[order].reset_index(drop=True)
    pd.testing.assert_frame_equal(measured(shuffled, replicates=50), measured(table, replicates=50))


def test_swaps_of_one_item_and_items_of_one_group_are_resampled_together():
    said = {f"p{i}": ("C", "I", "C" if i % 2 else "I", "C") for i in range(40)}
    table = pd.concat([triplets(said, swap=swap) for swap in ("type_preserving", "type_changing")], ignore_index=True)
    found = measured(table, replicates=1000).query("metric == 'RPAG'").set_index("slice")
    whole, part = (found.loc[name, ["ci_low", "ci_high"]].astype(float) for name in ("overall", "type_changing"))
    assert whole.tolist() == pytest.approx(part.tolist())
    number = table["item"].str[1:].astype(int)
    grouped = table.assign(group="g" + (number % 2 + number // 8 * 2).astype(str))  # Four alike in each group.
    found = measured(grouped, replicates=1000).query("metric == 'RPAG'").set_index("slice")
    widths = found["ci_high"] - found["ci_low"]
    assert 1.6 < widths["type_changing"] / (part["ci_high"] - part["ci_low"]) < 2.4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"reference": ["RV", "RV", "NR", "NR"]},
            "'reference' must be one of original, swapped; rows 0, 1, 2, 3: 'RV'",
        ),
        ({"candidate": ["a", "b", "a", "b"]}, "'candidate' must be one of"),
        ({"swap": ""}, "'swap' must say how the reference was swapped"),
        ({"swap": "a/b"}, "'swap' is no name for a swap"),
        ({"gold": "CORRECT"}, "'gold' contradicts the triplet, .*rows 1, 2"),
        ({"grade": "YES"}, "'grade' must be one of CORRECT, INCORRECT, UNKNOWN; rows 0, 1, 2, 3: 'YES'"),
        ({"grade": None, "winner": "A"}, "'grade' is null although 'outcome' is ok"),
        ({"order": "BA"}, "'order' must be AB"),
        ({"freshness": ["x", "y", "x", "x"]}, "'freshness' differs between rows of one item: rows 0, 1, 2, 3"),
        ({"popularity": "many"}, "'popularity' must be a number"),
        ({"language": ["en", "en", "te", "te"]}, "'language' differs between rows of one item"),
    ],
)
def test_tables_of_something_else_are_refused(change, says):
    with pytest.raises(TableError, match=says):
        items(triplets({"p": ("C", "I", "I", "C")}).assign(**change))


def test_no_rows_and_no_such_rule():
    with pytest.raises(TableError, match="has no rows"):
        items(triplets({"p": ("C", "I", "I", "C")}).iloc[:0])
    with pytest.raises(TableError, match="choose wrong, drop"):
        design(triplets({"p": ("C", "I", "I", "C")}), unreadable="tie")


def audit(judge="j", dataset="nq_open", **columns):
    rng = np.random.default_rng(len(judge + dataset))
    said = {f"p{i}": tuple(rng.choice(["C", "I"], 4)) for i in range(12)}
    swaps = ("type_preserving", "type_changing", "popularity_high", "popularity_low", "evaluator_knowledge")
    fresh = {f"p{i}": ("never-changing", "slow-changing", "fast-changing")[i % 3] for i in range(12)}
    tables = [triplets(said, judge=judge, dataset=dataset, swap=swap, **columns) for swap in swaps]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(freshness=table["item"].map(fresh)) if dataset == "freshqa" else table


def findings(*tables, **options):
    table = pd.concat(tables, ignore_index=True)
    return find(STUDIES["swapref"], table, Options("wrong", **({"replicates": 0} | options)))


def test_tables_are_laid_out_as_in_the_source():
    formats = [audit(format=f) for f in ("standard", "direct")]
    found = findings(*formats, audit("k", "freshqa", format="standard"))
    assert not found.absent
    assert next(iter(found.tables)) == "swapref"
    accuracy = found.tables["accuracy_by_swap"]
    assert list(accuracy)[:6] == ["judge", "dataset", "format", *(f"type_preserving {m}" for m in NAMES[4:])]
    assert len(accuracy) == 3
    assert found.tables["pairings"]["pairing"].tolist()[:4] == ["o, o", "o, s", "s, o", "s, s"]
    prompting = found.tables["prompting"]
    assert prompting[["judge", "format"]].to_numpy().tolist() == [["j", "direct"], ["j", "standard"], ["k", "standard"]]
    assert "nq_open type_changing" in prompting
    counts = found.tables["counts"]
    assert counts["swap"].tolist() == [
        *("type_preserving", "type_changing", "popularity_high", "popularity_low"),
        *("evaluator_knowledge", "evaluator_knowledge", "popularity"),
    ]
    assert counts["judge"].tolist()[4:6] == ["j", "k"]
    assert counts["nq_open"].tolist() == ["12"] * 5 + ["–", "12"]
    assert set(found.tables["strata"]["slice"].str.partition("/")[2]) == {
        *("never-changing", "slow-changing", "fast-changing")
    }


def test_tables_that_the_verdicts_do_not_allow_say_why():
    found = findings(audit(format="direct"))
    assert "two formats or more; the table's are: direct" in found.absent["prompting"]
    assert "freshness" in found.absent["strata"]


def test_the_command_writes_tables_and_figures(tmp_path, capsys):
    write(check(pd.concat([audit("good"), audit("fair", "freshqa")], ignore_index=True)), tmp_path / "v.parquet")
    out = tmp_path / "out"
    command = ["swapref", str(tmp_path / "v.parquet"), "--out", str(out), "--replicates", "50", "--figures"]
    assert main(command) == 0
    printed_out = capsys.readouterr()
    assert "RPAG" in printed_out.out
    assert max(map(len, printed_out.out.splitlines())) <= 140
    figures = {path.name for path in (out / "figures").iterdir()}
    assert figures == {f"gap_by_{x}.{e}" for x in ("judge", "popularity", "freshness") for e in ("svg", "png")}
    assert ">never-changing<" in (out / "figures" / "gap_by_freshness.svg").read_text(encoding="utf-8")


def test_figures_without_anything_to_show_say_so():
    found = findings(triplets({"p": ("C", "I", "", "")}))
    for draw in STUDIES["swapref"].figures.values():
        assert "Nothing to show" in draw(found.metrics).axes[0].texts[0].get_text()
