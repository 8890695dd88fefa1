import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from analysis.latex import document, escaped, tabular
from analysis.symbols import SYMBOLS
from analysis.tables import save_tables


def balanced(text):
    """Whether every brace that LaTeX sees is closed, and none too early."""
    depth = 0
    for brace in re.findall(r"[{}]", re.sub(r"\\.", "", re.sub(r"(?m)^%.*$", "", text), flags=re.S)):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def cells(row):
    return len(re.split(r"(?<!\\)&", row))


def test_intervals_stand_beside_numbers_that_siunitx_aligns():
    table = pd.DataFrame({"judge": ["a", "b"], "T": ["0.500 [0.400, 0.600]", "−0.1 [−0.2, 0.1]"], "n": ["12", "100"]})
    head, first, second = [line for line in tabular(table).splitlines() if line.endswith(r"\\")]
    assert r"{lS[table-format=-1.3]@{\,}lS[table-format=3.0]}" in tabular(table)
    assert head == r"judge & \multicolumn{2}{c}{{$T$}} & {$n$} \\"
    assert first == r"a & 0.500 & [\num{0.400}, \num{0.600}] & 12 \\"
    assert second == r"b & -0.1 & [\num{-0.2}, \num{0.1}] & 100 \\"


def test_what_is_undefined_is_no_number_to_siunitx():
    assert "x & {--} & " in tabular(pd.DataFrame({"judge": ["x", "y"], "A": ["–", "0.5 [0.4, 0.6]"]}))
    assert r"\num{1e-05}" in tabular(pd.DataFrame({"p": ["1e-05", "0.2"]}))


def test_heads_are_the_symbols_of_the_sources():
    head = tabular(pd.DataFrame(columns=["judge", "phi", "T_joint", "type_changing RPAG", "a_b"])).splitlines()[2]
    assert head == r"judge & $\phi$ & $T_{\mathrm{joint}}$ & type\_changing RPAG & a\_b \\"
    assert all(balanced(symbol.tex) and symbol.tex.count("$") % 2 == 0 for symbol in SYMBOLS.values())


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4), st.text(max_size=20))
def test_no_name_breaks_a_table(names, caption):
    made = document(pd.DataFrame({"judge": names, "T": ["0.1 [0.0, 0.2]"] * len(names)}), "t", caption, caption)
    assert balanced(made)
    body = made.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == len(names)
    assert all(row.endswith(r"\\") and cells(row) == 3 for row in body)


def test_hostile_names_are_printed_as_they_are():
    assert escaped(r"\input{/etc/passwd} % $x^2$") == (
        r"\textbackslash{}input\{/etc/passwd\} \% \$x\textasciicircum{}2\$"
    )
    assert escaped("[2cm] *") == "{}[2cm] *"  # After \\ the bracket would be its argument.
    assert escaped("two\nlines\\\\") == r"two lines\textbackslash{}\textbackslash{}"


def test_a_long_table_breaks_over_pages():
    made = document(pd.DataFrame({"item": [f"i{i}" for i in range(60)]}), "by_item", "Items", "A note")
    assert r"\usepackage{longtable}" in made and r"\endhead" in made and r"\begin{table}" not in made
    short = document(pd.DataFrame({"item": ["i"]}), "by_item", "Items", "A note of 95 %")
    assert r"\caption{Items}\label{tab:by_item}" in short and r"A note of 95 \%" in short


def test_one_definition_gives_three_files(tmp_path):
    save_tables({"trust": pd.DataFrame({"judge": ["j"], "T": [0.25]})}, tmp_path, "n: pairs.")
    assert (tmp_path / "tables" / "trust.csv").read_text() == "judge,T\nj,0.25\n"
    assert (
        tmp_path / "tables" / "trust.md"
    ).read_text() == "| judge | T |\n| --- | --- |\n| j | 0.250 |\n\nn: pairs.\n"
    tex = (tmp_path / "tables" / "trust.tex").read_text()
    assert tex.startswith(r"% Needs \usepackage{booktabs} \usepackage{siunitx}") and "n: pairs." in tex
