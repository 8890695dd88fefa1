"""What a card says of the runs behind its numbers: who was asked, by which engine, and what limits the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import caveats, provenance, run_caveats
from experiments.card_numbers import browser_of, date_of, engine_of, rows_of
from experiments.card_record import Limit, Measured
from experiments.runs import Run

ABOUT_ALL = {"one_judge"}
"""Caveats that speak of a study's judges together, and so not of one."""


def runs_of(judge: str, runs: Sequence[Run], out: Path) -> Iterator[Measured]:
    """The runs in which a judge took part."""
    for run in runs:
        rows = run.verdicts[run.verdicts["judge"] == judge]
        model = _model(run, judge)
        yield Measured(
            study=run.study,
            data=run.data,
            dataset=run.dataset,
            date=date_of(run),
            engine=engine_of(run),
            model=str(model.get("name", "")),
            revision=str(model.get("revision", "")),
            verdicts=len(rows),
            outcomes={str(k): int(n) for k, n in rows["outcome"].value_counts().items()},
            rows=rows_of(run, out),
            browser=browser_of(run, judge, out),
            command=provenance.command(run) if run.manifest else "",
        )


def family(judge: str, runs: Sequence[Run]) -> str:
    """The family of models that a judge belongs to; empty: no table tells."""
    told = (str(name) for run in runs for name in _families(run, judge) if name)
    return next(told, "")


def limits(judge: str, runs: Sequence[Run]) -> Iterator[Limit]:
    """What limits the numbers, as a report has it, on this judge's rows; what holds of several studies is said once."""
    said: dict[str, tuple[list[str], list[str]]] = {}
    for study in dict.fromkeys(run.study for run in runs):
        own = [run for run in runs if run.study == study]
        found = [c for c in run_caveats.of_runs(own) if c.kind not in ABOUT_ALL]
        for run in own if study != "serving" else ():
            found += caveats.of_verdicts(run.verdicts[run.verdicts["judge"] == judge])
        for caveat in found:
            studies, where = said.setdefault(caveat.says, ([], []))
            studies.append(study)
            where += caveat.where
    for says, (studies, where) in said.items():
        yield Limit(studies=tuple(dict.fromkeys(studies)), says=says, where=tuple(dict.fromkeys(where)))


def _families(run: Run, judge: str) -> Sequence[Any]:
    rows = run.verdicts
    return rows.loc[rows["judge"] == judge, "judge_family"].head(1).tolist() if "judge_family" in rows else ()


def _model(run: Run, judge: str) -> Mapping[str, Any]:
    """The judge's identity as the manifest has it; empty where it has none."""
    told = run.manifest.get("model", {})
    if "name" in told:
        return dict(told)
    among = told.get("judge", [])
    place = run.judges.index(judge)
    return dict(among[place]) if len(among) == len(run.judges) else {}
