"""Reads data files, plain or gzipped, and names the file and line of whatever is wrong with them."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from pathlib import Path
from typing import Any

from judges.data.fields import Record, kind
from judges.data.intake import Source
from judges.records import UserError


def read_lines(path: Path, origin: str = "") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads JSONL: one object a line; blank lines are skipped.

    Returns:
        The file's provenance, and each record with its place, `FILE:LINE`.

    Raises:
        UserError: names the file and the line that is cut, not UTF-8, not JSON, or not an object.
    """
    content = _content(path)
    lines = [(n, line) for n, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    return _source(path, content, origin), [
        (f"{path}:{n}", _object(_parse(line, path, n), f"{path}:{n}")) for n, line in lines
    ]


def read_list(path: Path, origin: str = "") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads a JSON list of objects, each with its place, `FILE[INDEX]`; provenance and errors as in `read_lines`."""
    content = _content(path)
    found = _parse(content, path, 1)
    if not isinstance(found, list):
        raise UserError(f"{path}: expected a JSON list of instances, found {kind(found)}.")
    return _source(path, content, origin), [
        (f"{path}[{i}]", _object(entry, f"{path}[{i}]")) for i, entry in enumerate(found)
    ]


def read_object(path: Path, origin: str = "") -> tuple[Source, Record]:
    """Reads a file that is a single JSON object; provenance and errors as in `read_lines`."""
    content = _content(path)
    return _source(path, content, origin), _object(_parse(content, path, 1), str(path))


def read_table(path: Path, origin: str = "", header: str = "question") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads CSV, or TSV if the name says so: one record a row, all values text; quoted fields may hold line breaks.

    Args:
        path: UTF-8, with or without a byte-order mark.
        origin: as in `Source`.
        header: a column that the first row of names must have; rows above it (a spreadsheet's notes) are skipped.

    Returns:
        The file's provenance, and each record with the place where it begins, `FILE:LINE`.

    Raises:
        UserError: names the file and the line of what is not UTF-8, not CSV, or has too many or too few fields.
    """
    content = _content(path)
    rows = csv.reader(
        io.StringIO(_text(content, path, 1), newline=""),
        delimiter="\t" if ".tsv" in path.suffixes else ",",
        strict=True,
    )
    names: list[str] = []
    found: list[tuple[str, Record]] = []
    line = 1
    try:
        for row in rows:
            if names and any(row):
                found.append((f"{path}:{line}", _record(names, row, f"{path}:{line}")))
            elif not names and header in row:
                names = row
            line = rows.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path}:{line}: not valid CSV ({error}); is the file cut off? Fetch it again.") from None
    if not names:
        raise UserError(f"{path}: no row of column names has {header!r}.")
    return _source(path, content, origin), found


def _record(names: list[str], row: list[str], place: str) -> Record:
    if len(row) != len(names):
        raise UserError(f"{place}: {len(row)} fields in a row under {len(names)} column names.")
    return dict(zip(names, row, strict=True))


def read_records(path: Path, origin: str = "") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads a file as its name says: `.jsonl`, `.json` (a list), `.csv`, `.tsv`, each plain or .gz, or `.parquet`.

    Raises:
        UserError: another ending, and as the reader of the format does.
    """
    ending = next((ending for ending in reversed(path.suffixes) if ending != ".gz"), "")
    if ending not in READERS:
        raise UserError(f"{path}: a data file's name ends in {', '.join(READERS)} (or that and .gz).")
    return READERS[ending](path, origin)


def read_parquet(path: Path, origin: str = "") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads a Parquet file's rows as objects, each with its place, `FILE[ROW]`; provenance as in `read_lines`.

    Raises:
        UserError: the file cannot be read, or is cut off or no Parquet.
    """
    import pyarrow
    import pyarrow.parquet

    content = _content(path)
    try:
        # On one thread: Arrow's pools now and then abort a process that ends soon after a read (apache/arrow#34314).
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)) as file:
            rows = file.read(use_threads=False).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a readable Parquet file ({error}); fetch it again.") from None
    return _source(path, content, origin), [(f"{path}[{i}]", row) for i, row in enumerate(rows)]


READERS = {
    ".jsonl": read_lines,
    ".json": read_list,
    ".csv": read_table,
    ".tsv": read_table,
    ".parquet": read_parquet,
}


def within(folder: Path, *names: str) -> list[Path]:
    """The files in a folder that fit one of the names (or patterns), plain or .gz; those of the first name first."""
    fitting = (file for name in names for ending in ("", ".gz") for file in sorted(folder.glob(name + ending)))
    return [file for file in fitting if file.is_file()]


def locate(path: Path, *names: str) -> Path:
    """The path itself if it is a file, else the first file in it that fits one of the names, plain or .gz.

    Raises:
        UserError: there is nothing at `path`, or no such file in it.
    """
    files_in(path)
    if not path.is_dir():
        return path
    if not (found := within(path, *names)):
        raise UserError(f"data.path={path} holds no {' or '.join(names)}, plain or .gz.")
    return found[0]


def files_in(path: Path) -> list[Path]:
    """The files directly in a folder, by name; the path itself if it is a file.

    Raises:
        UserError: there is nothing at `path`, or it cannot be read.
    """
    try:
        return sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path.resolve(strict=True)]
    except OSError as error:
        raise UserError(f"data.path={path} cannot be read: {error.strerror}.") from None


def _content(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    if path.suffix != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(
            f"{path}:{_intact_lines(raw) + 1}: the compressed file is cut off or damaged here; fetch it again."
        ) from None


def _intact_lines(packed: bytes) -> int:
    try:
        return zlib.decompressobj(wbits=31).decompress(packed).count(b"\n")
    except zlib.error:
        return 0


def _parse(content: bytes, path: Path, line: int) -> Any:
    """Parses the part of a file that begins at `line`."""
    text = _text(content, path, line)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{path}:{line + error.lineno - 1}"
        raise UserError(
            f"{place}: not valid JSON ({error.msg}, column {error.colno}); is the file cut off? Fetch it again."
        ) from None
    except RecursionError:
        raise UserError(f"{path}:{line}: JSON nested too deeply to be a record of a data set.") from None


def _text(content: bytes, path: Path, line: int) -> str:
    try:
        return content.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8.") from None


def _object(value: Any, place: str) -> Record:
    if not isinstance(value, dict):
        raise UserError(f"{place}: expected a JSON object, found {kind(value)}.")
    return value


def _source(path: Path, content: bytes, origin: str) -> Source:
    return Source(str(path), hashlib.sha256(content).hexdigest(), origin)
