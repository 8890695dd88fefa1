"""The files of a run folder: verdicts, what follows from them, and the manifest."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from analysis import captions, tables, verdicts
from analysis.columns import TableError
from analysis.studies import STUDIES, Options, find
from experiments.console import console, show
from experiments.settings import Settings
from experiments.shards import is_looking
from judges.ask import PENDING
from judges.records import UserError


def publish(
    table: pd.DataFrame, note: Mapping[str, Any], settings: Settings, unreadable: str, folder: Path, title: str
) -> None:
    """Writes a study's verdicts, metrics and manifest, and shows its main table.

    Args:
        table: the verdicts, see `analysis.verdicts`.
        note: the manifest.
        settings: of the study.
        unreadable: how rows without a verdict count in the study's metrics.
        folder: where the files go.
        title: what was asked of whom, for the table that is shown.

    Raises:
        UserError: the verdicts are faulty, or none of the study's.
    """
    if is_looking():
        _look(table, settings, unreadable, title)
        return
    if "VOIRDIRE_WORKER" in os.environ:
        return  # The process that started this one writes the tables, once.
    with filled(folder) as scratch:
        main = measure(table, settings, unreadable, scratch)
        (scratch / "manifest.json").write_text(json.dumps(note, indent=1, ensure_ascii=False), encoding="utf-8")
    for caveat in note["caveats"]:
        console.print(f"note: {caveat}", markup=False)
    show(main, f"{settings.study}: {title}", folder)


def _look(table: pd.DataFrame, settings: Settings, unreadable: str, title: str) -> None:
    """Shows the main table of the rows whose calls are all stored, and writes nothing."""
    there = table[table["finish"] != PENDING]
    if there.empty:
        return
    with TemporaryDirectory() as scratch:
        main = measure(there.reset_index(drop=True), settings, unreadable, Path(scratch))
    show(main, f"partial, {len(there):,} of {len(table):,} rows: {settings.study}: {title}", None)


def measure(table: pd.DataFrame, settings: Settings, unreadable: str, folder: Path) -> pd.DataFrame:
    """Writes the verdicts and all that follows from them; returns the main table, or the metrics if none could be."""
    study = STUDIES[settings.study]
    choices = {name: getattr(settings, name) for name in study.choices if hasattr(settings, name)}
    options = Options(unreadable, **settings.bootstrap.model_dump(), choices=choices)
    try:
        table = verdicts.check(table)
        found = find(study, table, options)
    except TableError as error:
        raise UserError(str(error)) from error
    verdicts.write(table, folder / "verdicts.parquet")
    note = captions.note(options.unreadable, options.replicates, options.interval, options.seed)
    tables.publish(found.metrics, found.items, found.tables, folder, note)
    return next(iter(found.tables.values()), found.metrics)


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """A scratch folder whose files then take their places, so that no reader and no crash meets half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".") as name:
        yield (scratch := Path(name))
        for path in sorted(p for p in scratch.rglob("*") if p.is_file()):
            place = folder / path.relative_to(scratch)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, place)
