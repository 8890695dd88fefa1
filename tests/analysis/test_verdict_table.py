import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analysis.columns import TableError
from analysis.verdicts import COLUMNS, NAMES, check, read, write

REQUIRED = ["study", "judge", "dataset", "item", "gold", "order", "winner", "outcome"]


@pytest.fixture
def table(rows):
    return rows({"p": ("A", "A", "B"), "q": ("B", "?", "=")})


def test_every_column_is_documented_and_absent_ones_are_neutral(table):
    checked = check(table)
    assert list(checked) == list(NAMES)
    assert all(c.meaning for c in COLUMNS)
    assert [c.name for c in COLUMNS if c.required] == REQUIRED
    first = checked.iloc[0]
    assert (first["source"], first["method"], first["format"], first["requests"]) == ("", "", "", "")
    assert not first["constrained"]
    assert pd.isna(first["temperature"])
    assert pd.isna(first["prompt_tokens"])


def test_a_column_twice_is_named(table):
    with pytest.raises(TableError, match="two columns 'judge'"):
        check(pd.concat([table, table[["judge"]]], axis=1))


def test_extra_columns_ride_along(table):
    assert check(table.assign(repaired=True))["repaired"].tolist() == [True] * 4


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_column_is_named(table, name):
    with pytest.raises(TableError, match=f"no column '{name}'"):
        check(table.drop(columns=name))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("outcome", "fine", r"'outcome' must be one of ok, tie, .*row 1: 'fine'"),
        ("order", "BB", r"'order' must be one of AB, BA; row 1: 'BB'"),
        ("winner", "C", r"'winner' must be one of A, B, tie; row 1: 'C'"),
        ("item", 7, r"'item' must be text .*row 1: 7"),
        ("judge", "", r"'judge' is empty in row 1"),
        ("repeat", 1.5, r"'repeat' must be a whole number, 0 or more; row 1: 1.5"),
        ("temperature", "warm", r"'temperature' must be a number; row 1: 'warm'"),
        ("p_first", 1.2, r"'p_first' must lie between 0 and 1; row 1: 1.2"),
        ("constrained", "maybe", r"'constrained' must be true or false; row 1: 'maybe'"),
    ],
)
def test_an_ill_typed_cell_is_named(table, column, value, message):
    cells = [*table.get(column, pd.Series([None] * 4)).astype(object)]
    cells[1] = value
    with pytest.raises(TableError, match=message):
        check(table.assign(**{column: pd.Series(cells, dtype=object)}))


@pytest.mark.parametrize(
    ("winner", "outcome", "message"),
    [
        ("A", "unreadable", "although 'outcome' says that there is none: row 0"),
        (None, "ok", "is null although 'outcome' is ok"),
        ("tie", "ok", "is 'tie' although 'outcome' is ok"),
        ("A", "tie", "is not 'tie' although 'outcome' is tie"),
        (None, "tie", "is not 'tie' although 'outcome' is tie"),
    ],
)
def test_winner_and_outcome_must_agree(table, winner, outcome, message):
    table = table.astype({"winner": object})
    table.loc[0, ["winner", "outcome"]] = [winner, outcome]
    with pytest.raises(TableError, match=message):
        check(table)


def test_a_graded_row_needs_no_winner(table):
    graded = table.assign(winner=None, outcome="ok", grade="CORRECT")
    assert check(graded)["winner"].isna().all()


def test_the_same_trial_twice_is_refused_with_all_its_rows(table):
    with pytest.raises(TableError, match=r"1 rows repeat an earlier trial; rows 0, 4 are all .*item p.*order AB"):
        check(pd.concat([table, table.iloc[[0]]], ignore_index=True))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_written_table_reads_back_as_it_was(table, tmp_path, suffix):
    checked = check(
        table.assign(
            judge="@judge",
            extracted=["=1+1", "'=1", None, '-x, "y"\nz'],
            score_a=[0.1 + 0.2, -1.0, np.nan, 1e-12],
            prompt_tokens=[1, None, 3, 4],
            repaired=[True, False, True, False],
            temperature=0.5,
        )
    )
    write(checked, tmp_path / f"v.{suffix}")
    pd.testing.assert_frame_equal(read([tmp_path / f"v.{suffix}"]), checked)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
@example(["a\rb", "\r", "''=", "a\x00b"])
def test_csv_cells_come_back_and_never_start_a_formula(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("csv") / "v.csv"
    table = check(
        pd.DataFrame({"study": "s", "judge": "j", "dataset": "d", "gold": None, "order": "AB", "outcome": "ok"} | {
            "item": [str(i) for i in range(len(texts))], "winner": "A", "extracted": texts})
    )  # fmt: skip
    write(table, path)
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)["extracted"]
    assert not cells.str.match(r"[=+\-@\t\r]").any()
    pd.testing.assert_frame_equal(read([path]), table)


def test_a_spreadsheet_s_byte_order_mark_is_no_part_of_the_first_column(table, tmp_path):
    table.to_csv(tmp_path / "v.csv", index=False, encoding="utf-8-sig")
    assert len(read([tmp_path / "v.csv"])) == 4


def test_files_are_joined_and_rows_are_named_by_file(table, tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    write(table, first)
    write(table.assign(judge="other"), second)
    assert len(read([first, second])) == 8
    write(table.iloc[[1, 0]], second)
    with pytest.raises(TableError, match=r"rows 2 of .*a\.csv, 1 of .*b\.csv are all"):
        read([first, second])


def test_a_broken_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "v.jsonl"
    path.write_text(json.dumps({"study": "s"}) + '\n{"study": "s', encoding="utf-8")
    with pytest.raises(TableError, match=r"v\.jsonl line 2 is not a JSON object"):
        read([path])
    (tmp_path / "v.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(TableError, match=r"v\.parquet cannot be read"):
        read([tmp_path / "v.parquet"])
    with pytest.raises(TableError, match=r"ends in \.parquet, \.csv, \.jsonl"):
        read([tmp_path / "v.txt"])


def test_a_lone_surrogate_is_replaced_not_fatal(table, tmp_path):
    checked = check(table.assign(extracted=pd.Series(["a\ud800"] * 4, dtype=object)))
    assert checked["extracted"].tolist() == ["a?"] * 4
    record = table.iloc[0].to_dict() | {"extracted": "a\ud800", "note": "\udfff"}
    (tmp_path / "v.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert read([tmp_path / "v.jsonl"])[["extracted", "note"]].iloc[0].tolist() == ["a?", "?"]
