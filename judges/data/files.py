"""Reads data files, plain or gzipped, and names the file and line of whatever is wrong with them."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judges.data.intake import Source
from judges.records import UserError

Record = Mapping[str, Any]


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
        raise UserError(f"{path}: expected a JSON list of instances, found {_kind(found)}.")
    return _source(path, content, origin), [
        (f"{path}[{i}]", _object(entry, f"{path}[{i}]")) for i, entry in enumerate(found)
    ]


def read_parquet(path: Path, origin: str = "") -> tuple[Source, list[tuple[str, Record]]]:
    """Reads a Parquet file's rows as objects, each with its place, `FILE[ROW]`; provenance as in `read_lines`.

    Raises:
        UserError: the file cannot be read, or is cut off or no Parquet.
    """
    import pyarrow
    import pyarrow.parquet

    content = _content(path)
    try:
        rows = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a readable Parquet file ({error}); fetch it again.") from None
    return _source(path, content, origin), [(f"{path}[{i}]", row) for i, row in enumerate(rows)]


def named(record: Record, key: str, place: str, names: Mapping[str, str]) -> str:
    """What the label under `key` stands for: with names `{"1": "A", "2": "B"}` a 2 gives `B`."""
    label = str(_value(record, key, place))
    if label not in names:
        known = " or ".join(map(repr, names))
        raise UserError(f"{place}: the {key} {label!r} names no answer; it must be {known}.")
    return names[label]


def text(record: Record, key: str, place: str) -> str:
    """The string under `key`, which must be there; it may be empty."""
    found = _value(record, key, place)
    if not isinstance(found, str):
        raise UserError(f"{place}: the field {key!r} must be a string, not {_kind(found)}.")
    return found


def integer(record: Record, key: str, place: str) -> int:
    """The whole number under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, int) or isinstance(found, bool):
        raise UserError(f"{place}: the field {key!r} must be a whole number, not {_kind(found)}.")
    return found


def texts(record: Record, key: str, place: str) -> tuple[str, ...]:
    """The list of strings under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UserError(f"{place}: the field {key!r} must be a list of strings.")
    return tuple(found)


def records(record: Record, key: str, place: str) -> list[Record]:
    """The list of objects under `key`, which must be there."""
    found = _value(record, key, place)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UserError(f"{place}: the field {key!r} must be a list of objects.")
    return found


def task(record: Record, place: str) -> str:
    """What a record in Alpaca's schema asks for: its `instruction`, and its `input` below it unless that is empty."""
    instruction, given = text(record, "instruction", place), text(record, "input", place)
    return f"{instruction}\n\n{given}" if given else instruction


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


def _value(record: Record, key: str, place: str) -> Any:
    if key not in record:
        raise UserError(f"{place}: the field {key!r} is missing; found {', '.join(map(repr, record)) or 'no fields'}.")
    return record[key]


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
    try:
        return json.loads(content.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8.") from None
    except json.JSONDecodeError as error:
        place = f"{path}:{line + error.lineno - 1}"
        raise UserError(
            f"{place}: not valid JSON ({error.msg}, column {error.colno}); is the file cut off? Fetch it again."
        ) from None
    except RecursionError:
        raise UserError(f"{path}:{line}: JSON nested too deeply to be a record of a data set.") from None


def _object(value: Any, place: str) -> Record:
    if not isinstance(value, dict):
        raise UserError(f"{place}: expected a JSON object, found {_kind(value)}.")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _source(path: Path, content: bytes, origin: str) -> Source:
    return Source(str(path), hashlib.sha256(content).hexdigest(), origin)
