"""Tables in Parquet, CSV and JSONL files; knows nothing of what their columns mean."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from analysis.columns import TEXT, TableError, encodable
from analysis.spreadsheet import neutralise, restore

T = TypeVar("T")


def load(path: Path, as_text: Collection[str]) -> pd.DataFrame:
    """Reads one file by its suffix.

    Args:
        path: a .parquet, .csv or .jsonl file.
        as_text: columns of a CSV file that are left as text; the types of the others are inferred.

    Raises:
        TableError: the file cannot be read; names it, and the line where that is known.
    """
    readers: dict[str, Callable[[], pd.DataFrame]] = {
        ".parquet": lambda: _parquet(path),
        ".csv": lambda: _csv(path, as_text),
        ".jsonl": lambda: _jsonl(path),
    }
    try:
        return _by_suffix(path, readers)()
    except TableError:
        raise
    except (OSError, ValueError) as e:
        raise TableError(f"{path} cannot be read: {e}") from e


def save(table: pd.DataFrame, path: Path, *, mark: bool = False) -> None:
    """Writes one file by its suffix: .parquet, .csv (safe to open in a spreadsheet) or .jsonl.

    Args:
        table: what to write.
        path: where to.
        mark: begin a CSV file with a byte-order mark, without which some spreadsheets garble letters beyond ASCII.
    """
    writers: dict[str, Callable[[], object]] = {
        ".parquet": lambda: table.to_parquet(path, index=False),
        ".csv": lambda: _to_csv(neutralise(table), path, "utf-8-sig" if mark else "utf-8"),
        ".jsonl": lambda: table.to_json(path, orient="records", lines=True, force_ascii=False, double_precision=15),
    }
    action = _by_suffix(path, writers)
    path.parent.mkdir(parents=True, exist_ok=True)
    action()


def _to_csv(table: pd.DataFrame, path: Path, encoding: str) -> None:
    # Python's csv module leaves a bare carriage return unquoted, and readers take it for the end of a row.
    returns = any(table[c].astype(str).str.contains("\r").any() for c in table.select_dtypes(["object", "string"]))
    table.to_csv(path, index=False, encoding=encoding, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)


def _parquet(path: Path) -> pd.DataFrame:
    from pyarrow.parquet import ParquetFile

    # On one thread: Arrow's pools now and then abort a process that ends soon after a read (apache/arrow#34314).
    with ParquetFile(path) as file:
        table: pd.DataFrame = file.read(use_threads=False).to_pandas(use_threads=False)
    return table


def _csv(path: Path, as_text: Collection[str]) -> pd.DataFrame:
    cells = pd.read_csv(path, dtype=TEXT, keep_default_na=False, encoding="utf-8-sig")
    restored = {str(name): restore(cells[name]) for name in cells}
    return pd.DataFrame({name: c if name in as_text else _inferred(c) for name, c in restored.items()})


def _inferred(text: pd.Series[Any]) -> pd.Series[Any]:
    if len(text) and text.isin(["True", "False"]).all():
        return text == "True"
    plain = text.str.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
    return pd.to_numeric(text) if len(text) and plain.all() else text


def _jsonl(path: Path) -> pd.DataFrame:
    records = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                records.append({name: encodable(value) for name, value in json.loads(line).items()})
            except (ValueError, AttributeError) as e:
                raise TableError(f"{path} line {number} is not a JSON object ({e}); was the file cut short?") from e
    return pd.DataFrame(records)


def _by_suffix(path: Path, actions: dict[str, Callable[[], T]]) -> Callable[[], T]:
    if path.suffix not in actions:
        raise TableError(f"{path}: a table's file name ends in {', '.join(actions)}")
    return actions[path.suffix]
