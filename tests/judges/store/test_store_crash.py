"""Real processes, killed with SIGKILL at random moments."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judges.records import Completion, Message, ModelSpec, Request, Sampling
from judges.store import Store
from judges.store.compact import compact
from judges.store.stats import verify

ROOT = Path(__file__).parents[3]
PRELUDE = """
import os, sys, time
from pathlib import Path
from judges.records import *
from judges.store import Store
from judges.store.compact import compact
folder, first, step = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def request(i):
    return Request(ModelSpec("tiny/judge", "main"), (Message("user", str(i)),), Sampling(8))
"""
# Says that it is ready, waits for the word to go, and says each number only after its put has returned.
PUT = """
store = Store(folder)
os.write(1, b"-1\\n")
sys.stdin.readline()
for i in range(first, 10**6, step):
    store.put(request(i), Completion(f"answer {i} " + "x" * (i * 7919 % 5000)))
    os.write(1, b"%d\\n" % i)
"""
PUT_SOME = PUT.replace("10**6", "300") + "store.close()\n"
COMPACT = """
os.write(1, b"-1\\n")
sys.stdin.readline()
while True:
    with Store(folder) as store:
        store.put(request(first), Completion(f"answer {first}"))
    first += step
    compact(folder)
"""


def request(i: int) -> Request:
    return Request(ModelSpec("tiny/judge", "main"), (Message("user", str(i)),), Sampling(8))


Start = Callable[[str, Path, int, int], subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes, none of which outlives the test."""
    with contextlib.ExitStack() as running:

        def start(code: str, folder: Path, first: int, step: int) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", PRELUDE + code, str(folder), str(first), str(step)]
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            running.enter_context(process)
            running.callback(process.kill)
            return process

        yield start


def go(processes: list[subprocess.Popen[bytes]]) -> None:
    """Lets all begin at once when each is ready."""
    for process in processes:
        assert process.stdout and os.read(process.stdout.fileno(), 3) == b"-1\n"
    for process in processes:
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.flush()


def said(process: subprocess.Popen[bytes]) -> list[int]:
    """Waits for the end and returns the numbers whose puts had returned."""
    out, _ = process.communicate()
    return [int(line) for line in out.split()]


def killed(processes: list[subprocess.Popen[bytes]], after: float) -> list[list[int]]:
    go(processes)
    time.sleep(after)
    for process in processes:
        process.send_signal(signal.SIGKILL)
    return [said(process) for process in processes]


def answers(folder: Path, numbers: list[int]) -> dict[int, str]:
    found = Store(folder, readonly=True).read(request(i).key for i in numbers)
    return {i: found[request(i).key].text.split(" x")[0].strip() for i in numbers if request(i).key in found}


@pytest.mark.parametrize("seed", range(6))
def test_kill_9_of_several_writers_loses_no_call_that_was_stored(tmp_path: Path, start: Start, seed: int) -> None:
    chance = random.Random(seed)
    stored = 0
    for _ in range(2):
        writers = [start(PUT, tmp_path, first, 3) for first in range(3)]
        put = [i for numbers in killed(writers, chance.uniform(0.001, 0.1)) for i in numbers]
        assert answers(tmp_path, put) == {i: f"answer {i}" for i in put}
        stored += len(put)
    found = verify(tmp_path)
    assert stored > 0
    assert not any(file.damaged for file in found)
    assert all(file.file.kind == "open.jsonl" for file in found)
    before = answers(tmp_path, list(range(3000)))
    assert not compact(tmp_path).left
    assert answers(tmp_path, list(range(3000))) == before


def test_writers_side_by_side_and_a_reader_among_them(tmp_path: Path, start: Start) -> None:
    writers = [start(PUT_SOME, tmp_path, first, 4) for first in range(4)]
    reader = Store(tmp_path)
    keys = [request(i).key for i in range(300)]
    go(writers)
    missing = len(keys)
    while any(writer.poll() is None for writer in writers):
        reader.refresh()
        before, missing = missing, len(reader.missing(keys))
        assert missing <= before
        assert len(reader.read(keys)) >= 300 - missing
    assert sorted(i for writer in writers for i in said(writer)) == list(range(300))
    reader.refresh()
    assert reader.missing(keys) == []
    assert answers(tmp_path, list(range(300))) == {i: f"answer {i}" for i in range(300)}
    assert len(list(tmp_path.glob("*.jsonl"))) == 4 and not list(tmp_path.glob("*.open.jsonl"))


@pytest.mark.parametrize("seed", range(6))
def test_kill_9_while_compacting_loses_nothing(tmp_path: Path, start: Start, seed: int) -> None:
    with Store(tmp_path) as store:
        for i in range(500):
            store.put(request(i), Completion(f"answer {i}"))
    chance = random.Random(seed)
    reader = Store(tmp_path)
    for _ in range(2):
        killed([start(COMPACT, tmp_path, 1000 + seed, 1)], chance.uniform(0, 0.4))
        assert answers(tmp_path, list(range(500))) == {i: f"answer {i}" for i in range(500)}
        assert len(reader.read(request(i).key for i in range(500))) == 500
    assert not compact(tmp_path).left
    assert len(os.listdir(tmp_path)) == 2, "the note and one file; drafts of the killed are gone"
    assert answers(tmp_path, list(range(500))) == {i: f"answer {i}" for i in range(500)}


def test_readers_and_writers_go_on_while_two_others_compact(tmp_path: Path, start: Start) -> None:
    with Store(tmp_path) as store:
        for i in range(500):
            store.put(request(i), Completion(f"answer {i}"))
    # Two that compact at once may get in each other's way and say so; they must not lose anything.
    patient = COMPACT.replace("    compact(folder)", "    try:\n        compact(folder)\n    except UserError: pass")
    compacting = [start(patient, tmp_path, 10_000 * n, 1) for n in (1, 2)]
    writer = start(PUT, tmp_path, 2000, 1)
    reader = Store(tmp_path)
    keys = [request(i).key for i in range(500)]
    go([*compacting, writer])
    for _ in range(40):
        assert len(reader.read(keys)) == 500
        reader.refresh()
        assert reader.missing(keys) == []
    for process in (*compacting, writer):
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    put = said(writer)
    for process in compacting:
        said(process)
    assert len(put) > 10
    assert answers(tmp_path, put) == {i: f"answer {i}" for i in put}


def test_a_forked_child_writes_a_shard_of_its_own(tmp_path: Path, start: Start) -> None:
    code = """
store = Store(folder)
store.put(request(0), Completion("answer 0"))
if os.fork() == 0:
    store.put(request(1), Completion("answer 1"))
    store.close()
    os._exit(0)
os.wait()
store.put(request(2), Completion("answer 2"))
store.close()
"""
    assert start(code, tmp_path, 0, 1).wait() == 0
    assert answers(tmp_path, [0, 1, 2]) == {i: f"answer {i}" for i in range(3)}
    assert len(list(tmp_path.glob("*.jsonl"))) == 2 and not list(tmp_path.glob("*.open.jsonl"))


@pytest.mark.parametrize("seed", range(4))
def test_an_interrupted_writer_closes_and_has_stored_what_it_said(tmp_path: Path, start: Start, seed: int) -> None:
    code = "try:" + PUT.replace("\n", "\n    ") + "\nexcept KeyboardInterrupt:\n    store.close()\n"
    process = start(code, tmp_path, 0, 1)
    go([process])
    time.sleep(random.Random(seed).uniform(0.001, 0.05))
    process.send_signal(signal.SIGINT)
    put = said(process)
    assert process.returncode == 0
    assert answers(tmp_path, put) == {i: f"answer {i}" for i in put}
    (found,) = verify(tmp_path)
    assert found.file.kind == "jsonl" and not found.damaged and not found.torn
