from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.published import beside, printed
from analysis.review import (
    CELLS,
    agreement,
    bounds,
    coverage,
    outcome,
    outcomes,
    queue,
    rules,
    settled,
    summary,
)
from analysis.review_files import FIELDS, blank, parse, save
from analysis.review_tables import numbers, tables

BEHAVIOUR = {"context_follow": "ERROR", "both_claims": "ERROR", "refusal": "NO_ERROR", "unrelated": "NO_ERROR"}


def verdicts(records=30, judges=("x", "y")):
    """Every behaviour in turn; judges flag every other record."""
    rows = [
        {"item": f"{i}-4", "judge": judge, "generator": "x", "behaviour": b, "gold": BEHAVIOUR[b]}
        | {"grade": "ERROR" if i % 2 else "NO_ERROR", "extracted": "=cmd()"}
        for i in range(records)
        for b in [list(BEHAVIOUR)[i // 2 % 4]]
        for judge in judges
    ]
    return pd.DataFrame(rows).assign(study="evalpair", dataset="d", order="AB", winner=None, outcome="ok")


def labels(counts):
    """Labels of as many cases as `counts` has by behaviour and cell."""
    rows = [(b, cell) for (b, cell), n in counts.items() for _ in range(n)]
    table = pd.DataFrame(rows, columns=["behaviour", "cell"])
    return table.assign(case=[f"case-{i}" for i in range(len(table))], adopted=table["cell"].isin(["TP", "FN"]))


def answered(table, reviewer="a"):
    return pd.DataFrame(table, columns=["case", "label_ok", "judge_ok"]).assign(reviewer=reviewer)


def test_queue_is_capped_by_stratum_shuffled_and_blind():
    found = queue(verdicts(400), per_stratum=12)
    sizes = found.labels.groupby(["behaviour", "cell"]).size()
    assert len(sizes) == 8
    assert set(sizes) == {12}
    assert found.labels["cell"].tolist() != sorted(found.labels["cell"])
    assert found.cases["case"].tolist() == found.labels["case"].tolist()
    assert not {"gold", "behaviour", "cell", "adopted", "grade"} & set(found.cases)
    assert {"case", "dataset", "item", "generator", "judge", "flagged", "extracted"} <= set(found.cases)


def test_queue_depends_on_the_seed_and_not_on_the_order_of_rows():
    table = verdicts(100)
    shuffled = table.sample(frac=1, random_state=1)
    first, second = queue(table), queue(shuffled)
    pd.testing.assert_frame_equal(first.cases, second.cases)
    other = queue(table, rng=np.random.default_rng(3))
    assert other.cases["case"].tolist() != first.cases["case"].tolist()
    whole, part = (queue(t, per_stratum=1000).cases["case"] for t in (table, table.iloc[:40]))
    assert set(part) <= set(whole)


def test_verdicts_without_a_label_or_a_reading_are_in_no_queue():
    table = verdicts(8)
    table.loc[0, "gold"] = None
    table.loc[1, ["grade", "outcome"]] = [None, "unreadable"]
    assert len(queue(table).cases) == len(table) - 2
    assert len(queue(table.assign(gold=None)).cases) == 0


@pytest.mark.parametrize(
    ("cell", "label", "judge", "expected"),
    [
        ("TP", "yes", "yes", "genuine TP"),
        ("TP", "yes", "no", "right verdict, wrong reason"),
        ("TP", "no", "yes", "adoption-label mistake"),
        ("FP", "yes", "yes", "alternate source error"),
        ("FP", "yes", "no", "genuine false alarm"),
        ("FP", "no", "yes", "adoption-label mistake"),
        ("FP", "unclear", "yes", "unclear"),
        ("FN", "yes", "no", "genuine miss"),
        ("FN", "no", "yes", "adoption label too broad"),
        ("FN", "yes", "yes", "unclear"),
        ("TN", "yes", "yes", "genuine TN"),
        ("TN", "no", "no", "missed error"),
        ("TN", "", "no", "missed error"),
        ("TN", "yes", "", ""),
    ],
)
def test_outcomes_follow_the_codebook(cell, label, judge, expected):
    assert outcome(cell, label, judge) == expected


def test_codebook_is_the_sources():
    assert {said for (cell, *_), said in rules().items() if cell == "FN"} == {
        "genuine miss",
        "adoption label too broad",
    }
    assert {cell for cell, *_ in rules()} == set(CELLS)


PATTERN = {
    "genuine TP": ("TP", "yes", "yes"),
    "right verdict, wrong reason": ("TP", "yes", "no"),
    "alternate source error": ("FP", "yes", "yes"),
    "genuine false alarm": ("FP", "yes", "no"),
    "unclear": ("FP", "unclear", "yes"),
    "genuine miss": ("FN", "yes", "no"),
    "adoption label too broad": ("FN", "no", "no"),
    "genuine TN": ("TN", "yes", "yes"),
    "missed error": ("TN", "yes", "no"),
}


def test_summary_gives_the_printed_findings_and_bounds():
    """The 88 cases of tables 5 and 21, written out case by case."""
    rows = printed("evalpair", "21").query("metric != 'reviewed'")
    cases = [
        ("refusal", cell, *((cell, "no", "no") if said == "adoption-label mistake" else PATTERN[said])[1:])
        for cell, said, n in rows[["slice", "metric", "value"]].to_numpy()
        for _ in range(int(n))
    ]
    table = pd.DataFrame(cases, columns=["behaviour", "cell", "label_ok", "judge_ok"])
    table["case"] = [f"case-{i}" for i in range(len(table))]
    assert len(table) == 88
    found = outcomes(table[["case", "label_ok", "judge_ok"]].assign(reviewer="a"), table[["case", "behaviour", "cell"]])
    ours = numbers(found, table, "garage")
    for name in ("5", "21"):
        both = beside(ours, "evalpair", name)
        assert both["ours"].tolist() == pytest.approx(both["printed"].tolist(), abs=0.005)
    told = summary(found).set_index(["cell", "outcome"])
    assert told.loc[("FP", "genuine false alarm"), ["count", "reviewed", "low", "high"]].tolist() == [0, 25, 0, 0.12]
    assert told.loc[("TN", "genuine TN"), "low"] == pytest.approx(1 - 3 / 31)
    assert told.loc[("TP", "genuine TP"), "share"] == pytest.approx(21 / 23)


def test_coverage_gives_the_printed_table():
    rows = printed("evalpair", "16").pivot(index="slice", columns="metric", values="value")
    sampled = {tuple(s.split("/")): int(n) for s, n in rows["sampled"].items()}
    done = {tuple(s.split("/")): int(n) for s, n in rows["completed"].items()}
    of = labels(sampled)
    assert len(of) == 153
    enough = [done[key] for key in of[["behaviour", "cell"]].itertuples(index=False, name=None)]
    first = of[of.groupby(["behaviour", "cell"]).cumcount() < enough]
    reviews = answered([(case, "yes", "no") for case in first["case"]])
    found = outcomes(reviews, of)
    both = beside(numbers(found, of, "garage"), "evalpair", "16")
    assert both["ours"].tolist() == both["printed"].tolist()
    shown = coverage(of, found).set_index("behaviour")
    assert shown.loc["context_follow"].tolist() == ["8/12", "–", "9/12", "–"]
    assert shown.loc["unlabeled"].tolist() == ["–", "0/8", "–", "0/1"]


def test_two_reviewers_are_compared_and_a_dispute_is_no_outcome():
    of = labels({("refusal", "FP"): 4})
    one = answered([(f"case-{i}", "yes", a) for i, a in enumerate(["yes", "yes", "no", "no"])], "a")
    other = answered([(f"case-{i}", "yes", a) for i, a in enumerate(["yes", "no", "no", "no"])], "b")
    found = outcomes(pd.concat([one, other]), of)
    told = agreement(found).set_index("question")
    # AABB against ABBB: 3 of 4 agree, chance alone would make 2 of 4.
    assert told.loc["judge_ok", ["n", "agreement", "kappa"]].tolist() == [4, 0.75, 0.5]
    assert told.loc["outcome", "kappa"] == 0.5
    assert np.isnan(told.loc["label_ok", "kappa"])
    assert settled(found)["outcome"].tolist().count("disputed") == 1
    assert summary(found).query("outcome == 'disputed'")["count"].tolist() == [1]
    assert list(tables(found, of, "other")) == ["review_summary", "review_coverage", "review_agreement"]
    assert "published_21" in tables(found, of, "garage")


def test_nothing_reviewed_yet_is_no_failure():
    of = labels({("refusal", "FP"): 2})
    found = outcomes(answered([("case-0", "", ""), ("case-1", "yes", "")]), of)
    assert settled(found).empty
    assert summary(found)["count"].sum() == 0
    assert summary(found)["high"].isna().all()
    assert coverage(of, found).loc[0, "FP"] == "0/2"
    assert agreement(found).empty
    assert len(numbers(found, of, "d"))


@given(st.integers(1, 500), st.data())
def test_bounds_hold_the_share(n, data):
    count = data.draw(st.integers(0, n))
    low, high = bounds(np.array([count]), np.array([n]))
    assert 0 <= low[0] <= count / n <= high[0] <= 1


@pytest.fixture
def cases():
    return queue(verdicts(6, judges=("x",))).cases


def filled(cases, answers=("yes", "no")):
    return blank(cases, "ann").assign(label_ok=answers[0], judge_ok=answers[1], comment='=1+1; "quoted", and\nmore')


def test_a_saved_file_reads_as_it_was_and_holds_no_formula(cases, tmp_path):
    save(filled(cases), tmp_path / "r.csv")
    assert "\n=" not in (tmp_path / "r.csv").read_text(encoding="utf-8").replace(",", "\n")
    found = parse(tmp_path / "r.csv", cases)
    pd.testing.assert_frame_equal(found.rows[list(FIELDS)], filled(cases), check_dtype=False)
    assert found.said == ()


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-16"), (",", "cp1252")])
@pytest.mark.parametrize("answers", [("TRUE", "FALSE"), ("1", "0"), ("Yes", "No "), ("y", "n")])
def test_a_file_edited_by_a_spreadsheet_reads_the_same(cases, tmp_path, delimiter, encoding, answers):
    edited = filled(cases, answers).assign(comment="naïve – it’s Monday").rename(columns=str.upper)
    text = edited.to_csv(index=False, sep=delimiter, quoting=1, lineterminator="\r\n")
    (tmp_path / "r.csv").write_bytes(text.encode(encoding))
    found = parse(tmp_path / "r.csv", cases)
    assert set(found.rows["label_ok"]) == {"yes"}
    assert set(found.rows["judge_ok"]) == {"no"}
    assert set(found.rows["comment"]) == {"naïve – it’s Monday"}
    assert bool(found.said) == (encoding == "cp1252")


def test_dates_dropped_and_repeated_rows_are_told(cases, tmp_path):
    edited = filled(cases)
    edited.loc[1, "item"] = "04. Jan"
    pd.concat([edited.iloc[:-2], edited.iloc[:1]]).to_csv(tmp_path / "r.csv", index=False)
    found = parse(tmp_path / "r.csv", cases)
    assert len(found.rows) == len(cases) - 2
    repeated, dropped, changed = found.said
    assert "1 rows repeat" in repeated
    assert dropped.startswith(f"2 of {len(cases)} cases of the queue are not in r.csv")
    assert "column 'item' was changed in 1 rows" in changed
    assert edited["case"].iloc[1] in changed


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label_ok": "perhaps"}, "row 3, column 'label_ok': 'perhaps' is none of yes, no, unclear"),
        ({"case": "04.03.2026"}, "row 3: no case of the queue is called '04.03.2026'"),
        ({"case": ""}, "row 3 has no case"),
    ],
)
def test_what_nobody_knows_is_refused_by_its_row(cases, tmp_path, change, says):
    edited = filled(cases).assign(comment="")
    edited.loc[1, list(change)] = list(change.values())
    edited.to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(TableError, match=says):
        parse(tmp_path / "r.csv", cases)


def test_other_files_are_refused(cases, tmp_path):
    edited = filled(cases).assign(comment="")
    again = edited.iloc[:1].assign(judge_ok="yes")
    pd.concat([edited, again]).to_csv(tmp_path / "two.csv", index=False)
    edited.drop(columns="judge_ok").to_csv(tmp_path / "column.csv", index=False)
    (tmp_path / "r.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "cells.csv").write_text("case,label_ok,judge_ok,comment\nc,yes,no,one, two\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_bytes(b"")
    for name, says in {
        "two.csv": f"rows 2 and {len(edited) + 2} answer case-.* differently",
        "column.csv": "no column 'judge_ok'",
        "r.xlsx": "save it as CSV",
        "cells.csv": "row 2 has more cells than the head",
        "empty.csv": "its columns are none",
        "absent.csv": "cannot be read",
    }.items():
        with pytest.raises(TableError, match=says):
            parse(tmp_path / name, cases)


@given(st.binary(max_size=200))
def test_no_bytes_are_more_than_a_table_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("r") / "r.csv"
    path.write_bytes(content)
    with suppress(TableError):
        parse(path)
