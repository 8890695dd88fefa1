"""Runs a study in this process, from the words of its command to the files of its run folder."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from analysis import files
from analysis.verdicts import NAMES
from experiments.__main__ import run
from experiments.configuration import conf_folder

_TEXTS = ("item", "swapped", "answer", "text", "belief", "other")


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    folder: Path

    def stage(self, name):
        return files.load(
            self.folder / "stages" / f"{name}.csv", ("item", "swapped", "answer", "text", "belief", "other")
        )

    @property
    def verdicts(self):
        return files.load(self.folder / "verdicts.parquet", NAMES)

    @property
    def metrics(self):
        return pd.read_csv(self.folder / "metrics.csv", keep_default_na=False, na_values={"value": [""]})

    @property
    def notes(self):
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))["notes"]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """`study("swapref", "data=verifiable_qa", ...)` runs it on scripted engines and gives what it left."""

    def ran(name, *words, judge="scripted", data="verifiable_qa", root=tmp_path):
        words = [
            f"experiment={name}",
            f"judge={judge}",
            f"data={data}",
            f"root={root}",
            "bootstrap.replicates=0",
            *words,
        ]
        monkeypatch.setattr("sys.argv", ["experiments", *words])
        GlobalHydra.instance().clear()
        with initialize_config_dir(str(conf_folder()), version_base="1.3"):
            plain = OmegaConf.to_container(compose("config", list(words)), resolve=True)
        plain["data"]["label"] = data
        run(plain)
        return Ran(root / name / data / judge)

    return ran


@pytest.fixture
def knowledge(tmp_path):
    """A file of all facts of verifiable_qa, for a judge that believes in them."""
    from judges.data import load

    items = load("verifiable_qa").items
    path = tmp_path / "facts.csv"
    table = {"question": [i.question for i in items], "answers": [json.dumps(i.answers) for i in items]}
    files.save(pd.DataFrame(table), path)
    return path
