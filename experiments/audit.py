"""One judge audited on one data set: from items to the files of a run folder."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import tables, verdicts
from experiments.console import ProgressBar, console, show
from experiments.design import cross, tabulate
from experiments.manifest import calls, manifest
from experiments.settings import PairwiseSettings
from judges import prompts
from judges.ask import carry_out
from judges.data import load
from judges.engines import OnDemand, ScriptedSettings, open_engine
from judges.engines.models import resolve_revision
from judges.judge import PairwiseJudge
from judges.records import ModelSpec
from judges.store import Store


@dataclass(frozen=True)
class Analysis:
    """What a study makes of its verdict table."""

    metrics: Callable[[pd.DataFrame, Mapping[str, Any]], pd.DataFrame]
    """From the table and the options of the bootstrap to one number a row."""
    per_item: Callable[[pd.DataFrame], pd.DataFrame]
    columns: tuple[str, ...]
    """The metrics that the console shows."""


def audit(settings: PairwiseSettings, analysis: Analysis) -> Path:
    """Asks, reads, measures and writes; returns the run folder.

    What is asked is stored call by call under `<root>/store`; all else here is made anew from it by every run.
    """
    begun = datetime.now(UTC)
    data = load(**settings.data.model_dump(exclude={"label"}))
    for warning in data.warnings:
        console.print(f"note: {warning}")
    spec = identify(settings)
    judge = PairwiseJudge(
        spec,
        {form: prompts.load("pairwise", form, settings.prompt.path) for form in settings.format},
        settings.model.thinking,
        settings.seed,
        settings.max_tokens,
        settings.logprobs,
    )
    trials = cross(data.items, settings)
    bar = ProgressBar()
    with Store(settings.root / "store") as store, _engine(settings) as engine, closing(bar):
        answers = carry_out(judge, trials, engine, store, bar)

    table = verdicts.check(tabulate(settings.study, settings.model, trials, answers))
    options = settings.bootstrap
    metrics = analysis.metrics(
        table,
        {"rng": np.random.default_rng(options.seed), "replicates": options.replicates, "interval": options.interval},
    )
    note = manifest(
        settings=settings.model_dump(mode="json"),
        command=sys.argv,
        data=data.provenance,
        prompts={form: prompt.sha256 for form, prompt in judge.prompts.items()},
        model=asdict(spec),
        calls=calls({k: c for a in answers for k, c in zip(a.keys, a.completions, strict=True)}.values(), bar.asked),
        begun=begun,
    )
    folder = settings.root / settings.study / settings.data.label / settings.model.label
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "verdicts.parquet", lambda path: verdicts.write(table, path))
    _replace(folder / "metrics.csv", lambda path: tables.write(metrics, path))
    _replace(folder / "items.csv", lambda path: tables.write(analysis.per_item(table), path))
    _replace(folder / "manifest.json", lambda path: path.write_text(json.dumps(note, indent=1, ensure_ascii=False)))
    show(metrics, analysis.columns, folder)
    return folder


def identify(settings: PairwiseSettings) -> ModelSpec:
    """The model with its revision resolved; a script in place of a model goes by its own name."""
    if isinstance(settings.engine, ScriptedSettings):
        return settings.model.spec(f"scripted:{settings.engine.script}", "")
    placement = settings.model.placement()
    name = settings.model.name if settings.model.path else settings.model.weights
    return settings.model.spec(name, resolve_revision(placement, settings.model.revision))


def _engine(settings: PairwiseSettings) -> OnDemand:
    return OnDemand(lambda model: open_engine(model, settings.model.placement(), settings.engine))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Writes beside a file and puts it in its place, so that no reader and no crash meets half a file."""
    scratch = path.with_name(f".{path.name}")
    write(scratch)
    os.replace(scratch, path)
