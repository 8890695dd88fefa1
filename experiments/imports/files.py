"""Records of a file one by one, each with its place; bad ones are refused or, where that is wished, counted."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from experiments.imports.judged import Malformed, Record
from judges.records import UserError

_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record stands."""

    file: Path
    index: int
    """Its number among the file's records, from 0."""
    line: int | None = None
    """Its line, from 1, in a file that has one record a line."""

    def __str__(self) -> str:
        return f"{self.file}[{self.index}]" if self.line is None else f"{self.file}:{self.line}"


@dataclass(slots=True)
class Skipped:
    """The bad records of a run: the first of them ends it, unless they are to be skipped."""

    allowed: bool
    faults: list[str] = field(default_factory=list)

    def add(self, fault: str) -> None:
        """Takes note of a fault.

        Raises:
            UserError: bad records are not to be skipped.
        """
        if not self.allowed:
            raise UserError(f"{fault}\nMend the file, or leave such records out and have them counted: --skip-bad")
        self.faults.append(fault)


def records(path: Path, skipped: Skipped) -> Iterator[tuple[Origin, Record]]:
    """The objects of a .jsonl, .json (a list) or .csv file, plain or .gz, in order.

    Raises:
        UserError: the file cannot be read, or (unless skipped) holds something else; names the file and the line.
    """
    kind = Path(path.name.removesuffix(".gz")).suffix
    readers = {".jsonl": _lines, ".json": _list, ".csv": _table}
    if kind not in readers:
        raise UserError(f"{path}: judge outputs are read from {', '.join(readers)} (plain or .gz) and .eval files")
    with _opened(path) as stream:
        for origin, record in readers[kind](path, stream, skipped):
            if isinstance(record, dict):
                yield origin, record
            else:
                skipped.add(f"{origin}: expected a JSON object, found {type(record).__name__}")


def _lines(path: Path, stream: IO[bytes], skipped: Skipped) -> Iterator[tuple[Origin, Any]]:
    index = number = 0
    try:
        for number, line in enumerate(stream, 1):
            if line.isspace():
                continue
            try:
                record = _parse(line.removeprefix(b"\xef\xbb\xbf"))
            except (ValueError, RecursionError) as error:
                skipped.add(f"{path}:{number}: not valid JSON ({_said(error)})")
                continue
            yield Origin(path, index, number), record
            index += 1
    except _DAMAGED:
        raise UserError(
            f"{path}:{number + 1}: the compressed file is cut off or damaged here; fetch it again"
        ) from None


def _list(path: Path, stream: IO[bytes], skipped: Skipped) -> Iterator[tuple[Origin, Any]]:
    try:
        found = _parse(stream.read().removeprefix(b"\xef\xbb\xbf"))
    except _DAMAGED:
        raise UserError(f"{path}: the compressed file is cut off or damaged; fetch it again") from None
    except json.JSONDecodeError as error:
        hint = "; one record a line? Then name it .jsonl" if error.msg == "Extra data" else ""
        raise UserError(f"{path}:{error.lineno}: not valid JSON ({error.msg}, column {error.colno}){hint}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({_said(error)})") from None
    if not isinstance(found, list):
        raise UserError(f"{path}: expected a JSON list of records, found {type(found).__name__}")
    yield from ((Origin(path, i), record) for i, record in enumerate(found))


def _table(path: Path, stream: IO[bytes], skipped: Skipped) -> Iterator[tuple[Origin, Any]]:
    rows = csv.DictReader(io.TextIOWrapper(stream, "utf-8-sig", newline=""))
    try:
        for index, row in enumerate(rows):
            origin = Origin(path, index, rows.line_num)
            if None in row or None in row.values():
                skipped.add(
                    f"{origin}: the row has not as many cells as there are columns ({len(rows.fieldnames or ())})"
                )
            else:
                yield origin, row
    except _DAMAGED:
        raise UserError(f"{path}: the compressed file is cut off or damaged; fetch it again") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}:{rows.line_num + 1}: not a readable CSV file ({error})") from None


def _parse(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # Python's own writer makes NaN, Infinity and lone surrogates, which orjson refuses and Python reads.
        return json.loads(content.decode("utf-8", "surrogatepass"))


def _said(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "nested too deeply"


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    open_it: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    try:
        with open_it(path, "rb") as stream:
            yield stream
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None


def fitting(record: Record, marks: tuple[frozenset[str], ...]) -> bool:
    """Does the record have all fields of one of a format's kinds of record?"""
    return any(kind <= record.keys() for kind in marks)


def misfit(record: Record, marks: tuple[frozenset[str], ...]) -> Malformed:
    """Says which fields the record lacks to be of the kind that it comes closest to."""
    nearest = min(marks, key=lambda kind: len(kind - record.keys()))
    lacks = ", ".join(map(repr, sorted(nearest - record.keys())))
    return Malformed(f"the record has no {lacks}; its fields are {', '.join(map(repr, record)) or 'none'}")
