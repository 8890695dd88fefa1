import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import UNREADABLE, main
from analysis.columns import TableError
from analysis.paradigms import paradigms
from analysis.reliability import trust
from analysis.studies import STUDIES, Options, find
from analysis.verdicts import check, write


def findings(study, *tables, **options):
    chosen = STUDIES[study]
    return find(chosen, pd.concat(tables), Options(chosen.rules[0], **({"replicates": 0} | options)))


def audit(rows, judge="j", share=0.8, n=12, **columns):
    rng = np.random.default_rng(len(judge))

    def say(gold):
        return "".join(rng.choice([gold, "BA"["AB".index(gold)]], 3, p=[share, 1 - share]))

    return rows({f"p{i}": (g, say(g), say(g)) for i, g in enumerate("AB" * (n // 2))}, judge=judge, **columns)


def test_the_command_offers_the_rules_that_the_studies_know():
    assert {name: choices for name, (choices, _) in UNREADABLE.items()} == {n: s.rules for n, s in STUDIES.items()}


def test_metrics_under_every_rule_between_worst_and_best(rows):
    """One of four verdicts unreadable, in a pair decided by the others: A is 1 unless a failure counts against it."""
    found = findings("trust", rows({"p": ("A", "AA?", "AAA"), "q": ("A", "AAA", "AAA")})).tables["policies"]
    assert list(found) == ["judge", "dataset", "metric", "drop", "fail", "worst", "best", "unreadable"]
    assert found.set_index("metric").loc["A"].tolist() == ["j", "d", "1.000", "0.750", "1.000", "1.000", "0.083"]
    assert found.set_index("metric").loc["T", ["drop", "worst"]].tolist() == ["1.000", "0.750"]


def test_single_orders_have_their_bounds_too(rows):
    table = rows({"p": ("A", "A", "="), "q": ("A", "A", "B"), "r": ("A", "?", "A"), "s": ("A", "=", "=")})
    found = findings("judgebench", table).tables["policies"].set_index("metric")
    assert found.loc["accuracy", ["tie", "wrong", "drop", "worst", "best"]].tolist() == [
        *("0.500", "0.250", "0.333", "0.250", "0.500")
    ]
    assert found.loc["accuracy_AB", ["tie", "worst", "best"]].tolist() == ["0.500", "0.500", "0.750"]


def test_every_rule_is_resampled_alike(rows):
    found = findings("trust", audit(rows), replicates=300).tables["policies"]
    assert (found["drop"] == found["fail"]).all()
    assert found["drop"].str.contains(r"\[").all()


def test_the_main_table_of_judgebench_fits_a_console(rows):
    found = findings("judgebench", audit(rows, "llama-3.3-70b-instruct").query("repeat == 0"), replicates=300)
    name, main_table = next(iter(found.tables.items()))
    assert name == "orders"
    assert {"accuracy", "accuracy_AB", "accuracy_BA", "inconsistent", "ties", "first_position"} < set(main_table)
    assert max(map(len, main_table.to_string(index=False).splitlines())) <= 140


def test_gaps_sources_and_items_have_tables(rows):
    table = audit(rows).assign(source=lambda t: np.where(t["item"] < "p5", "x", "y"))
    found = findings("trust", table).tables
    assert list(found["gap"]) == ["judge", "dataset", "T", "T_joint", "T_joint_pair", "gap", "n", "unreadable"]
    assert found["trust_by_source"]["slice"].tolist() == ["x", "y"]
    items = found["trust_by_item"]
    assert len(items) == 12
    assert items["T_joint"].is_monotonic_increasing


def test_one_item_over_two_cells_by_hand(rows):
    table = [rows({"p": ("A", "AA", v)}, format=f) for f, v in (("x", "AA"), ("y", "AB"))]
    found = findings("trust", *table).tables["trust_by_item"].iloc[0]
    assert found[["cells", "C", "phi", "A", "T_joint"]].tolist() == [2, 3 / 4, 0, 1, 3 / 4]


def methods(rows):
    direct = rows({"p": ("A", "AA", "AA"), "q": ("A", "AA", "BB")}, method="pairwise", format="direct")
    other = rows({"p": ("A", "AA", "AA"), "q": ("A", "BB", "BB")}, method="pairwise", format="cot_xml")
    vote = rows({"p": ("A", "AA", "=="), "q": ("A", "==", "BB")}, method="flask", format="criteria")
    scores = rows({"p": ("A", "AA", "AA"), "q": ("A", "AA", "AA")}, method="geval", format="scores")
    return direct, other, vote, scores


def test_paradigms_side_by_side_by_hand(rows):
    found = findings("trust", *methods(rows)).tables["paradigms"]
    assert found["method"].tolist() == ["pairwise", "flask", "geval"]
    assert found["T"].tolist() == ["0.500", "0.000", "1.000"]
    assert found["T - direct"].tolist() == ["–", "−0.500", "0.500"]


def test_ties_between_criteria_take_the_general_form(rows):
    """Of flask's 4 majority verdicts one is right, and both pairs flip: A = q = 1/4, so T = C (A - phi q) = 0."""
    found = findings("trust", *methods(rows)).metrics.query("method == 'flask'").set_index("metric")
    assert found["value"][["A", "q", "T", "A-phi/2"]].tolist() == [0.25, 0.25, 0, 0]
    assert "phi q" in found.loc["T", "note"]
    assert "no bound on A" in found.loc["bound", "note"]
    assert "method" in findings("trust", *methods(rows)).tables["trust"]


def test_one_method_alone_has_no_paradigms(rows):
    found = findings("trust", methods(rows)[0])
    assert "the table's are: pairwise" in found.absent["paradigms"]
    assert "two temperatures" in found.absent["temperature"]
    with pytest.raises(TableError, match="two methods or more; the table's are: flask"):
        paradigms(trust(methods(rows)[2], rng=np.random.default_rng(0), replicates=0))


@pytest.fixture
def verdicts(rows, tmp_path):
    parts = [
        audit(rows, judge, share, dataset=d, format=f, temperature=0.0)
        for judge, share in (("good", 0.95), ("fair", 0.7))
        for d in ("x", "y")
        for f in ("direct", "vf_json")
    ]
    write(check(pd.concat(parts)), tmp_path / "v.parquet")
    return tmp_path / "v.parquet"


def test_where_trust_varies_from_by_command(verdicts, tmp_path, capsys):
    assert main(["variance", str(verdicts), "--out", str(tmp_path)]) == 0
    made = {p.stem for p in (tmp_path / "tables").glob("*.csv")}
    assert made == {"anova", "g_study", "g_study_correct", "d_study"}
    eta2 = pd.read_csv(tmp_path / "tables" / "anova.csv").set_index("term")["eta2"]
    assert eta2["judge"] == eta2.drop("total").max() > 0.5
    assert "residual" in capsys.readouterr().out


def test_judges_are_compared_by_command(verdicts, tmp_path, capsys):
    for metric in ("accuracy", "T"):
        out = tmp_path / metric
        assert main(["compare", str(verdicts), "--metric", metric, "--out", str(out), "--planned", "400"]) == 0
        found = pd.read_csv(out / "tables" / "compare.csv")
        assert found[["judge_1", "judge_2"]].drop_duplicates().to_numpy().tolist() == [["fair", "good"]]
        assert (found["difference"] < 0).all()
    assert main(["compare", str(verdicts), "--metric", "zeta", "--out", str(tmp_path)]) == 2
    assert "no metric 'zeta'; choose C, phi, A" in capsys.readouterr().err


def test_a_rule_of_another_study_is_refused(verdicts, tmp_path, capsys):
    assert main(["compare", str(verdicts), "--metric", "T", "--unreadable", "tie", "--out", str(tmp_path)]) == 2
    assert "choose drop or fail" in capsys.readouterr().err


def test_figures_are_drawn_if_asked_for(verdicts, tmp_path):
    assert main(["trust", str(verdicts), "--out", str(tmp_path), "--figures", "--replicates", "0"]) == 0
    drawn = {p.name for p in (tmp_path / "figures").iterdir()}
    assert drawn == {f"{name}.{kind}" for name in STUDIES["trust"].figures for kind in ("svg", "png")}


def test_an_incomplete_design_is_one_line_and_exit_2(rows, tmp_path, capsys):
    write(check(audit(rows)), tmp_path / "v.parquet")
    assert main(["variance", str(tmp_path / "v.parquet"), "--out", str(tmp_path)]) == 0
    err = capsys.readouterr().err
    assert "no table anova: an analysis of the variance of T needs two facets" in err
    write(check(audit(rows).query("order == 'AB'")), tmp_path / "v.parquet")
    assert main(["variance", str(tmp_path / "v.parquet"), "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "T is undefined in 1 cells, j d" in err
    assert "12 of 24 cells of pair x order are missing: pair p0, order BA;" in err
