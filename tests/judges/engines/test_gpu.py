"""What only a GPU can show; `make test-gpu` runs it on a machine that has one."""

import subprocess

import pytest

from judges.engines import VllmSettings, open_engine
from judges.records import Message, Request, Sampling

pytestmark = [pytest.mark.gpu, pytest.mark.vllm]


def requests(model, count=32):
    words = "Say which is larger, and why, in one sentence"
    return [Request(model, (Message("user", f"{words}: {i} or {2 * i + 1}?"),), Sampling(64)) for i in range(count)]


def used_mib():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return max(map(int, subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()))


def texts(engine, asked):
    return {request.key: completion.text for request, completion in engine.generate(asked)}


def test_a_compiled_engine_answers_and_gives_its_memory_back(smollm2):
    before = used_mib()
    engine = open_engine(*smollm2, VllmSettings(gpu_memory=0.3))
    try:
        assert " gpu " in engine.fingerprint
        assert " compiled" in engine.fingerprint
        assert all(texts(engine, requests(smollm2[0])).values())
        assert used_mib() > before + 1000
    finally:
        engine.close()
    assert used_mib() < before + 500


def test_batch_invariant_texts_do_not_depend_on_the_batch(smollm2):
    engine = open_engine(*smollm2, VllmSettings(gpu_memory=0.3, batch_invariant=True))
    try:
        asked = requests(smollm2[0])
        together = texts(engine, asked)
        alone = {}
        for request in asked:
            alone |= texts(engine, [request])
    finally:
        engine.close()
    assert alone == together
