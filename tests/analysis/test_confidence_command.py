from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from analysis import confidence_figures as figures
from analysis.__main__ import main
from analysis.confidence_study import CONFIDENCE
from analysis.drawing import save
from analysis.serving import serving
from analysis.studies import STUDIES
from analysis.study import Options, find
from analysis.verdicts import check, read, write


def audit(n=60, seed=0, **columns):
    """Two sampled repeats in both orders of a judge whose log-probabilities tell the truth."""
    rng = np.random.default_rng(seed)
    i, o, k = np.indices((n, 2, 2)).reshape(3, -1)
    p, gold = rng.uniform(0.02, 0.98, n), rng.random(n)
    table = pd.DataFrame({"item": [f"i{x}" for x in i], "order": np.array(["AB", "BA"])[o], "repeat": k})
    table = table.assign(study="confidence", judge="=j", dataset="d", format="direct", temperature=1.0, p_first=p[i])
    return table.assign(
        gold=np.where(gold < p, "A", "B")[i],
        winner=np.where(rng.random(len(i)) < p[i], "A", "B"),
        outcome="ok",
        label_mass=0.6,
        requests=[f"k{x}" for x in range(len(i))],
        prompt_tokens=100,
        completion_tokens=1,
        **columns,
    )


@pytest.fixture
def verdicts(tmp_path):
    write(check(audit()), tmp_path / "v.parquet")
    return str(tmp_path / "v.parquet")


def run(*words):
    return main([str(word) for word in words])


def test_confidence_writes_tables_figures_threshold_and_export(verdicts, tmp_path, capsys):
    out, export = tmp_path / "out", tmp_path / "kept.csv"
    given = ["--target-risk", 0.4, "--export", export, "--figures", "--at", "0.7,10", "--replicates", 50]
    assert run("confidence", verdicts, *given, "--out", out) == 0
    made = {p.stem for p in (out / "tables").glob("*.csv")}
    assert made == {"abstention", *CONFIDENCE.tables, "signals"}
    assert {p.name for p in (out / "figures").glob("*.svg")} == {f"{name}.svg" for name in CONFIDENCE.figures}
    expected = pd.read_csv(out / "tables" / "expected.csv")
    assert set(expected["temperature"]) == {1.0, 0.7}
    kept = read([export])
    assert len(kept) == 240
    assert set(kept["decision"]) <= {"keep", "abstain"}
    assert kept["judge"].unique() == ["=j"]
    shown = capsys.readouterr()
    assert "coverage" in shown.out
    assert "With probability 0.9" in shown.out and "no more than 0.4 of the verdicts" in shown.out
    assert "stated: needs the column 'confidence'" in shown.err


def test_the_study_is_what_reports_find(verdicts):
    found = find(STUDIES["confidence"], read([verdicts]), Options("drop", replicates=50))
    assert list(found.tables) == [*CONFIDENCE.tables, "signals"]
    assert found.tables["confidence"]["signal"].tolist() == ["margin", "orders", "p", "p_mean", "repeats"]
    assert set(found.metrics["slice"]) >= {"p", "expected", "sampled"}
    assert found.absent == {}


def test_without_log_probabilities_the_other_signals_are_measured(verdicts, tmp_path, capsys):
    write(check(audit().assign(p_first=None)), tmp_path / "bare.parquet")
    assert run("confidence", tmp_path / "bare.parquet", "--replicates", 0, "--out", tmp_path) == 0
    shown = capsys.readouterr()
    assert "repeats" in shown.out
    assert "signal p: needs log-probabilities; python -m experiments experiment=confidence" in shown.err
    assert "no table expected" in shown.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--export", "x.csv"], "--export needs --target-risk"),
        (["--target-risk", "1.2"], "target risk 1.2: give a share"),
        (["--target-risk", "0.1", "--signal", "stated"], "stated needs the column"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(verdicts, tmp_path, capsys, words, message):
    assert run("confidence", verdicts, *words, "--replicates", 0, "--out", tmp_path) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error


def test_few_verdicts_have_no_threshold(tmp_path, capsys):
    write(check(audit(30)), tmp_path / "few.parquet")
    given = ["--target-risk", 0.2, "--replicates", 0, "--out", tmp_path]
    assert run("confidence", tmp_path / "few.parquet", *given) == 2
    assert "fewer than 20 to calibrate on" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0.7", "a,3", "0.7,0", "0.7,201", "-1,5", "nan,5"])
def test_a_setting_is_a_temperature_and_repeats(verdicts, tmp_path, capsys, text):
    with pytest.raises(SystemExit, match="2"):
        run("confidence", verdicts, f"--at={text}", "--out", tmp_path)
    assert "is not a temperature and 1 to 200 repeats" in capsys.readouterr().err


def test_correct_prints_every_estimator(verdicts, tmp_path, capsys):
    pd.DataFrame({"item": [f"i{i}" for i in range(20)], "gold": ["A", "B"] * 10}).to_json(
        tmp_path / "gold.jsonl", orient="records", lines=True
    )
    assert run("correct", verdicts, "--labels", tmp_path / "gold.jsonl", "--out", tmp_path / "out") == 0
    assert pd.read_csv(tmp_path / "out" / "tables" / "correct.csv")["estimator"].tolist() == [
        "judge", "labels", "rogan_gladen", "ppi++",
    ]  # fmt: skip
    assert "winner = A" in capsys.readouterr().out
    pd.DataFrame({"item": ["i0", "i0"], "gold": "A"}).to_csv(tmp_path / "twice.csv", index=False)
    assert run("correct", verdicts, "--labels", tmp_path / "twice.csv", "--out", tmp_path / "out") == 2
    assert "two gold labels: rows 1 of " in capsys.readouterr().err


def served():
    table = audit(10).query("repeat == 0").drop(columns=["repeat", "gold"]).assign(tokens=5, text_sha="x")
    batch = table.assign(condition="batch_8", differing_tokens=1, first_difference=2, winner="A", text_sha="y")
    return pd.concat([table.assign(condition="alone"), batch, batch.assign(condition="batch_32")], ignore_index=True)


def test_serving_prints_conditions_and_splits_1_minus_c(verdicts, tmp_path, capsys):
    served().to_parquet(tmp_path / "serving.parquet")
    words = ["serving", tmp_path / "serving.parquet", "--replicates", 50, "--figures", "--out", tmp_path / "out"]
    assert run(*words, "--sampled", verdicts) == 0
    assert (tmp_path / "out" / "figures" / "serving_noise.svg").exists()
    parts = pd.read_csv(tmp_path / "out" / "tables" / "decomposition.csv").set_index("part")["value"]
    assert parts["1-C"] == pytest.approx(parts["sampling"] + parts["serving"])
    assert run(*words) == 0
    assert "name the verdicts of an audit" in capsys.readouterr().err


ALL = {**CONFIDENCE.figures, "serving_noise": figures.serving_noise}


@pytest.fixture(scope="module")
def metrics():
    tables = [audit().assign(judge=judge) for judge in ("one", "two_$x$", "<b>")]
    found = CONFIDENCE.metrics(pd.concat(tables, ignore_index=True), rng=np.random.default_rng(0), replicates=20)
    noise = serving(served(), rng=np.random.default_rng(0), replicates=0)
    return dict.fromkeys(CONFIDENCE.figures, found) | {"serving_noise": noise}


@pytest.mark.parametrize("figure", ALL)
def test_figures_name_what_they_show_and_are_the_same_twice(metrics, figure, tmp_path):
    metrics = metrics[figure]
    first, second = (save(ALL[figure](metrics), tmp_path / n) for n in ("one", "two"))
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    texts = [t.text for t in ElementTree.parse(first[0]).iter("{http://www.w3.org/2000/svg}text")]
    shown = {"expected_against_sampled": "T_joint", "serving_noise": "batch_32", "signals": "<b>"}
    assert shown.get(figure, "two_$x$") in texts


@pytest.mark.parametrize("figure", ALL)
def test_where_there_is_nothing_to_show_a_figure_says_so(figure, tmp_path):
    metrics = CONFIDENCE.metrics(audit().assign(p_first=None, gold=None), rng=np.random.default_rng(0), replicates=0)
    for nothing in (metrics, metrics.iloc[:0]):
        svg, _ = save(ALL[figure](nothing), tmp_path / "figure")
        assert "Nothing to show" in svg.read_text()


def test_batches_stand_in_order_of_their_size():
    metrics = serving(served(), rng=np.random.default_rng(0), replicates=0)
    labels = [t.get_text() for t in figures.serving_noise(metrics).axes[0].get_yticklabels()]
    assert labels == ["batch_8", "batch_32", "any"]
