import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from analysis import verdicts
from experiments.imports.__main__ import main

SHARED = Path(__file__).parents[3].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared():
    """The folder of real data; tests that read it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is absent")
    return SHARED


def _write(path, *records):
    text = "".join(json.dumps(r) + "\n" for r in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.fixture(scope="session")
def write():
    return _write


class Imported:
    """What one run of the command left: its tables."""

    def __init__(self, out):
        self.table = verdicts.read([out])
        self.listed = pd.read_csv(f"{out}.disagreements.csv", keep_default_na=False)

    def cells(self, *columns):
        """The cells of some columns, null as None, one tuple a row."""
        rows = self.table[list(columns)].astype(object)
        return [tuple(row) for row in rows.where(rows.notna(), None).itertuples(index=False)]


@pytest.fixture(scope="session")
def imports(tmp_path_factory):
    """Runs the command on files, which must succeed, and reads what it wrote."""

    def run(name, *files, options=()):
        out = tmp_path_factory.mktemp("imports") / "verdicts.parquet"
        assert main([name, *map(str, files), "--out", str(out), *map(str, options)]) == 0
        return Imported(out)

    return run


@pytest.fixture
def refused(tmp_path, capsys):
    """Runs the command on files, which must fail, and returns what it said."""

    def run(name, *files, options=()):
        assert main([name, *map(str, files), "--out", str(tmp_path / "x.parquet"), *map(str, options)]) == 2
        assert not (tmp_path / "x.parquet").exists()
        return capsys.readouterr().err

    return run
