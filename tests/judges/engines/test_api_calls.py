"""From a request to the body of a call and from a reply's body to a completion, without any endpoint."""

import json
import math
from datetime import UTC, datetime

import pytest
from fake_endpoint import chat, said

from judges.engines import Endpoint, Price
from judges.engines import api_anthropic as anthropic
from judges.engines import api_openai as openai
from judges.engines.api_budget import Budget, dearest, prompt_tokens
from judges.engines.api_failures import Again, Reply, failure, wait_asked, words
from judges.engines.api_provider import is_served
from judges.records import Constraint, Message, ModelSpec, Request, Sampling, UserError

OPENAI, COMPATIBLE, VLLM, CLAUDE = (
    Endpoint(dialect, "https://host/v1") for dialect in ("openai", "compatible", "vllm", "anthropic")
)
FIXED = Endpoint("openai", "https://host/v1", temperature="fixed")
SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["A", "B"]}}, "required": ["verdict"]}
TURNS = (Message("system", "Be fair."), Message("user", "A or B?"))


def request(temperature=0.0, top_p=1.0, constraint=None, labels=(), label_after="", **spec):
    sampling = Sampling(16, temperature, top_p)
    model = ModelSpec("m", "", **spec)
    return Request(model, TURNS, sampling, labels=labels, constraint=constraint, label_after=label_after)


def test_all_that_matters_is_said_and_nothing_else():
    messages = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "A or B?"}]
    body = {"model": "m", "messages": messages, "temperature": 0.0}
    assert openai.arguments(request(), COMPATIBLE) == body | {"max_tokens": 16}
    assert openai.arguments(request(), OPENAI) == body | {"max_completion_tokens": 16}
    assert openai.arguments(request(), VLLM) == body | {"max_tokens": 16}
    assert anthropic.arguments(request(), CLAUDE) == {
        "model": "m",
        "max_tokens": 16,
        "system": "Be fair.",
        "messages": messages[1:],
        "temperature": 0.0,
    }


def test_no_temperature_where_the_model_takes_none():
    assert not {"temperature", "top_p"} & openai.arguments(request(1.0, 0.9), FIXED).keys()
    assert "temperature" not in anthropic.arguments(request(), Endpoint("anthropic", temperature="fixed"))


def test_sampled_calls_have_seeds_of_their_own_on_vllm_only():
    sampled = request(1.0)
    assert openai.arguments(sampled, VLLM)["seed"] == sampled.call_seed
    assert "seed" not in openai.arguments(sampled, OPENAI)
    assert "seed" not in openai.arguments(request(), VLLM)


def test_a_system_message_is_merged_where_the_model_has_no_place_for_it():
    for module, endpoint in ((openai, COMPATIBLE), (anthropic, CLAUDE)):
        body = module.arguments(request(system="merge"), endpoint)
        assert [m["content"] for m in body["messages"]] == ["Be fair.\n\nA or B?"] and "system" not in body


def test_reasoning_effort_is_sent_and_makes_another_request():
    hard = request(reasoning_effort="high")
    assert openai.arguments(hard, OPENAI)["reasoning_effort"] == "high"
    assert anthropic.arguments(hard, CLAUDE)["output_config"] == {"effort": "high"}
    assert hard.key != request().key


def test_a_schema_is_asked_for_as_each_endpoint_has_it():
    schema = request(constraint=Constraint("json", json.dumps(SCHEMA)))
    asked = openai.arguments(schema, OPENAI)["response_format"]
    assert asked["type"] == "json_schema" and asked["json_schema"]["schema"] == SCHEMA
    assert openai.arguments(schema, VLLM)["structured_outputs"] == {"json": json.dumps(SCHEMA)}
    assert anthropic.arguments(schema, CLAUDE)["output_config"]["format"]["schema"] == SCHEMA


def test_what_an_endpoint_would_pass_over_is_not_sent():
    choice = request(constraint=Constraint("choice", '["A", "B"]'))
    assert openai.arguments(choice, VLLM)["structured_outputs"] == {"choice": ["A", "B"]}
    for module, endpoint in ((openai, OPENAI), (openai, COMPATIBLE), (anthropic, CLAUDE)):
        with pytest.raises(ValueError, match="choice constraint"):
            module.arguments(choice, endpoint)
        with pytest.raises(ValueError, match="template_args"):
            module.arguments(request(template_args={"enable_thinking": False}), endpoint)
    with pytest.raises(UserError, match="gives no log-probabilities"):
        anthropic.arguments(request(labels=("A", "B")), CLAUDE)


def test_tokens_reasoning_and_text_are_kept_apart():
    answer = chat("A", usage=(100, 64, 40), reasoning="B errs.")
    completion = openai.read(request(), answer, 1.5, COMPATIBLE)
    assert (completion.text, completion.reasoning, completion.seconds) == ("A", "B errs.", 1.5)
    assert (completion.prompt_tokens, completion.cached_tokens, completion.completion_tokens) == (100, 64, 40)


def test_reasoning_that_is_counted_but_not_shown_is_noted():
    answer = chat("A")
    answer["usage"]["completion_tokens_details"] = {"reasoning_tokens": 192}
    completion = openai.read(request(), answer, 0, FIXED)
    assert completion.note == "192 tokens of reasoning, not shown" and completion.reasoning == ""
    assert completion.engine == "api host m temperature-not-sent"


def test_reasoning_that_the_total_alone_counts_is_paid_for():
    answer = chat("A", usage=(100, 0, 9))
    answer["usage"]["total_tokens"] = 100 + 9 + 300
    assert openai.read(request(), answer, 0, COMPATIBLE).completion_tokens == 309


def test_missing_counts_are_zero():
    completion = openai.read(request(), {**chat("A"), "usage": None}, 0, COMPATIBLE)
    assert (completion.prompt_tokens, completion.completion_tokens, completion.outcome) == (0, 0, "ok")


def top(**tokens):
    """One position of a reply's log-probabilities; the first token is the one that was written."""
    entries = [{"token": token, "logprob": math.log(p)} for token, p in tokens.items()]
    return {**entries[0], "top_logprobs": entries}


def test_labels_are_summed_and_what_was_not_shown_is_told():
    answer = chat("A")
    answer["choices"][0]["logprobs"] = {"content": [top(A=0.5, **{" A": 0.1}, B=0.2, The=0.1)]}
    completion = openai.read(request(labels=("A", "B")), answer, 0, COMPATIBLE)
    assert {k: round(math.exp(v), 9) for k, v in completion.label_logprobs.items()} == {"A": 0.6, "B": 0.2}
    assert completion.label_rest == pytest.approx(0.1)


def test_a_label_beyond_the_top_is_missing_not_zero():
    answer = chat("A")
    answer["choices"][0]["logprobs"] = {"content": [top(A=0.9, The=0.08)]}
    completion = openai.read(request(labels=("A", "B")), answer, 0, COMPATIBLE)
    assert list(completion.label_logprobs) == ["A"] and completion.label_rest == pytest.approx(0.02)


def test_labels_are_looked_up_where_the_verdict_stands():
    answer = chat('{"why": "A is bad", "verdict": "B"}')
    pieces = ['{"why": "', "A", " is bad", '", "', "verdict", '": "', "B", '"}']
    answer["choices"][0]["logprobs"] = {"content": [top(**{p: 0.7, "A" if p == "B" else "x": 0.2}) for p in pieces]}
    asked = request(labels=("A", "B"), label_after='"verdict": "')
    completion = openai.read(asked, answer, 0, COMPATIBLE)
    assert {k: round(math.exp(v), 9) for k, v in completion.label_logprobs.items()} == {"A": 0.2, "B": 0.7}
    no_place = openai.read(request(labels=("A", "B"), label_after="nowhere"), answer, 0, COMPATIBLE)
    assert no_place.label_logprobs is None


@pytest.mark.parametrize(
    ("stop", "outcome"),
    [
        ("end_turn", "ok"),
        ("stop_sequence", "ok"),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "refused"),
        ("pause_turn", "error"),
    ],
)
def test_why_claude_stopped(stop, outcome):
    completion = anthropic.read(said("A", stop=stop), 0, CLAUDE)
    assert (completion.outcome, completion.finish) == (outcome, stop)
    assert bool(completion.note) == (outcome in ("refused", "error"))


def test_a_reply_of_claude_without_content_is_an_error():
    assert anthropic.read({**said("A"), "content": []}, 0, CLAUDE).outcome == "error"


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("claude-sonnet-4-6", "claude-sonnet-4-6-20260217"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-pro", "gemini-2.5-pro-06-17"),
        ("gemini-2.0-flash", "gemini-2.0-flash-001"),
        ("gpt-4", "gpt-4-0613"),
        ("chatgpt-4o-latest", "chatgpt-4o-2025-03-27"),
        ("Org/Model", "org/model"),
        ("org/model:free", "org/model"),
    ],
)
def test_a_snapshot_goes_by_its_models_name(asked, served):
    assert is_served(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("gpt-4", "gpt-4-32k"),
        ("gpt-5", "gpt-5.2-2025-12-11"),
        ("claude-sonnet-4", "claude-sonnet-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("m", "n"),
    ],
)
def test_another_model_does_not(asked, served):
    assert not is_served(asked, served)


def test_a_pause_until_a_date():
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    assert wait_asked({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, now) == 30.0
    assert wait_asked({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, now) == 0.0
    assert wait_asked({}, now) is None


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"null", b"[]", b'"x"', b"{}", b"[[]]", b'{"error": null}', b"3"])
def test_whatever_an_error_holds_there_are_words_for_it(body):
    assert isinstance(words(body), str)
    with pytest.raises(Again):
        failure(Reply(500, body), COMPATIBLE, "m")


@pytest.mark.parametrize(
    "said_so",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "The decoder prompt (length 631) is longer than the maximum model length of 512.",
        "Your input exceeds the context window of this model.",
    ],
)
def test_an_overflow_in_each_providers_words(said_so):
    reply = Reply(400, json.dumps({"error": {"message": said_so}}).encode())
    assert failure(reply, COMPATIBLE, "m").outcome == "overflow"


def test_prices_by_hand():
    price = Price(input=2.0, output=8.0, as_of="2025-06-03", cached=0.5)
    assert price.of(1_000_000, 0, 0) == 2.0
    assert price.of(1_000_000, 1_000_000, 500_000) == 4.5
    assert Price(input=2.0, output=8.0, as_of="2025-06-03").of(1_000_000, 1_000_000, 0) == 2.0
    with pytest.raises(UserError, match="0 or more"):
        Price(input=-1.0, output=8.0, as_of="2025-06-03")


def test_an_estimate_counts_bytes_and_turns():
    assert prompt_tokens(request()) == pytest.approx((8 + 7) / 4 + 2 * 8)
    assert dearest(request(), Price(1e6, 1e6, "2025-01-01")) == (8 + 7) + 2 * 8 + 16


def test_a_budget_of_nothing_admits_nothing():
    assert not Budget(calls=0).admits(request(), None)
    assert not Budget(usd=0).admits(request(), Price(1.0, 1.0, "2025-01-01"))
    assert Budget().admits(request(), None)
