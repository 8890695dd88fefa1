"""The examples in docs/extend.md, run as they stand there."""

import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import judges.data
from analysis import studies
from experiments import __main__ as command
from experiments.configuration import conf_folder
from experiments.settings import Model
from judges.ask import carry_out
from judges.formats import FORMATS
from judges.judge import PairwiseJudge
from judges.prompts import load as prompt
from judges.records import Factors, ModelSpec, Trial
from judges.store import Store

CHECKOUT = Path(__file__).parents[2]
TEXT = (CHECKOUT / "docs" / "extend.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", TEXT, re.S))
TEMPLATE = re.search(r"```text\n(.*?)```", TEXT, re.S)[1].strip()
PETS = [
    {"id": "1", "question": "Do cats purr?", "right": "Yes.", "wrong": "No."},
    {"id": "2", "question": "Do dogs meow?", "right": "No.", "wrong": "Yes."},
]


@pytest.fixture
def made(monkeypatch):
    """Runs a block as the module whose file it names; returns it."""

    def make(file, name=None):
        module = ModuleType(name or file.removesuffix(".py").replace("/", "."))
        exec(compile(BLOCKS[file], file, "exec", dont_inherit=True), vars(module))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    return make


@pytest.fixture
def pets(made, monkeypatch, tmp_path):
    monkeypatch.setitem(judges.data.LOADERS, "pets", made("judges/data/pets.py").read)
    folder = tmp_path / "pets"
    folder.mkdir()
    (folder / "pets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PETS))
    return folder


def config(*overrides):
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        return OmegaConf.to_container(compose("config", [*overrides]), resolve=True)


def test_the_judge():
    found = Model.model_validate(config()["model"] | yaml.safe_load(BLOCKS["conf/judge/aya-expanse-8b.yaml"]))
    assert (found.name, found.label, found.system) == ("aya-expanse-8b", "aya-expanse-8b", "template")


@pytest.mark.parametrize(
    ("text", "winner"),
    [("So: **B**", "B"), ("**A** and again **A**", "A"), ("**A**, or **B**", None), ("A", None), ("", None)],
)
def test_the_format(made, text, winner):
    assert made("judges/formats.py", "starred").read_starred(text).winner == winner


def test_the_data_set_the_engine_and_the_format_together(made, pets, monkeypatch, tmp_path):
    monkeypatch.setitem(FORMATS, "starred", made("judges/formats.py", "starred").STARRED)
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "starred.txt").write_text(TEMPLATE)
    items = judges.data.load("pets", pets).items
    assert [item.answers for item in items] == [("Yes.", "No."), ("No.", "Yes.")]
    engine = made("judges/engines/parrot.py").Parrot()
    judge = PairwiseJudge(ModelSpec("parrot", ""), {"starred": prompt("pairwise", "starred", templates)}, None, 0)
    trials = [Trial(item, Factors(format="starred", order=order)) for item in items for order in ("AB", "BA")]
    with Store(tmp_path / "store") as store:
        answers = carry_out(judge, trials, engine, store)
    engine.close()
    assert [answer.result.winner for answer in answers] == ["A", "B", "A", "B"]
    assert {c.engine for answer in answers for c in answer.completions} == {"parrot 1"}


def test_a_data_set_that_is_not_there(pets):
    with pytest.raises(judges.data.UserError, match="on no hub"):
        judges.data.load("pets")


def test_the_study(made, pets, monkeypatch, tmp_path):
    monkeypatch.setitem(studies.STUDIES, "places", made("analysis/places.py").PLACES)
    monkeypatch.setitem(command.STUDIES, "places", made("experiments/places.py").__name__)
    common = {k: v for k, v in config("judge=scripted", "engine=scripted", "engine.script=first").items()}
    trust = yaml.safe_load((conf_folder() / "experiment" / "trust.yaml").read_text())
    own = yaml.safe_load(BLOCKS["conf/experiment/places.yaml"])
    data = yaml.safe_load(BLOCKS["conf/data/pets.yaml"]) | {"path": str(pets), "label": "pets"}
    kept = {key: value for key, value in common.items() if key not in trust and key != "stage"}
    command.run(kept | own | {"data": data, "root": str(tmp_path), "bootstrap": {"replicates": 50}})
    found = pd.read_csv(tmp_path / "places" / "pets" / "scripted" / "metrics.csv")
    assert found[["metric", "value", "n"]].to_numpy().tolist() == [["first", 1.0, 4]]
    assert (tmp_path / "places" / "pets" / "scripted" / "tables" / "places.md").is_file()


def test_the_citation_is_of_this_version_and_names_nobody_who_is_not_there():
    """Citation File Format 1.2.0: what it requires, and that nothing is made up."""
    told = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["cff-version"] == "1.2.0" and {"message", "title", "authors"} <= told.keys()
    assert told["authors"] == [{"name": "voirdire contributors"}] and "doi" not in told
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (told["version"], told["license"]) == (project["version"], project["license"])
    assert "## [Unreleased]" in (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_file_and_link_that_is_named_is_there():
    for page in sorted((CHECKOUT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            assert "://" in link or (page.parent / link).exists(), (page.name, link)
        for name in re.findall(r"`((?:analysis|judges|experiments|conf|tests|slurm)/[\w./-]+)`", text):
            assert name in BLOCKS or "starred" in name or (CHECKOUT / name).exists(), (page.name, name)
