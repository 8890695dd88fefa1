"""The engine against an endpoint that misbehaves on purpose: the right outcome for each case, in bounded time."""

import asyncio
import email.utils
import subprocess
import sys
import threading
import time

import pytest
from fake_endpoint import chat, endpoint, refuses, said

from judges.engines import ApiSettings, Budget, Endpoint, Placement, Price, open_engine
from judges.engines.api import Api
from judges.records import Message, ModelSpec, Request, Sampling, UserError

KEY = "sk-planted-0123456789abcdef"
QUICK = {"timeout_s": 0.4, "attempts": 3, "backoff_s": 0.01}


def ask(*texts, model="m", max_tokens=8, **spec):
    return [Request(ModelSpec(model, "", **spec), (Message("user", text),), Sampling(max_tokens)) for text in texts]


def opened(url, requests, dialect="compatible", budget=None, price=None, key_env="", **settings):
    """An engine with times short enough for a test."""
    place = Placement("m", endpoint=Endpoint(dialect, url, key_env, price=price))
    return open_engine(requests[0].model, place, ApiSettings(**{**QUICK, **settings}), budget)


def answers(server, requests, **options):
    """The completions by what was asked."""
    engine = opened(server.url, requests, **options)
    return {r.messages[-1].content: c for r, c in engine.generate(requests)}


def stops(server, requests, **options):
    """What was answered before the engine gave up, and why it did."""
    engine, found = opened(server.url, requests, **options), []
    with pytest.raises(UserError) as stopped:
        for pair in engine.generate(requests):
            found.append(pair)
    assert stopped.value.__cause__ is None or KEY not in str(stopped.value.__cause__)
    return found, str(stopped.value)


async def hang(call):
    await asyncio.sleep(30)


def half(writer_of=None):
    async def write(writer):
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id": "c", "ch')
        await writer.drain()

    return write


async def drip(writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n")
    for _ in range(300):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def reset(writer):
    writer.transport.abort()


ONCE = {
    "fine": chat("A"),
    "no choices": {"id": "c", "model": "m", "choices": []},
    "filtered": chat("", finish="content_filter"),
    "refusal": chat(None, refusal="I can't help with that."),
    "cut": chat("A becau", finish="length"),
    "odd finish": chat("A", finish="tool_calls"),
    "HTML": (200, b"<html><h1>It works!</h1></html>"),
    "malformed": (200, b'{"id": "c", "choices": [{"mess'),
    "a list": (200, [1, 2]),
    "not a completion": {"hello": "world"},
    "no message": {"model": "m", "choices": [{"finish_reason": "stop"}]},
    "null content": chat(None),
    "too long": refuses("This model's maximum context length is 512 tokens.", code="context_length_exceeded"),
    "too large": (413, b"<html>413 Request Entity Too Large</html>"),
    "bad": refuses("Something about this one call."),
    "policy": refuses("The prompt was flagged", code="content_policy_violation"),
    "flagged": refuses("Input was flagged by moderation", status=403),
    "gateway says 422": {"error": {"message": "strange", "code": 422}},
}
"""Replies that settle a call at the first try."""
OUTCOMES = {
    **{name: "error" for name in ("no choices", "odd finish", "HTML", "malformed", "a list", "not a completion")},
    **{name: "error" for name in ("no message", "bad", "gateway says 422")},
    **{name: "refused" for name in ("filtered", "refusal", "policy", "flagged")},
    **{name: "overflow" for name in ("too long", "too large")},
    "fine": "ok",
    "null content": "ok",
    "cut": "truncated",
}


@pytest.fixture(scope="module")
def settled():
    with endpoint(lambda call: ONCE[call.asked]) as server:
        return answers(server, ask(*ONCE)), server.asked


@pytest.mark.parametrize("name", ONCE)
def test_what_came_back_is_told_apart(settled, name):
    completions, _ = settled
    assert completions[name].outcome == OUTCOMES[name], completions[name].note
    assert bool(completions[name].note) == (completions[name].outcome not in ("ok", "truncated"))


def test_what_was_answered_is_never_asked_again(settled):
    _, asked = settled
    assert asked == dict.fromkeys(ONCE, 1)


def test_every_completion_says_who_answered(settled):
    completions, _ = settled
    assert all(c.engine.startswith("api 127.0.0.1:") for c in completions.values())
    assert completions["fine"].engine.endswith(" m")


TRANSIENT = {
    "429": refuses("slow down", status=429),
    "429 with Retry-After": refuses("slow down", status=429, **{"retry-after": "0.2"}),
    "429 with a date": refuses("slow down", status=429, **{"retry-after": email.utils.formatdate(usegmt=True)}),
    "500": (500, b"<html>Internal Server Error</html>"),
    "502": (502, b""),
    "503": refuses("overloaded", status=503),
    "overloaded": (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "in a 200": {"error": {"message": "upstream is busy", "code": 502}},
    "hang": hang,
    "half a body": half(),
    "drip": drip,
    "reset": reset,
}


def misbehave(call):
    found = TRANSIENT[call.asked]
    return found(call) if found is hang else found


@pytest.fixture(scope="module")
def broken():
    with endpoint(misbehave) as server:
        began = time.monotonic()
        return answers(server, ask(*TRANSIENT)), server.asked, time.monotonic() - began


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_breaks_every_time_is_an_error_after_a_bounded_number_of_tries(broken, name):
    completions, asked, _ = broken
    assert completions[name].outcome == "error"
    assert completions[name].note.endswith("(tried 3 times)")
    assert asked[name] == 3


def test_all_of_that_ends_in_bounded_time(broken):
    assert broken[2] < 8


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_breaks_once_goes_well_the_next_time(name):
    with endpoint(lambda call: misbehave(call) if call.number == 0 else chat("B")) as server:
        completion = answers(server, ask(name))[name]
    assert (completion.text, completion.outcome, completion.note) == ("B", "ok", "")


def test_a_retry_after_is_waited_for_by_all_calls():
    times = []

    def answer(call):
        times.append(time.monotonic())
        return refuses("wait", status=429, **{"retry-after": "0.5"}) if call.number == 0 else chat("A")

    with endpoint(answer) as server:
        found = answers(server, ask(*"abcdef"), max_concurrency=1)
    assert [c.outcome for c in found.values()] == ["ok"] * 6
    assert times[1] - times[0] >= 0.5


def test_a_retry_after_beyond_patience_stops_the_judge():
    with endpoint(lambda call: refuses("wait", status=429, **{"retry-after": "3600"})) as server:
        _, why = stops(server, ask("x"))
    assert "pause of 3600 s" in why and "api.patience_s" in why


ENDS = {
    "401": (refuses(f"Incorrect API key provided: {KEY}.", status=401), "rejects the key in TEST_KEY"),
    "403": (refuses("Your region is not served", status=403), "rejects the key in TEST_KEY"),
    "402": (refuses("Payment required", status=402), "out of credit"),
    "quota": (refuses("You exceeded your current quota", status=429, code="insufficient_quota"), "out of credit"),
    "404": (refuses("The model `m` does not exist", status=404), "nothing for the model 'm'"),
    "unsupported": (refuses("temperature is not supported", code="unsupported_value"), "model.temperature=fixed"),
    "wrong model": (chat("A", model="another-model"), "answers as 'another-model' where 'm' was asked for"),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_no_call_can_get_past_stops_the_judge_at_once(name, monkeypatch):
    reply, said_so = ENDS[name]
    monkeypatch.setenv("TEST_KEY", KEY)
    with endpoint(lambda call: reply) as server:
        found, why = stops(server, ask(*map(str, range(200))), key_env="TEST_KEY")
        assert len(server.calls) < 60
    assert said_so in why and server.url in why
    assert KEY not in why and not found


def test_what_came_before_the_end_is_handed_on():
    def answer(call):
        return chat("A") if call.number < 10 else refuses("Payment required", status=402)

    with endpoint(answer) as server:
        found, why = stops(server, ask(*map(str, range(50))), max_concurrency=1)
    assert len(found) == 10 and "out of credit" in why


def test_an_endpoint_that_fails_every_call_is_left_alone():
    with endpoint(lambda call: refuses("strange", status=400)) as server:
        found, why = stops(server, ask(*map(str, range(500))))
        assert len(server.calls) < 100
    assert {c.outcome for _, c in found} == {"error"} and "in a row failed" in why


def test_nobody_there():
    with endpoint(lambda call: chat("A")) as server:
        pass
    found, why = stops(server, ask("x", "y"))
    assert not found and "nobody answers at http://127.0.0.1" in why


def test_a_snapshot_of_the_model_is_the_model():
    with endpoint(lambda call: chat("A", model="m-2025-08-07")) as server:
        assert answers(server, ask("x"))["x"].engine.endswith("m-2025-08-07")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_named(monkeypatch, value):
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(UserError, match="TEST_KEY is not set"):
        opened("http://127.0.0.1:1/v1", ask("x"), key_env="TEST_KEY")


def test_a_key_that_is_none_is_not_shown(monkeypatch):
    monkeypatch.setenv("TEST_KEY", "two words")
    with pytest.raises(UserError) as refused:
        opened("http://127.0.0.1:1/v1", ask("x"), key_env="TEST_KEY")
    assert "two words" not in str(refused.value)


def test_another_providers_key_is_not_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    for dialect in ("compatible", "anthropic"):
        with endpoint(lambda call: chat("A")) as server:
            answers(server, ask("x"), dialect=dialect)
            assert KEY not in str(server.calls[0].headers)


def test_a_key_that_is_echoed_goes_no_further(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with endpoint(lambda call: chat(f"Your key is {KEY}", reasoning_content=KEY)) as server:
        completion = answers(server, ask("x"), key_env="TEST_KEY")["x"]
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert completion.text == "Your key is $TEST_KEY" and completion.reasoning == "$TEST_KEY"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "http://me:secret@host/v1", "http://host/v1?key=secret"])
def test_an_address_that_is_none_or_says_too_much(url):
    with pytest.raises(UserError, match="base_url") as refused:
        opened(url, ask("x"))
    assert "secret" not in str(refused.value)


def test_a_caller_that_stops_listening_ends_the_calls():
    async def answer(call):
        await asyncio.sleep(0.02)
        return chat("A")

    requests = ask(*map(str, range(300)))
    with endpoint(answer) as server:
        listening = opened(server.url, requests).generate(requests)
        next(listening)
        listening.close()
        time.sleep(0.3)  # What was on its way has arrived.
        made = len(server.calls)
        time.sleep(0.2)
        assert len(server.calls) == made < 200
    assert not [t for t in threading.enumerate() if t.name == "api"]


# Budgets -------------------------------------------------------------------------------------------------------------

PRICE = Price(input=1000.0, output=1000.0, as_of="2025-01-01")


def test_a_number_of_calls_is_not_exceeded():
    with endpoint(lambda call: chat("A")) as server:
        found, why = stops(server, ask(*map(str, range(50))), budget=Budget(calls=12))
        assert len(server.calls) == 12
    assert len(found) == 12 and "budget.calls=12 is used up: 12 calls made" in why and "38 are left" in why


def test_a_sum_of_money_is_not_exceeded():
    budget = Budget(usd=1.0)
    with endpoint(lambda call: chat("A", usage=(6, 0, 4))) as server:
        found, why = stops(server, ask(*map(str, range(500))), budget=budget, price=PRICE)
    # 10 tokens a call, a thousandth of a dollar each; at its dearest a call may cost 19 thousandths.
    assert 0.975 <= budget.spent <= 1.0
    assert len(found) == round(budget.spent / 0.01) and "budget.usd=1 is used up" in why


def test_tries_that_no_reply_came_of_count_at_their_dearest():
    # "x" is a byte and at most 8 tokens around it, and at most 8 tokens come back: 17 thousandths a try.
    budget = Budget(usd=0.04)
    with endpoint(lambda call: reset) as server:
        found, why = stops(server, ask("x"), budget=budget, price=PRICE, attempts=8)
        assert len(server.calls) == 2
    assert not found and budget.lost == pytest.approx(0.034)
    assert "budget.usd=0.04 is used up" in why and "at most $0.0340 for tries that broke off" in why
    budget = Budget(calls=3)
    with endpoint(lambda call: reset) as server:
        _, why = stops(server, ask("x"), budget=budget, attempts=8)
        assert len(server.calls) == 3 and "budget.calls=3 is used up" in why


def test_a_call_turned_away_costs_nothing():
    budget = Budget(usd=0.04)
    with endpoint(lambda call: chat("A") if call.number > 5 else (429, b"", {})) as server:
        assert len(answers(server, ask("x"), budget=budget, price=PRICE, attempts=8)) == 1
    assert budget.lost == 0 and budget.made == 1


def test_a_budget_is_one_for_all_models_of_a_run():
    budget = Budget(calls=3)
    with endpoint(lambda call: chat("A", model=call.body["model"])) as server:
        assert len(answers(server, ask("a", "b", model="one"), budget=budget)) == 2
        found, _ = stops(server, ask("a", "b", model="two"), budget=budget)
    assert len(found) == 1


def test_a_budget_in_dollars_needs_a_price_before_any_call():
    with endpoint(lambda call: chat("A")) as server:
        with pytest.raises(UserError, match=r"budget\.usd=1 needs a price, and m has none"):
            opened(server.url, ask("x"), budget=Budget(usd=1))
        assert server.calls == []


# Concurrency ---------------------------------------------------------------------------------------------------------


def test_a_real_endpoint_is_kept_busy_without_being_told_how():
    room, calls, seconds = 10, 200, 0.1
    gate = {}

    async def answer(call):
        async with gate.setdefault("slots", asyncio.Semaphore(room)):
            await asyncio.sleep(seconds)
        return chat("A")

    requests = ask(*map(str, range(calls)))
    with endpoint(answer) as server:
        engine = opened(server.url, requests, timeout_s=30)
        began = time.monotonic()
        assert len(list(engine.generate(requests))) == calls
        took = time.monotonic() - began
        assert server.most_under_way >= room
    assert took < 4 * calls / room * seconds  # Twice as long is a busy machine, one at a time is forty times.


def test_claude_is_asked_in_its_own_way(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    requests = ask("x", model="claude-x", reasoning_effort="low")
    with endpoint(lambda call: said("A", thinking="Hm.", usage=(7, 3, 2, 5))) as server:
        base = server.url.removesuffix("/v1")
        [(_, completion)] = opened(base, requests, dialect="anthropic", key_env="TEST_KEY").generate(requests)
        call = server.calls[0]
    assert call.path == "/v1/messages"
    assert KEY in (call.headers.get("x-api-key", ""), call.headers.get("authorization", "").removeprefix("Bearer "))
    assert call.body["output_config"] == {"effort": "low"} and call.body["temperature"] == 0
    assert (completion.text, completion.reasoning, completion.outcome) == ("A", "Hm.", "ok")
    assert (completion.prompt_tokens, completion.cached_tokens, completion.completion_tokens) == (12, 3, 5)


def test_opening_asks_nothing_and_loads_no_client():
    engine = opened("http://127.0.0.1:1/v1", ask("x"))
    assert isinstance(engine, Api) and engine.fingerprint == "api 127.0.0.1:1"
    engine.close()
    code = "import judges.engines.api, sys; print({'openai', 'anthropic', 'tenacity', 'httpx'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_reply_may_be_long():
    requests = ask("x", model="claude-x", max_tokens=100_000)
    with endpoint(lambda call: said("A")) as server:
        [(_, completion)] = opened(server.url.removesuffix("/v1"), requests, dialect="anthropic").generate(requests)
        assert server.calls[0].body["max_tokens"] == 100_000
    assert completion.outcome == "ok"
