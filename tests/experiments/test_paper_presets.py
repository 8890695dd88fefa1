"""Every preset in conf/experiment/paper runs, and the documents name no command, file or number that is not there."""

import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from experiments import __main__ as command
from experiments import report
from experiments.complaints import choices
from experiments.configuration import conf_folder

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


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_runs_and_its_study_has_a_report(preset, tmp_path, monkeypatch, capsys):
    study = preset.partition("_")[0]
    assert run(f"+paper={preset}", *TINY[study], f"root={tmp_path}") == 0, capsys.readouterr().err
    (folder,) = (path.parent for path in tmp_path.glob(f"{study}/*/*/manifest.json"))
    assert (folder / "metrics.csv").is_file() and (folder / "tables").is_dir()
    from experiments import report_page

    monkeypatch.setattr(report, "_write_page", lambda *a, **k: None)  # The page has tests of its own.
    assert report_page and report.main([f"experiment={study}", f"root={tmp_path}", "replicates=0"]) == 0
    assert any((tmp_path / study / "report" / "tables").iterdir())


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
