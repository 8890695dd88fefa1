"""The numbers of a card: every study's metrics, from the verdicts of the runs in which a judge took part."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd

from analysis.cells import TIDY
from analysis.columns import TableError
from analysis.studies import STUDIES, Options
from analysis.verdicts import FACTORS
from experiments.card_costs import unread
from experiments.card_record import Number
from experiments.card_topics import TOPICS
from experiments.designs import designs
from experiments.runs import Run
from experiments.settings import label

Metrics = Mapping[Path, pd.DataFrame]
"""Tidy metrics by run folder."""
READING = "reading"


def options(study: str, replicates: int) -> Options:
    """The study's own rule and seed."""
    rules, seed = (STUDIES[study].rules, STUDIES[study].seed) if study in STUDIES else (("drop",), 0)
    return Options(rules[0], replicates, seed)


def measured(runs: Sequence[Run], replicates: int) -> dict[Path, pd.DataFrame]:
    """Tidy metrics of every run; those of refsense also pair judges that graded the same answers in several runs.

    Raises:
        TableError: the verdicts of a run are faulty.
    """
    found = {run.folder: _metrics(run, options(run.study, replicates)) for run in runs}
    for folder, further in _across([run for run in runs if run.study == "refsense"], replicates):
        found[folder] = pd.concat([found[folder], further], ignore_index=True)
    return found


def _metrics(run: Run, how: Options) -> pd.DataFrame:
    if run.study == "serving":
        from analysis.serving import serving

        return serving(run.verdicts, rng=how.rng, replicates=how.replicates)
    try:
        return _of_table(run.study, run.verdicts, how)
    except TableError as error:
        raise TableError(f"{run.table}: {error}") from error


def _of_table(study: str, rows: pd.DataFrame, how: Options) -> pd.DataFrame:
    return STUDIES[study].metrics(rows, rng=how.rng, replicates=how.replicates, unreadable=how.unreadable)


def _across(runs: Sequence[Run], replicates: int) -> Iterator[tuple[Path, pd.DataFrame]]:
    """What a judge does to its own model's answers, where others have graded them, too."""
    for group in designs(runs):
        for data in dict.fromkeys(run.data for run in group):
            several = [run for run in group if run.data == data]
            if len(several) > 1:
                rows = pd.concat([run.verdicts for run in several], ignore_index=True)
                how = options("refsense", replicates)
                metrics = _of_table("refsense", rows, how)
                yield from ((run.folder, metrics[metrics["metric"] == "same_model_delta"]) for run in several)


def numbers(judge: str, runs: Sequence[Run], metrics: Metrics, replicates: int, out: Path) -> Iterator[Number]:
    """What the topics show of a judge, run by run, then the share of its verdicts that can't be read.

    Args:
        judge: its name in the verdicts.
        runs: those in which it took part.
        metrics: as `measured` gives them.
        replicates: of the bootstrap.
        out: the folder that links start from.
    """
    for topic in TOPICS:
        for run in (run for run in runs if run.study == topic.study):
            chosen = topic.chosen(metrics[run.folder], judge)
            for row in _records(chosen[chosen["metric"].isin(topic.metrics)]):
                yield _number(topic.name, judge, run, row, out)
    for run in runs:
        rows = run.verdicts[run.verdicts["judge"] == judge]
        yield _number(READING, judge, run, unread(rows, options(run.study, replicates)), out)


def rows_of(run: Run, out: Path) -> str:
    """The address of a run's verdicts, from the folder of the cards."""
    return quote(Path(os.path.relpath(run.table, out)).as_posix())


def browser_of(run: Run, judge: str, out: Path) -> str:
    """The address where a run's verdicts can be looked through; empty: no report has made such a page."""
    page = run.folder.parents[1] / "report" / "verdicts.html"
    if not page.is_file():
        return ""
    return f"{quote(Path(os.path.relpath(page, out)).as_posix())}#{urlencode({'judge': judge, 'data': run.dataset})}"


def date_of(run: Run) -> str | None:
    """The day on which a run ended."""
    return str(run.manifest["ended"])[:10] if run.manifest.get("ended") else None


def engine_of(run: Run) -> tuple[str, ...]:
    """Who answered its calls."""
    return tuple(run.manifest.get("calls", {}).get("engines", {}))


def _records(metrics: pd.DataFrame) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = metrics.reindex(columns=list(TIDY)).to_dict("records")  # type: ignore[assignment]
    return found


def _number(topic: str, judge: str, run: Run, row: Mapping[str, Any], out: Path) -> Number:
    told = {name: row[name] for name in FACTORS if name in row and not pd.isna(row[name]) and row[name] != ""}
    setting = {name: value for name, value in told.items() if name != "constrained" or value}
    if run.judge != label(judge):
        setting["panel"] = run.judge
    note = row.get("note")
    return Number(
        topic=topic,
        study=run.study,
        data=run.data,
        metric=row["metric"],
        slice=row["slice"],
        setting=setting,
        **{name: _known(row[name]) for name in ("value", "ci_low", "ci_high")},
        n=0 if pd.isna(row["n"]) else int(row["n"]),
        unreadable=_known(row["share_unreadable"]),
        note="" if note is None or pd.isna(note) else note,
        date=date_of(run),
        engine=engine_of(run),
        rows=rows_of(run, out),
    )


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
