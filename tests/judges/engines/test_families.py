"""Each family through vLLM for real: two random layers beside the family's own tokenizer and chat template."""

import json
import shutil

import pytest

from judges.engines import Placement, TransformersSettings, VllmSettings, open_engine
from judges.engines.chat import Chat, load_tokenizer
from judges.engines.models import resolve_revision
from judges.records import Message, ModelSpec, Request, Sampling, UserError

CONVERSATION = (
    Message("system", "Be fair."),
    Message("user", "A?"),
    Message("assistant", "B"),
    Message("user", "Why?"),
)
QWEN = ["<|im_start|>", "system", "Ċ", "Be", "Ġfair", ".", "<|im_end|>", "Ċ", "<|im_start|>", "user", "Ċ", "A", "?"]
QWEN += ["<|im_end|>", "Ċ", "<|im_start|>", "assistant", "Ċ", "B", "<|im_end|>", "Ċ", "<|im_start|>", "user", "Ċ"]
QWEN += ["Why", "?", "<|im_end|>", "Ċ", "<|im_start|>", "assistant", "Ċ"]
LLAMA = [
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "system",
    "<|end_header_id|>",
    "ĊĊ",
    "Be",
    "Ġfair",
    ".",
    "<|eot_id|>",
]
LLAMA += ["<|start_header_id|>", "user", "<|end_header_id|>", "ĊĊ", "A", "?", "<|eot_id|>"]
LLAMA += ["<|start_header_id|>", "assistant", "<|end_header_id|>", "ĊĊ", "B", "<|eot_id|>"]
LLAMA += ["<|start_header_id|>", "user", "<|end_header_id|>", "ĊĊ", "Why", "?", "<|eot_id|>"]
LLAMA += ["<|start_header_id|>", "assistant", "<|end_header_id|>", "ĊĊ"]
GEMMA = ["<bos>", "<start_of_turn>", "user", "\n", "Be", "▁fair", ".", "\n\n", "A", "?", "<end_of_turn>", "\n"]
GEMMA += ["<start_of_turn>", "model", "\n", "B", "<end_of_turn>", "\n", "<start_of_turn>", "user", "\n", "Why", "?"]
GEMMA += ["<end_of_turn>", "\n", "<start_of_turn>", "model", "\n"]

SHOWN = {
    "qwen3": [
        ({"template_args": {"enable_thinking": True}}, QWEN),
        ({"template_args": {"enable_thinking": False}}, [*QWEN, "<think>", "ĊĊ", "</think>", "ĊĊ"]),
    ],
    "llama3_1": [({"template_args": {"date_string": "26 Jul 2024"}}, LLAMA)],
    "gemma3": [({"system": "template"}, GEMMA), ({"system": "merge"}, GEMMA)],
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_template_shows_what_the_family_prescribes_token_by_token(family, name):
    tokenizer = load_tokenizer(family(name), False)
    for options, expected in SHOWN[name]:
        ids = Chat(tokenizer, ModelSpec(name, "1", **options)).encode([CONVERSATION])[CONVERSATION]
        assert tokenizer.convert_ids_to_tokens(ids) == expected


@pytest.mark.vllm
@pytest.mark.parametrize("name", SHOWN)
def test_vllm_shows_the_model_exactly_that(tiny, name, monkeypatch):
    from vllm import LLMEngine

    shown = []
    submit = LLMEngine.add_request

    def record(engine, identity, prompt, params):
        shown.append(prompt["prompt_token_ids"])
        return submit(engine, identity, prompt, params)

    monkeypatch.setattr(LLMEngine, "add_request", record)
    placement = Placement(str(tiny(name)))
    options, expected = SHOWN[name][-1]
    model = ModelSpec(name, resolve_revision(placement), dtype="float32", context=256, **options)
    engine = open_engine(model, placement, VllmSettings(cpu_cache_gib=1, separate_process=False))
    [(_, completion)] = engine.generate([Request(model, CONVERSATION, Sampling(4), labels=("A", "B"))])
    engine.close()
    assert [load_tokenizer(tiny(name), False).convert_ids_to_tokens(ids) for ids in shown] == [expected]
    assert completion.prompt_tokens == len(expected) and completion.completion_tokens > 0
    assert set(completion.label_logprobs) == {"A", "B"}


@pytest.mark.parametrize("name", SHOWN)
def test_transformers_serves_the_family_too(tiny, name):
    options, expected = SHOWN[name][0]
    placement = Placement(str(tiny(name)))
    model = ModelSpec(name, resolve_revision(placement), dtype="float32", context=256, **options)
    engine = open_engine(model, placement, TransformersSettings())
    asked = [Request(model, CONVERSATION[:n], Sampling(4)) for n in (2, 4)]
    answers = dict((len(request.messages), completion) for request, completion in engine.generate(asked))
    engine.close()
    assert answers[4].prompt_tokens == len(expected) and answers[2].completion_tokens > 0


@pytest.mark.parametrize("kind", [pytest.param("vllm", marks=pytest.mark.vllm), "transformers"])
def test_a_base_model_is_refused_before_its_weights_are_loaded(tiny, kind, tmp_path):
    folder = shutil.copytree(tiny("qwen3"), tmp_path / "base")
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    written = json.loads((folder / "tokenizer_config.json").read_text())
    written.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(written))
    (folder / "model.safetensors").write_bytes(b"no weights")
    placement = Placement(str(folder))
    settings = {"vllm": VllmSettings(cpu_cache_gib=1, separate_process=False), "transformers": TransformersSettings()}[
        kind
    ]
    with pytest.raises(UserError, match="no chat template"):
        open_engine(ModelSpec("base", resolve_revision(placement)), placement, settings)
