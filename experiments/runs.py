"""The runs that a root holds: their folders, manifests and verdicts; loads no model and no table before it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

TABLES = {"serving": "serving.parquet"}
"""The table of a run, by study, where it is not `verdicts.parquet`."""


@dataclass(frozen=True)
class Run:
    """One study of one judge, or of a panel of them, on one data set, as it lies in its folder."""

    folder: Path
    study: str
    data: str
    """The data set's label: the name of the folder above the run's."""
    judge: str
    """The name of the run's folder: a judge's label, or that of a panel."""
    manifest: Mapping[str, Any]
    """Empty where there is none, or none that can be read: verdicts of others, imported."""

    @property
    def table(self) -> Path:
        """The file that holds its verdicts, or what the study has in their place."""
        return self.folder / TABLES.get(self.study, "verdicts.parquet")

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The verdicts, checked; read when first asked for, and kept.

        Raises:
            TableError: the table cannot be read or is faulty.
        """
        if self.study == "serving":
            from analysis.serving_tables import read_serving

            return read_serving([self.table]).reset_index(drop=True)
        from analysis.verdicts import read

        return read([self.table])

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, as the verdicts have them; from the manifest, where there is one."""
        settings = self.manifest.get("settings", {})
        panel = settings.get("judges") or [settings["model"]] if "model" in settings else []
        names = tuple(str(model["name"]) for model in panel)
        return names or tuple(sorted(map(str, self.verdicts["judge"].unique())))

    @cached_property
    def dataset(self) -> str:
        """Name of the data set, as the verdicts have it; from the manifest, where there is one."""
        told = self.manifest.get("data", {}).get("dataset")
        return str(told) if told else ", ".join(sorted(map(str, self.verdicts["dataset"].unique())))


def find(root: Path, study: str) -> list[Run]:
    """The runs of one study, in the order of their folders; empty where there is none."""
    return list(_runs(root, study))


def find_all(root: Path) -> list[Run]:
    """The runs of all studies."""
    return list(_runs(root, "*"))


def _runs(root: Path, study: str) -> Iterator[Run]:
    for folder in sorted(path for path in root.glob(f"{study}/*/*") if path.is_dir()):
        name, data, judge = folder.parts[-3:]
        run = Run(folder, name, data, judge, _manifest(folder))
        if run.table.is_file():
            yield run


def _manifest(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
