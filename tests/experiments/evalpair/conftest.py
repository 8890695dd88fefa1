"""Runs evalpair in this process, on scripts that are named or given as functions."""

import pytest

from experiments.__main__ import main
from judges.engines import scripted

SCRIPTED = ["perturbers=[scripted]", "generators=[scripted]", "judges=[scripted]", "labeller=scripted"]


@pytest.fixture
def evalpair(tmp_path, monkeypatch, capsys):
    """`evalpair("data.limit=4", cast=[...])` gives the run folder; with `fails`, what was wrong; `said` after it."""

    def run(*words, cast=SCRIPTED, fails=False):
        command = ["x", "experiment=evalpair", f"root={tmp_path}", "bootstrap.replicates=50", *cast, *words]
        monkeypatch.setattr("sys.argv", command)
        monkeypatch.setattr("experiments.__main__.FAILED", [])
        status = main()
        run.said = capsys.readouterr().err
        assert (status == 2) == fails, run.said
        return run.said if fails else tmp_path / "evalpair" / "grounded_demo" / "matrix"

    return run


@pytest.fixture
def script(monkeypatch):
    """`script("odd", function)` makes `scripted:odd` answer by a function of the request."""

    def known(name, function):
        monkeypatch.setitem(scripted.SCRIPTS, name, function)
        return f"scripted:{name}"

    return known
