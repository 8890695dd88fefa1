"""Every preset in conf/experiment/paper runs, and docs/papers.md names no command, file or test that is not there."""

import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from analysis.published import printed
from analysis.studies import STUDIES
from experiments import __main__ as command
from experiments import report
from experiments.complaints import choices
from experiments.configuration import conf_folder

CHECKOUT = Path(__file__).parents[2]
PAPERS, METRICS = ((CHECKOUT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("papers", "metrics"))
ROWS = [
    (preset, re.findall(r"`((?:tables|figures)/\w+)`", files), re.findall(r"`(\w+::\w+)`", checks))
    for _, preset, files, checks, _ in re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", PAPERS, re.M)
    if preset not in ("preset", "---")
]
"""Of the tables in docs/papers.md: preset, files, tests."""
CONF = conf_folder()
PRESETS = [name.removeprefix("paper/") for name in choices(CONF, "experiment") if name.startswith("paper/")]
JUDGE = ["judge=scripted", "engine=scripted", "bootstrap.replicates=0"]
PAIRS = [*JUDGE, "data=verifiable", "data.limit=2", "repeats=2"]
QUESTIONS = [*JUDGE, "model.script=accepts_all", "data=verifiable_qa", "data.limit=3"]
CAST = [f"{role}=[scripted,scripted:first]" for role in ("perturbers", "generators", "judges")]
TINY = {
    "trust": PAIRS,
    "judgebench": PAIRS[:-1],
    "swapref": [*QUESTIONS, "typer=rules", "writer=template"],
    "refsense": [*QUESTIONS, "generators=[scripted]"],
    "evalpair": [*JUDGE, "data=grounded_demo", "data.limit=4", *CAST, "labeller=scripted"],
}
"""What makes a preset small, by study: no model, no download, hardly any items."""


def run(*words):
    """The command, in this process."""
    command.FAILED.clear()
    before, sys.argv = sys.argv, ["experiments/__main__.py", *words]
    try:
        return command.main()
    finally:
        sys.argv = before


def composed(preset):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(
            compose("config", [f"experiment=paper/{preset}"], return_hydra_config=True), resolve=False
        )


def labels(root):
    """Grades by two people of the answers that a run has had written."""
    (path,) = root.glob("refsense/*/*/stages/answers.csv")
    answers = pd.read_csv(path, dtype=str, keep_default_na=False)
    grades = {"human": [*"CIC"], "human_2": [*"CII"]}
    path = root / "labels.csv"
    answers[["item", "generator"]].assign(**grades).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module", params=PRESETS)
def reported(request, tmp_path_factory):
    """A preset, its root, and the report that was made there."""
    preset, root = request.param, tmp_path_factory.mktemp(request.param)
    study = preset.partition("_")[0]
    words = [f"+paper={preset}", *TINY[study], f"root={root}"]
    if preset == "refsense_table1":
        assert run(*words, "stage=answers") == 0
        words.append(f"labels={labels(root)}")
    assert run(*words) == 0
    if preset == "trust_table1":  # An analysis of variance needs judges to vary over.
        assert run(*words, "model.name=other") == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_write_page", lambda *args, **more: None)  # It has tests of its own.
        assert report.main([f"experiment={study}", f"root={root}", "replicates=0"]) == 0
    return preset, study, root


def test_every_preset_runs_and_makes_what_the_document_says(reported):
    preset, study, root = reported
    told = [file for name, files, _ in ROWS if name == preset for file in files]
    assert told
    for file in told:
        kind, name = file.split("/")
        if kind == "figures":
            assert name in STUDIES[study].figures
        else:
            assert (root / study / "report" / f"{file}.tex").is_file(), file


def test_every_metric_of_a_preset_is_documented(reported):
    _, study, root = reported
    section = re.search(rf"^## {study}\n(.*?)(?=^## )", METRICS, re.M | re.S)[1]
    told = set(re.findall(r"`([^`]+)`", section))
    found = pd.read_csv(root / study / "report" / "metrics.csv")["metric"].unique()
    assert len(found) and not set(found) - told


@pytest.mark.parametrize("study", sorted({name.partition("_")[0] for name in PRESETS}))
def test_every_printed_table_has_a_row(study):
    section = re.search(rf"^## {study}:(.*?)(?=^## |\Z)", PAPERS, re.M | re.S)[1].casefold()
    assert f"report experiment={study}" in section
    listed = set(re.findall(r"[\d.a-c]*\d", " ".join(re.findall(r"(?:tables?|appendix) ([^:|(;]*)", section))))
    figures = set(re.findall(r"\d+", " ".join(re.findall(r"figures? ([\d, and]*)", section))))
    for table in printed(study)["table"].unique() if study != "judgebench" else ():
        kind, _, number = table.rpartition(" ")
        assert table == "text" or number.casefold() in (figures if kind == "figure" else listed), table


def test_commands_in_the_document_are_commands():
    commands = re.findall(r"^python -m (.*?)(?:\s+#.*)?$", PAPERS, re.M)
    assert {word for line in commands for word in line.split() if word.startswith("+paper=")} == {
        f"+paper={name}" for name in PRESETS
    }
    for line in commands:
        module, *words = line.split()
        keys = {word.partition("=")[0] for word in words if "=" in word}
        assert module in ("experiments", "experiments.report", "experiments.evalpair.review")
        known = {"+paper", "judge", "data", "labels", "dry_run", "hydra/launcher"}
        assert keys <= (known if module == "experiments" else {"experiment"}), line


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join([row[0], *row[1][:1]]))
def test_tests_named_in_the_document_exist(row):
    for named in row[2]:
        file, _, test = named.partition("::")
        (path,) = CHECKOUT.glob(f"tests/**/{file}.py")
        assert f"def {test}(" in path.read_text(encoding="utf-8"), named


@pytest.mark.parametrize("preset", PRESETS)
def test_a_presets_judges_and_data_sets_exist(preset):
    made = composed(preset)
    swept = made["hydra"]["sweeper"]["params"] or {}
    for key, group in (("judge", "judge"), ("data", "data")):
        assert set(swept.get(key, "").split(",")) - {""} <= set(choices(CONF, group))
    assert made["study"] == preset.partition("_")[0]


def test_designs_are_those_of_the_sources():
    """004, audit grid and appendix F; 000, section 3.4 and appendix B.3; 001, section 4; 003, sections 3 and 4."""
    trust, temperature = composed("trust_table1"), composed("trust_temperature")
    assert (trust["repeats"], trust["temperature"], len(trust["format"])) == (10, [0.0], 5)
    assert len(trust["hydra"]["sweeper"]["params"]["judge"].split(",")) == 6
    assert len(trust["hydra"]["sweeper"]["params"]["data"].split(",")) == 4
    assert temperature["temperature"] == [0.0, 0.5, 1.0]
    assert len(temperature["hydra"]["sweeper"]["params"]["judge"].split(",")) == 4
    swapref = composed("swapref_table3")
    assert len(swapref["hydra"]["sweeper"]["params"]["judge"].split(",")) == 13
    assert swapref["data"]["limit"] == 1000 and len(swapref["swap"]) == 5
    assert composed("refsense_table1")["reference"] == ["NR", "RV", "RVP", "RC", "RCP"]
    evalpair = composed("evalpair_table2")
    assert (evalpair["data"]["limit"], evalpair["data"]["seed"]) == (300, 17)
    assert (evalpair["bootstrap"]["seed"], len(evalpair["judges"])) == (20260627, 3)


def test_a_sweep_takes_the_judges_of_the_preset(tmp_path, capsys):
    """With -m alone every judge and data set of the paper is a point; dry_run asks none of them."""
    words = ["-m", "+paper=trust_table2", "judge=scripted,smollm2", "dry_run=true", *PAIRS[1:], f"root={tmp_path}"]
    assert run(*words) == 0
    said = capsys.readouterr().err
    assert said.count("nothing was asked") == 2


@pytest.mark.parametrize("word", ["+paper=trust_tabel1", "paper=trust_tabel1", "experiment=paper/trust_tabel1"])
def test_a_misspelt_preset_is_answered_with_the_nearest(word, capsys):
    assert run(word) == 2
    assert "did you mean 'paper/trust_table1'?" in capsys.readouterr().err
