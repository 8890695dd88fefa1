"""Runs of one study that were asked alike, and in what the others differ; judges and data sets are no difference."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from experiments.runs import Run

HOW = {"study", "root", "shard", "workers", "dry_run", "budget", "api", "engine", "bootstrap", "stage", "data"}
"""Settings that say where and how calls are made and numbers found, not what is asked."""
WHO = {"model", "judges", "generators", "panel"}
TOLD = {"format", "temperature", "paradigm", "reference", "constrained", "swap", "conditions"}
"""Settings that are columns of every table: rows that differ in them are apart anyhow."""
COLUMNS = ("design", "judge", "data")
NOT_SAID = "not recorded"


def designs(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs whose numbers may stand in one table, the largest such group first.

    Two runs are apart if they were asked differently in what no column tells (repeats, templates, seeds...), drew other
    items from one data set, or are two audits of one judge on one data set. A run without a manifest stands with the
    first that it does not clash with.
    """
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: not run.manifest):
        home = next((group for group in groups if all(_alike(run, other) for other in group)), None)
        if home is None:
            groups.append([run])
        else:
            home.append(run)
    return sorted(groups, key=len, reverse=True)


def differences(groups: Sequence[Sequence[Run]]) -> pd.DataFrame:
    """One row a run, one column a setting that is not the same in all of them; empty if they were all asked alike."""
    members = [(number, run) for number, group in enumerate(groups, 1) for run in group]
    rows = [{"design": number, "judge": ", ".join(r.judges), "data": r.data, **_said(r)} for number, r in members]
    table = pd.DataFrame(rows).astype(object)
    table = table.where(table.notna(), NOT_SAID)
    datasets = [run.dataset for _, run in members]
    told = [c for c in table if c not in COLUMNS and table[c].nunique() > 1 and not _natural(table[c], datasets)]
    return table[[*COLUMNS, *told]] if told else pd.DataFrame()


def _alike(one: Run, other: Run) -> bool:
    if one.dataset == other.dataset and set(one.judges) & set(other.judges):
        return False
    if not one.manifest or not other.manifest:
        return True
    hashes = [run.manifest.get("prompts", {}) for run in (one, other)]
    return (
        _asked(one) == _asked(other)
        and (one.dataset != other.dataset or _items(one) == _items(other))
        and all(hashes[0][name] == hashes[1][name] for name in hashes[0].keys() & hashes[1].keys())
    )


def _asked(run: Run) -> dict[str, str]:
    return {name: value for name, value in _settings(run).items() if name not in TOLD}


def _items(run: Run) -> object:
    data = run.manifest.get("data", {})
    return data.get("items_sha256") or data.get("draw")


def _settings(run: Run) -> dict[str, str]:
    settings = run.manifest.get("settings", {})
    return {name: _short(value) for name, value in settings.items() if name not in HOW | WHO}


def _said(run: Run) -> dict[str, str]:
    data, prompts = run.manifest.get("data", {}), run.manifest.get("prompts", {})
    draw = {f"data.{name}": _short(value) for name, value in data.get("draw", {}).items()}
    return {
        **_settings(run),
        **draw,
        **({"items": str(data.get("items_sha256", ""))[:12]} if data else {}),
        **{f"template {name}": str(digest)[:12] for name, digest in prompts.items()},
    }


def _natural(column: "pd.Series[Any]", datasets: Sequence[str]) -> bool:
    """Whether a difference says nothing: items that differ between data sets alone, a template that some don't use."""
    name = str(column.name)
    if name == "items" or name.startswith("data."):
        return bool((column.groupby(pd.Series(datasets, column.index)).nunique() < 2).all())
    return name.startswith("template ") and column[column != NOT_SAID].nunique() < 2


def _short(value: Any) -> str:
    """A setting in a few words: models by their names, files without their folders."""
    if isinstance(value, Mapping):
        return str(value["name"]) if "weights" in value else ", ".join(f"{k}={_short(v)}" for k, v in _given(value))
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    if isinstance(value, str):
        return PurePath(value).name if "/" in value else value
    return json.dumps(value)


def _given(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((k, v) for k, v in value.items() if v is not None)
