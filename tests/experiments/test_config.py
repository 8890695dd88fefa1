import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from experiments import complaints
from experiments.__main__ import STUDIES, conf_folder

CONF = conf_folder()
SETTINGS = {name: import_module(module).Settings for name, module in STUDIES.items()}


def composed(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        plain = OmegaConf.to_container(compose("config", [*overrides, "+data.label=x"]), resolve=True)
    return SETTINGS[plain["study"]].model_validate(plain)


def command(*arguments, cwd=None):
    run = [sys.executable, "-m", "experiments", *arguments]
    return subprocess.run(run, capture_output=True, text=True, cwd=cwd or Path(__file__).parents[2])


@pytest.mark.parametrize("judge", complaints.choices(CONF, "judge"))
def test_every_judge_composes(judge):
    model = composed(f"judge={judge}").model
    assert model.name == judge
    assert model.context >= 4096
    assert model.revision == "main"  # nothing is pinned that was not seen


@pytest.mark.parametrize("group", ["data", "engine", "experiment"])
def test_every_choice_composes(group):
    for choice in complaints.choices(CONF, group):
        composed(f"{group}={choice}")


def test_every_study_has_its_yaml():
    assert sorted(STUDIES) == complaints_studies()


def complaints_studies():
    return sorted(composed(f"experiment={e}").study for e in complaints.choices(CONF, "experiment") if "/" not in e)


def test_judges_of_the_studies_are_there():
    assert {
        *("llama-3.1-8b", "llama-3.1-70b", "llama-3.3-70b", "qwen2.5-7b", "qwen2.5-32b", "qwen2.5-72b"),
        *("qwen3-4b", "qwen3-4b-thinking", "qwen3-30b", "qwen3-30b-thinking", "gemma-3-27b", "gemma-2-27b"),
    } <= set(complaints.choices(CONF, "judge"))


def test_family_needs():
    assert composed("judge=gemma-2-9b").model.system == "merge"
    assert composed("judge=llama-3.3-70b").model.template_args["date_string"]
    assert composed("judge=qwen3-32b").model.template_args == {"enable_thinking": False}
    assert composed("judge=qwen3-30b-thinking").model.thinking.close == "</think>"


REWARD_MODELS = {
    *("skywork-reward-gemma-2-27b", "skywork-reward-llama-3.1-8b", "skywork-reward-llama-3.1-8b-v0.2", "grm-gemma-2b"),
    *("internlm2-7b-reward", "internlm2-20b-reward", "skywork-reward-v2-llama-3.1-8b", "skywork-reward-v2-qwen3-0.6b"),
}


def test_reward_models_are_there_and_only_those_that_need_it_run_their_own_code():
    assert complaints.choices(CONF, "judge").count("auto-j-13b") == 1
    own = {judge for judge in REWARD_MODELS if composed(f"judge={judge}", "engine=reward").model.trust_remote_code}
    assert own == {"internlm2-7b-reward", "internlm2-20b-reward"}
    every = complaints.choices(CONF, "judge")
    assert {judge for judge in every if composed(f"judge={judge}").model.trust_remote_code} == own


@pytest.mark.parametrize("experiment", ["trust", "judgebench"])
def test_a_reward_model_is_asked_for_a_score_whatever_the_format(experiment):
    settings = composed("engine=reward", f"experiment={experiment}", "format=[direct,cot_xml]")
    assert settings.asked == (("reward", "score"),)


def test_a_fine_tuned_judges_format_is_one_of_the_formats():
    settings = composed("judge=prometheus-7b", "format=prometheus")
    assert settings.asked == (("pairwise", "prometheus"),) and settings.model.system == "merge"


def test_one_value_stands_for_a_list():
    settings = composed("format=direct", "temperature=1", "order=AB")
    assert (settings.format, settings.temperature, settings.order) == (("direct",), (1.0,), ("AB",))


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["experiment=trst"], "no experiment is called 'trst'; did you mean 'trust'?"),
        (["judge=smollm"], "no judge is called 'smollm'; did you mean 'smollm2'?"),
        (["data=judgbench"], "did you mean 'judgebench'?"),
        (["dta=verifiable"], "there is no key 'dta'; did you mean 'data'?"),
        (["repeat=3"], "there is no key 'repeat'; did you mean 'repeats'?"),
        (["model.pth=x"], "there is no key 'model.pth'; did you mean 'model.path'?"),
        (["data.limt=3"], "did you mean 'data.limit'?"),
        (["+surprise=1"], "there is no key 'surprise' in this configuration"),
        (["repeats=x"], "repeats: Input should be a valid integer"),
        (["repeats=0"], "repeats: Input should be greater than 0"),
        (["format=[drect]"], "format.0: no format is called 'drect'; did you mean 'direct'?"),
        (["format=[]"], "format: "),
        (["temperature=3"], "temperature.0: Input should be less than or equal to 2"),
        (["unreadable=tie"], "unreadable: Input should be 'drop' or 'fail'"),
        (["engine.eagr=true"], "did you mean 'engine.eager'?"),
        (["engine=reward", "temperature=[0,1]"], "a reward model writes nothing that temperature could change"),
        (["engine=reward", "paradigm=[direct,flask]", "data.limit=2"], "can't judge by ['flask']"),
        (["repeats=[1"], "can't read the command"),
        (["data.path=/nowhere", "data=judgebench", "engine=scripted"], "/nowhere"),
        (["prompt.path=/nowhere", "engine=scripted"], "no *.txt templates there"),
        (["model.path=/nowhere"], "/nowhere"),
    ],
)
def test_mistakes_are_named_without_a_traceback(overrides, said, tmp_path):
    done = command(*overrides, f"root={tmp_path}")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_help_lists_the_choices():
    done = command("--help")
    assert done.returncode == 0
    for word in ("smollm2", "llama-3.3-70b", "verifiable", "judgebench", "trust", "vllm", "data.path="):
        assert word in done.stdout


def test_nothing_heavy_is_imported_for_help_or_a_mistake():
    script = (
        "import sys; sys.argv=['x','repeats=x']; from experiments.__main__ import main; main();"
        "print([m for m in ('torch','vllm','transformers','pandas','scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
