"""One judge audited on one data set: from items to the files of a run folder."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from analysis import tables, verdicts
from analysis.columns import TableError
from analysis.studies import STUDIES, Options, find
from experiments.console import ProgressBar, console, show
from experiments.design import cross, tabulate
from experiments.manifest import calls, manifest
from experiments.panel import panel
from experiments.roster import engines, player
from experiments.settings import PairwiseSettings
from judges.ask import carry_out
from judges.data import load
from judges.records import UserError
from judges.store import Store


def audit(settings: PairwiseSettings, unreadable: str, criteria: str = "objective") -> Path:
    """Asks, reads, measures and writes; returns the run folder.

    What is asked is stored call by call under `<root>/store`; all else is made anew from there by every run.

    Args:
        settings: of the study.
        unreadable: how rows without a verdict count in the study's metrics.
        criteria: what methods that judge by criteria go by.
    """
    begun = datetime.now(UTC)
    data = load(**settings.data.model_dump(exclude={"label"}))
    for warning in data.warnings:
        console.print(f"note: {warning}", markup=False)
    judged_by = player(settings.model, settings)
    judge = panel(settings, judged_by.spec, criteria)
    trials = cross(data.items, settings)
    with Store(settings.root / "store") as store, engines([judged_by]) as engine, closing(ProgressBar()) as bar:
        answers = carry_out(judge, trials, engine, store, bar)

    table = tabulate(settings.study, settings.model, trials, answers)
    note = manifest(
        settings=settings.model_dump(mode="json"),
        command=sys.argv,
        data=data.provenance,
        prompts=judge.prompts,
        model=asdict(judged_by.spec),
        calls=calls({k: c for a in answers for k, c in zip(a.keys, a.completions, strict=True)}.values(), bar.asked),
        begun=begun,
    )
    folder = settings.root / settings.study / settings.data.label / settings.model.label
    with _filled(folder) as scratch:
        main = measure(table, settings, unreadable, scratch)
        (scratch / "manifest.json").write_text(json.dumps(note, indent=1, ensure_ascii=False), encoding="utf-8")
    for caveat in note["caveats"]:
        console.print(f"note: {caveat}", markup=False)
    show(main, f"{settings.study}: {settings.model.name} on {settings.data.label}", folder)
    return folder


def measure(table: pd.DataFrame, settings: PairwiseSettings, unreadable: str, folder: Path) -> pd.DataFrame:
    """Writes the verdicts and all that follows from them; returns the main table."""
    options = Options(unreadable, **settings.bootstrap.model_dump())
    try:
        table = verdicts.check(table)
        found = find(STUDIES[settings.study], table, options)
    except TableError as error:
        raise UserError(str(error)) from error
    verdicts.write(table, folder / "verdicts.parquet")
    tables.publish(found.metrics, found.items, found.tables, folder)
    return next(iter(found.tables.values()))


@contextmanager
def _filled(folder: Path) -> Iterator[Path]:
    """A scratch folder whose files then take their places, so that no reader and no crash meets half a file."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".") as name:
        yield (scratch := Path(name))
        for path in sorted(p for p in scratch.rglob("*") if p.is_file()):
            place = folder / path.relative_to(scratch)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, place)
