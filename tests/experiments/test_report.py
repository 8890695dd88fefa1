import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from experiments.report import main

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two judges, known under two names, on the scripted engine."""
    root = tmp_path_factory.mktemp("runs")
    for name, script in (("steady", "first"), ("random", "coin")):
        run = [sys.executable, "-m", "experiments", "engine=scripted", f"engine.script={script}", f"model.name={name}"]
        run += ["data.limit=12", "repeats=2", "temperature=[0,1]", "paradigm=[direct,flask]", f"root={root}"]
        subprocess.run([*run, "bootstrap.replicates=50"], check=True, capture_output=True, cwd=CHECKOUT)
    return root


def test_a_report_covers_all_judges(root, capsys):
    assert main(["experiment=trust", f"root={root}", "replicates=50"]) == 0
    assert "trust: 2 runs" in capsys.readouterr().out
    out = root / "trust" / "report"
    found = pd.read_csv(out / "metrics.csv")
    assert set(found["judge"]) == {"steady", "random"}
    phi = found.query("slice == 'overall' and metric == 'phi' and judge == 'steady'")["value"]
    assert (phi == 1).all()
    assert {p.stem for p in (out / "tables").glob("*.csv")} >= {"trust", "format_range", "temperature", "policies"}
    figures = {p.stem: p for p in (out / "figures").glob("*.svg")}
    assert len(figures) == 4
    assert all(p.with_suffix(".png").exists() and p.stat().st_size > 1000 for p in figures.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["experiment=trst"], "did you mean 'trust'?"),
        (["experiment=judgebench"], "there is no run in"),
        (["experiment=trust", "rot=x"], "did you mean 'root'?"),
        (["experiment=trust", "unreadable=tie"], "trust knows drop, fail"),
        (["experiment=trust", "replicates=many"], "whole number"),
        (["trust"], "KEY=VALUE"),
    ],
)
def test_mistakes_are_named(root, words, said, capsys):
    assert main([f"root={root}", *words]) == 2
    assert said in capsys.readouterr().err


def test_help(capsys):
    assert main(["--help"]) == 0
    assert "experiment=trust" in capsys.readouterr().out
