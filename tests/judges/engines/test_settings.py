from dataclasses import fields
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from pydantic import TypeAdapter, ValidationError

from judges.engines import OPENERS, Placement, Settings, VllmSettings
from judges.engines.vllm_setup import engine_arguments, environment
from judges.records import ModelSpec, UserError

CONF = Path(__file__).parents[3] / "conf"
MODEL = ModelSpec("m", "1")
BIG = Placement("m", tensor_parallel=4, pipeline_parallel=2)


@pytest.mark.parametrize("kind", OPENERS)
def test_every_engines_yaml_holds_its_defaults(kind):
    whole = OmegaConf.load(CONF / "config.yaml")  # Some values stand there, to be set whatever the engine.
    whole.engine = OmegaConf.load(CONF / "engine" / f"{kind}.yaml")
    written = OmegaConf.to_container(whole.engine, resolve=True)
    settings = TypeAdapter(Settings).validate_python(written)
    assert settings.kind == kind and settings == type(settings)()
    assert sorted(written) == sorted(field.name for field in fields(settings))


@pytest.mark.parametrize(
    "wrong", [{"gpu_memory": 1.5}, {"gpu_memory": 0}, {"max_sequences": 0}, {"cpu_reserved": -1}, {"cpu_cache_gib": 0}]
)
def test_settings_that_make_no_sense_are_named(wrong):
    [name] = wrong
    with pytest.raises(UserError, match=name):
        VllmSettings(**wrong)


def test_a_placement_needs_at_least_one_gpu():
    with pytest.raises(UserError, match="tensor_parallel"):
        Placement("m", tensor_parallel=0)


def test_a_misspelt_setting_is_an_error():
    with pytest.raises(ValidationError):
        TypeAdapter(Settings).validate_python({"kind": "vllm", "seed": True})


def test_a_gpu_compiles_and_chunks_and_has_a_process_of_its_own():
    arguments = engine_arguments(MODEL, Placement("m"), VllmSettings(), gpu=True)
    assert (arguments["enforce_eager"], arguments["enable_chunked_prefill"]) == (False, True)
    assert environment(Placement("m"), VllmSettings())["VLLM_ENABLE_V1_MULTIPROCESSING"] == "1"


def test_a_cpu_runs_eagerly_and_keeps_prompts_whole_for_seeded_draws():
    arguments = engine_arguments(MODEL, Placement("m"), VllmSettings(), gpu=False)
    assert (arguments["enforce_eager"], arguments["enable_chunked_prefill"]) == (True, False)


def test_a_model_over_several_gpus_has_processes_whatever_is_set():
    arguments = engine_arguments(MODEL, BIG, VllmSettings(), gpu=True)
    assert (arguments["tensor_parallel_size"], arguments["pipeline_parallel_size"]) == (4, 2)
    variables = environment(BIG, VllmSettings(separate_process=False))
    assert variables["VLLM_ENABLE_V1_MULTIPROCESSING"] == "1"


def test_nothing_is_left_to_the_models_own_generation_settings():
    assert engine_arguments(MODEL, BIG, VllmSettings(), gpu=True)["generation_config"] == "vllm"
