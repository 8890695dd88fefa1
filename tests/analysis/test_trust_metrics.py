from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.reliability import items, trust

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "published"
relaxed = settings(deadline=None, max_examples=50)


def values(table, **options):
    options = {"replicates": 0, "rng": np.random.default_rng(0)} | options
    found = trust(table, **options)
    return found[found["slice"] == "overall"].set_index("metric")["value"]


def complete(repeats, labels="AB"):
    """Pairs judged in full: {item: (gold, AB, BA)}."""
    verdicts = st.text(labels, min_size=repeats, max_size=repeats)
    pair = st.tuples(st.sampled_from("AB"), verdicts, verdicts)
    return st.lists(pair, min_size=1, max_size=8).map(lambda ps: {f"p{i}": p for i, p in enumerate(ps)})


def test_four_pairs_by_hand(rows):
    table = rows(
        {
            "right": ("A", "AAA", "AAA"),  # N 1 1, P 1, R 1 1
            "shaky": ("A", "AAB", "AAA"),  # N 0 1, P 1, R 1 1
            "first": ("B", "AAA", "BBB"),  # N 1 1, P 0, R 0 1
            "wrong": ("B", "AAA", "AAA"),  # N 1 1, P 1, R 0 0
        }
    )
    certain = {"A": 5 / 8, "T": 7 / 8 * (5 / 8 - 1 / 8), "T_joint": 3 / 8}
    assert values(table).drop("delta_T_fmt").to_dict() == pytest.approx(
        {
            "C": 7 / 8,
            "phi": 1 / 4,
            "A": 5 / 8,
            "A_AB": 2 / 4,
            "A_BA": 3 / 4,
            "A_dec": 4 / 6,
            "q": 1 / 2,
            "A-phi/2": 5 / 8 - 1 / 8,
            "T": 7 / 8 * (5 / 8 - 1 / 8),
            "T_general": 7 / 8 * (5 / 8 - 1 / 8),
            "T_joint": 3 / 8,
            "T_joint_pair": 1 / 4,
            "gap": 7 / 16 - 3 / 8,
            "bound": 7 / 8,
            "capability_gap": 2 / 8,
            **{f"{m}_{case}": v for case in ("worst", "best") for m, v in certain.items()},
        }
    )


@pytest.mark.parametrize(
    ("verdicts", "n", "m"),
    [
        ("AAA", 1, "A"),
        ("AAB", 0, "A"),
        ("ABBA", 0, "A"),  # an exact split: the first repeat's
        ("BAAB", 0, "B"),
        ("?BA", 0, "B"),  # the first that can be read
        ("?AA", 1, "A"),
        ("??A", None, "A"),  # one readable verdict shows no reproducibility
        ("???", None, None),
        ("=BB=A", 0, "tie"),
        ("ABB==", 0, "B"),  # of those that lead, the one given first
    ],
)
def test_repeats_are_read_as_reproducible_and_majority(rows, verdicts, n, m):
    row = items(rows({"p": ("A", verdicts, "A")})).iloc[0]
    assert row["M_AB"] == m
    assert (None if np.isnan(row["N_AB"]) else row["N_AB"]) == n
    assert row["readable_AB"] == len(verdicts.replace("?", ""))


def test_unreadable_verdicts_are_dropped_or_fail(rows):
    table = rows({"p": ("A", "AA?", "AAA"), "q": ("A", "AAA", "AAA")})
    dropped, failed = values(table), values(table, unreadable="fail")
    assert dropped[["C", "phi", "A", "T_joint"]].tolist() == [1, 0, 1, 1]
    assert failed[["C", "phi", "A", "T_joint"]].tolist() == [3 / 4, 1 / 2, 3 / 4, 1 / 2]
    found = trust(table, rng=np.random.default_rng(0), replicates=0)
    assert found["share_unreadable"].unique() == [1 / 12]


@pytest.mark.parametrize(
    ("verdicts", "worst", "best"),
    [("AAB?", 0, 1), ("AAAB?", 1, 1), ("ABB?", 0, 1), ("ABBB?", 0, 0), ("??", 0, 1), ("AB", 1, 1), ("BA", 0, 0)],
)
def test_what_unreadable_verdicts_could_have_said(rows, verdicts, worst, best):
    row = items(rows({"p": ("A", verdicts, "A")})).iloc[0]
    assert (row["R_low_AB"], row["R_high_AB"]) == (worst, best)


def test_the_worst_and_the_best_case_by_hand(rows):
    found = values(rows({"p": ("A", "AA?", "AAA"), "q": ("A", "AAA", "AAA")}))
    assert found[["A_worst", "T_worst", "T_joint_worst"]].tolist() == pytest.approx([1, 3 / 4, 3 / 4])
    assert found[["A_best", "T_best", "T_joint_best"]].tolist() == [1, 1, 1]


@relaxed
@given(complete(3, "AB?"), st.randoms(use_true_random=False))
def test_whatever_unreadable_verdicts_say_lies_between_the_worst_and_the_best_case(rows, pairs, random):
    def said(verdicts):
        return "".join(random.choice("AB") if v == "?" else v for v in verdicts)

    ends = values(rows(pairs))
    truth = values(rows({i: (gold, said(ab), said(ba)) for i, (gold, ab, ba) in pairs.items()}))
    for metric in ("A", "T", "T_joint"):
        assert ends[f"{metric}_worst"] - 1e-9 <= truth[metric] <= ends[f"{metric}_best"] + 1e-9


def test_what_is_undefined_is_counted(rows):
    found = trust(
        rows({"p": ("A", "??", "AA"), "q": ("A", "AA", "A?"), "r": (None, "AA", "AA")}),
        rng=np.random.default_rng(0),
        replicates=0,
    ).set_index("metric")
    assert found.loc[["C", "phi", "A"], "n"].tolist() == [4, 2, 3]
    assert found.loc[["C", "phi", "A"], "note"].tolist() == [
        "undefined for 2 of 6",
        "undefined for 1 of 3",
        "undefined for 3 of 6",
    ]


def test_one_repeat_or_one_order_gives_a_reason_not_a_number(rows):
    once = trust(rows({"p": ("A", "A", "B")}), rng=np.random.default_rng(0)).set_index("metric")
    assert once["value"][["phi", "A"]].tolist() == [1, 0.5]
    assert once["value"][["C", "T", "T_joint"]].isna().all()
    assert "two readable repeats" in once.loc["C", "note"]
    one_way = trust(rows({"p": ("A", "AA", "")}), rng=np.random.default_rng(0)).set_index("metric")
    assert one_way.loc["A_AB", "value"] == 1
    assert one_way["value"][["phi", "A", "T"]].isna().all()
    assert "both orders" in one_way.loc["phi", "note"]


def test_ties_free_q_and_the_general_form_is_printed(rows):
    table = rows({"p": ("A", "AA", "=="), "q": ("A", "BB", "=="), "r": ("A", "AA", "AA")})
    found = trust(table, rng=np.random.default_rng(0), replicates=0).set_index("metric")
    assert found.loc["q", "value"] == 1 / 4
    assert found.loc["T", "value"] == pytest.approx(3 / 6 - 2 / 3 * 1 / 4)
    assert "phi q" in found.loc["T", "note"]


@relaxed
@given(complete(1))
def test_accuracy_stays_within_the_bound_with_one_repeat(rows, pairs):
    found = values(rows(pairs))
    assert found["A"] <= found["bound"] + 1e-12
    right_where_decided = found["phi"] == 1 or found["A_dec"] == 1
    assert (abs(found["A"] - found["bound"]) < 1e-12) == right_where_decided


@relaxed
@given(complete(3) | complete(4))
def test_accuracy_stays_within_the_bound_by_majority(rows, pairs):
    found = values(rows(pairs))
    assert found["A"] <= found["bound"] + 1e-12
    assert found["T"] == pytest.approx(found["T_general"])
    assert found["T_joint"] <= min(found["C"], 1 - found["phi"], found["A"]) + 1e-12
    assert found["T_joint_pair"] <= found["T_joint"] + 1e-12


@relaxed
@given(complete(3, "AB=?"))
def test_naming_the_answers_the_other_way_changes_nothing(rows, pairs):
    swap = str.maketrans("AB", "BA")
    mirrored = {
        i: (gold.translate(swap), ba.translate(swap), ab.translate(swap)) for i, (gold, ab, ba) in pairs.items()
    }
    ours, theirs = values(rows(pairs)), values(rows(mirrored))
    same = ["C", "phi", "A", "A_dec", "q", "T", "T_joint", "T_joint_pair"]
    pd.testing.assert_series_equal(ours[same], theirs[same])
    assert ours[["A_AB", "A_BA"]].tolist() == pytest.approx(theirs[["A_BA", "A_AB"]].tolist(), nan_ok=True)


@settings(deadline=None, max_examples=20)
@given(complete(3, "AB=?"), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows, pairs, random):
    table = rows(pairs)
    shuffled = table.iloc[random.sample(range(len(table)), len(table))]
    ours, theirs = (trust(t, rng=np.random.default_rng(3), replicates=200) for t in (table, shuffled))
    pd.testing.assert_frame_equal(ours, theirs)


def audit(rows, seed, **columns):
    rng = np.random.default_rng(seed)
    verdicts = lambda: "".join(rng.choice(["A", "B"], 3, p=[0.7, 0.3]))  # noqa: E731
    return rows({f"p{i}": ("AB"[i % 2], verdicts(), verdicts()) for i in range(30)}, **columns)


def test_formats_that_judge_alike_differ_by_exactly_nothing(rows):
    table = pd.concat([audit(rows, 1, format="direct"), audit(rows, 1, format="vf_json")])
    spread = trust(table, rng=np.random.default_rng(0)).set_index("metric").loc["delta_T_fmt"]
    assert (spread["value"], spread["ci_low"], spread["ci_high"], spread["format"]) == (0, 0, 0, "*")


def test_the_range_over_formats(rows):
    low, high = rows({"p": ("A", "BB", "BB")}, format="x"), rows({"p": ("A", "AA", "AA")}, format="y")
    assert values(pd.concat([low, high]))["delta_T_fmt"] == 1
    assert "two formats" in trust(low, rng=np.random.default_rng(0)).set_index("metric").loc["delta_T_fmt", "note"]


def test_another_data_set_in_the_table_changes_no_interval(rows):
    one, other = audit(rows, 1), audit(rows, 2, dataset="a")
    alone = trust(one, rng=np.random.default_rng(7))
    together = trust(pd.concat([other, one]), rng=np.random.default_rng(7))
    pd.testing.assert_frame_equal(together[together["dataset"] == "d"].reset_index(drop=True), alone)


def test_items_of_a_group_are_resampled_together(rows):
    table = rows({f"p{i}": ("A", *(["AA", "AA"] if i < 10 else ["BB", "BB"])) for i in range(20)})
    apart = trust(table, rng=np.random.default_rng(0)).set_index("metric").loc["A"]
    grouped = table.assign(group=["g" + item[1:].zfill(2)[0] for item in table["item"]])
    together = trust(grouped, rng=np.random.default_rng(0)).set_index("metric").loc["A"]
    assert (together["ci_low"], together["ci_high"]) == (0, 1)
    assert 0.2 < apart["ci_low"] < 0.5 < apart["ci_high"] < 0.8


def test_sources_are_slices(rows):
    table = rows({"p": ("A", "AA", "AA"), "q": ("A", "BB", "BB")})
    found = trust(table.assign(source=table["item"].map({"p": "x", "q": "y"})), rng=np.random.default_rng(0))
    accuracy = found[found["metric"] == "A"].set_index("slice")["value"]
    assert accuracy.to_dict() == {"overall": 0.5, "x": 1, "y": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": "C"}, "'gold' must name a verdict on a pair"),
        ({"winner": None, "outcome": "ok", "grade": "CORRECT"}, "'winner' is null although 'outcome' is ok"),
        ({"gold": ["A", "B"]}, "'gold' differs between rows of one item: rows 0, 1"),
        ({"source": ["x", "y"]}, "'source' differs between rows of one item"),
    ],
)
def test_rows_that_are_no_verdicts_on_pairs_are_refused(rows, change, message):
    with pytest.raises(TableError, match=message):
        trust(rows({"p": ("A", "A", "A")}).assign(**change), rng=np.random.default_rng(0))


def test_what_cannot_be_asked_for_is_refused(rows):
    table = rows({"p": ("A", "A", "A")})
    with pytest.raises(TableError, match="choose drop or fail"):
        items(table, unreadable="tie")
    with pytest.raises(ValueError, match="choose percentile or bca"):
        trust(table, rng=np.random.default_rng(0), interval="normal")
    with pytest.raises(TableError, match="no rows"):
        trust(table.iloc[:0], rng=np.random.default_rng(0))


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published figures are not here")
def test_tables_with_the_published_rates_have_the_published_trust(rows):
    """Every cell that prints C, phi, A and T: verdicts with those rates give that T, to the printed digit."""
    printed = pd.read_csv(PUBLISHED / "trust_cells.csv")
    wide = printed.drop_duplicates(["judge", "dataset", "format", "metric"]).pivot(
        index=["judge", "dataset", "format"], columns="metric", values="value"
    )
    cells = wide.dropna(subset=["C", "phi", "A", "T"])
    assert len(cells) == 7
    for (judge, _, _), cell in cells.iterrows():
        found = values(rows(_pairs_with(*(round(cell[m] * 20) for m in ("C", "phi", "A"))), judge=judge))
        assert (100 * found[["C", "phi", "A"]]).tolist() == pytest.approx(cell[["C", "phi", "A"]].tolist())
        assert 100 * found["T"] == pytest.approx(cell["T"], abs=0.05 + 1e-9), judge


def _pairs_with(stable, flips, right, pairs=2000):
    """2,000 pairs with gold A of which these many are reproducible, flip, and are right (counted per order)."""
    decided_right = right - flips // 2
    assert 2 * decided_right + flips == 2 * right
    kinds = ["flip"] * flips + ["right"] * decided_right
    kinds += ["wrong"] * (pairs - len(kinds))
    verdicts = {"flip": ("A", "B"), "right": ("A", "A"), "wrong": ("B", "B")}
    shaky = {"A": "AAB", "B": "BBA"}
    repeats = [{v: v * 3 for v in "AB"} if i < stable else shaky for i in range(pairs)]
    return {f"p{i}": ("A", *(repeats[i][v] for v in verdicts[kind])) for i, kind in enumerate(kinds)}
