"""The source formats by name: what their records look like, and how one becomes rows of the verdict table."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments.imports import alpaca_eval, inspect_log, judgebench, llmbar, mapped, mtbench, pandalm
from experiments.imports.files import Origin, Skipped, fitting, misfit, records
from experiments.imports.judged import Judged, Malformed, Record
from experiments.imports.mapping import Mapping
from judges.records import UserError

Read = Callable[[Record, Origin], Iterable[Judged]]
Marks = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Format:
    """One source format."""

    read: Read
    """The rows that a record holds; none where nobody was asked."""
    marks: Marks = (frozenset(),)
    """Fields that tell its records, one set a kind of record."""
    as_published: Read | None = None
    """The same by the source's own rules, where they read a verdict that ours don't."""


FORMATS: dict[str, Format] = {
    "judgebench": Format(judgebench.read, judgebench.MARKS, judgebench.read_as_published),
    "llmbar": Format(llmbar.read, llmbar.MARKS, llmbar.read_as_published),
    "mtbench": Format(mtbench.read, mtbench.MARKS),
    "alpaca_eval": Format(alpaca_eval.read, alpaca_eval.MARKS),
    "pandalm": Format(pandalm.read, pandalm.MARKS),
}
MAPPED = ("inspect", "csv", "jsonl")
"""Formats whose records a mapping describes."""


def judged(
    name: str,
    files: Iterable[Path],
    skipped: Skipped,
    mapping: Mapping | None = None,
    as_published: bool = False,
) -> Iterator[tuple[Origin, Judged]]:
    """Every judged trial of the files, with the place that it was read from.

    Args:
        name: one of `FORMATS` or `MAPPED`.
        files: read in this order.
        skipped: what becomes of bad records.
        mapping: describes the records of a mapped format; Inspect logs have a default one.
        as_published: read by the source's own rules rather than ours.

    Raises:
        UserError: a file cannot be read, is of another format (the likely one is named), or holds a bad record.
    """
    form = _format(name, mapping)
    read = (as_published and form.as_published) or form.read
    for file in files:
        empty = True
        for origin, record in _records(name, file, skipped):
            if empty:
                _check_format(name, form, origin, record)
                empty = False
            try:
                found = list(_rows(read, form, origin, record))
            except Malformed as fault:
                skipped.add(f"{origin}: {fault}")
            else:
                yield from ((origin, row) for row in found)
        if empty:
            raise UserError(f"{file} holds no records")


def _rows(read: Read, form: Format, origin: Origin, record: Record) -> Iterable[Judged]:
    if not fitting(record, form.marks):
        raise misfit(record, form.marks)
    return read(record, origin)


def _format(name: str, mapping: Mapping | None) -> Format:
    if name in FORMATS:
        return FORMATS[name]
    if name == "inspect":
        return Format(mapped.reader(mapping or inspect_log.DEFAULT))
    if mapping is None:
        raise UserError(f"the format {name} needs --map FILE.yaml, which says what the columns are (see --help)")
    return Format(mapped.reader(mapping))


def _records(name: str, file: Path, skipped: Skipped) -> Iterator[tuple[Origin, Record]]:
    if (file.suffix == ".eval") != (name == "inspect"):
        likely = "an Inspect log" if file.suffix == ".eval" else "no Inspect log (those end in .eval)"
        raise UserError(f"{file} is {likely}; choose another format than {name}")
    return inspect_log.records(file) if name == "inspect" else records(file, skipped)


def _check_format(name: str, form: Format, origin: Origin, record: Record) -> None:
    """Refuses a file whose first record is of another format, and names the one that it fits."""
    if fitting(record, form.marks):
        return
    likely = [other for other, f in FORMATS.items() if fitting(record, f.marks)]
    hint = (
        f"it looks like {likely[0]}: python -m experiments.imports {likely[0]} {origin.file} ..."
        if likely
        else "it fits none of the known formats; describe its columns in a YAML: csv or jsonl with --map"
    )
    raise UserError(f"{origin}: not a record of the format {name}: {misfit(record, form.marks)}\n{hint}")
