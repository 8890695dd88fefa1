import numpy as np
import pandas as pd

from analysis.cells import TIDY
from analysis.columns import TableError
from analysis.latex import tabular
from analysis.reliability import trust
from analysis.tables import attempt, by_slice, markdown, plain, save_tables, wide


def metrics(rows, judge="j"):
    low = rows({"p": ("A", "BBA", "AAA"), "q": ("A", "AA", "AA")})
    high = rows({"p": ("A", "AA", "AA"), "q": ("A", "A", "A")})
    table = pd.concat([low.assign(format="x"), high.assign(format="y")]).assign(judge=judge)
    return trust(table.assign(source=table["item"]), rng=np.random.default_rng(0))


def test_a_cell_a_row_with_what_differs_between_rows(rows):
    table = wide(metrics(rows), ["phi", "A", "A_dec", "q"], n_of="phi")
    assert list(table) == ["judge", "dataset", "format", "phi", "A", "A_dec", "q", "n", "unreadable"]
    cells = ["0.500 [0.000, 1.000]", "0.750 [0.500, 1.000]", "1.000 [1.000, 1.000]", "0.500 [0.500, 0.500]"]
    assert table.iloc[0].tolist() == ["j", "d", "x", *cells, 2, "0.000"]
    assert table.loc[1, "q"] == "–"


def test_a_negative_value_starts_no_formula(rows):
    shown = wide(metrics(rows), ["gap"], n_of="gap")
    assert metrics(rows).query("metric == 'gap'")["value"].iloc[0] < 0
    assert shown["gap"].iloc[0].startswith("−")


def test_slices_as_columns(rows):
    table = by_slice(metrics(rows), "A")
    assert list(table) == ["judge", "dataset", "format", "overall", "p", "q", "n", "unreadable"]
    assert table[["p", "q"]].iloc[0].tolist() == ["0.500", "1.000"]


def test_hostile_names_stay_text(rows):
    table = wide(metrics(rows, judge="a|b & 50%\n_{x}"), ["A"], n_of="A")
    assert r"| a\|b & 50% _{x} |" in markdown(table)
    assert r"a\textbar{}b \& 50\% \_\{x\} & d &" in tabular(table)


def test_latex_is_a_booktabs_tabular():
    assert tabular(pd.DataFrame({"judge": ["j"], "T": ["−0.1"]})) == (
        "\\begin{tabular}{lS[table-format=-1.1]}\n\\toprule\njudge & {$T$} \\\\\n\\midrule\nj & -0.1 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


def test_tidy_metrics_have_one_number_a_row(rows):
    found = metrics(rows)
    assert tuple(found) == TIDY
    assert not found.duplicated(["judge", "format", "slice", "metric"]).any()


def test_a_row_a_slice_and_metrics_without_their_interval(rows):
    table = wide(metrics(rows), ["A", "phi"], n_of="A", part="*", bare=["phi"])
    assert table[["format", "slice"]].to_numpy().tolist() == [["x", "p"], ["x", "q"], ["y", "p"], ["y", "q"]]
    assert table["phi"].tolist() == ["1.000", "0.000", "0.000", "0.000"]
    whole = wide(metrics(rows), ["A", "phi"], n_of="A", bare=["phi"])
    assert whole["phi"].tolist() == ["0.500", "0.000"]
    assert whole["A"].iloc[0] == "0.750 [0.500, 1.000]"


def test_numbers_are_shown_short_and_kept_in_full(tmp_path):
    table = pd.DataFrame({"p": [0.12345, 3.2e-9, -0.00001, np.nan], "n": [12.0, 2, 0, 1], "note": ["a", "", "b", "c"]})
    shown = plain(table)
    assert shown["p"].tolist() == ["0.123", "3.2e-09", "−1e-05", "–"]
    assert shown["n"].tolist() == ["12", "2", "0", "1"]
    save_tables({"t": table}, tmp_path)
    assert pd.read_csv(tmp_path / "tables" / "t.csv")["p"].tolist()[:3] == [0.12345, 3.2e-9, -0.00001]
    assert "| 0.123 | 12 | a |" in (tmp_path / "tables" / "t.md").read_text(encoding="utf-8")


def test_a_table_that_cannot_be_made_leaves_its_reason():
    def impossible():
        raise TableError("needs two judges")

    made, absent = attempt({"one": lambda: pd.DataFrame({"a": [1]}), "other": impossible})
    assert list(made) == ["one"]
    assert absent == {"other": "needs two judges"}
