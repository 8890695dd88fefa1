import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from analysis.__main__ import main
from analysis.reliability import trust
from analysis.verdicts import check, write


@pytest.fixture
def verdicts(rows, tmp_path):
    table = rows({"p": ("A", "AB", "AA"), "q": ("B", "BB", "A?"), "r": ("A", "AA", "AA")}, judge="=judge")
    write(check(table), tmp_path / "verdicts.parquet")
    return tmp_path / "verdicts.parquet"


def test_writes_the_numbers_that_the_library_gives(verdicts, tmp_path, capsys):
    assert main(["trust", str(verdicts), "--out", str(tmp_path / "out"), "--replicates", "500", "--seed", "3"]) == 0
    written = pd.read_csv(tmp_path / "out" / "metrics.csv")
    expected = trust(pd.read_parquet(verdicts), rng=np.random.default_rng(3), replicates=500)
    numbers = ["value", "ci_low", "ci_high", "n", "share_unreadable"]
    pd.testing.assert_frame_equal(written[numbers], expected[numbers], check_exact=True)
    assert written["judge"].unique().tolist() == ["'=judge"]
    tables = {p.name for p in (tmp_path / "out" / "tables").iterdir()}
    made = ("trust", "format_range", "gap", "trust_by_source", "trust_by_item", "policies")
    assert tables == {f"{t}.{s}" for t in made for s in ("csv", "md", "tex")}
    assert len(pd.read_csv(tmp_path / "out" / "items.csv")) == 3
    assert "T_joint" in capsys.readouterr().out


def test_each_rule_for_unreadable_verdicts_is_its_own(verdicts, tmp_path, capsys):
    for rule in ("tie", "wrong", "drop"):
        assert main(["judgebench", str(verdicts), "--out", str(tmp_path), "--unreadable", rule]) == 0
    with pytest.raises(SystemExit, match="2"):
        main(["judgebench", str(verdicts), "--out", str(tmp_path), "--unreadable", "fail"])
    assert "choose from" in capsys.readouterr().err


def test_a_faulty_table_is_one_line_and_exit_2(verdicts, tmp_path, capsys):
    pd.read_parquet(verdicts).drop(columns="winner").to_csv(tmp_path / "v.csv", index=False)
    assert main(["trust", str(tmp_path / "v.csv"), "--out", str(tmp_path)]) == 2
    assert main(["trust", str(tmp_path / "none.csv"), "--out", str(tmp_path)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "no column 'winner'" in first
    assert "none.csv" in second


def test_help_loads_no_library():
    loaded = "import sys, analysis.__main__; print([m for m in ('numpy', 'pandas', 'scipy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout == "[]\n"


def test_metrics_need_no_model_library(verdicts, tmp_path):
    code = (
        "import sys; from analysis.__main__ import main; main(sys.argv[1:]);"
        "assert not {'torch', 'vllm', 'hydra', 'judges', 'scipy'} & set(sys.modules)"
    )
    command = [sys.executable, "-c", code, "trust", str(verdicts), "--out", str(tmp_path), "--replicates", "9"]
    assert subprocess.run(command, capture_output=True).returncode == 0
