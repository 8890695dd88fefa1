"""Disks that are full, read-only or broken; folders that are something else."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from judges.records import Completion, Message, ModelSpec, Request, Sampling, UserError
from judges.store import Store
from judges.store.compact import compact
from judges.store.stats import verify

ROOT = Path(__file__).parents[3]


def request(i: int) -> Request:
    return Request(ModelSpec("tiny/judge", "main"), (Message("user", str(i)),), Sampling(8))


def filled(folder: Path, n: int) -> Path:
    """A store of one closed shard with calls 0 to n - 1; returns the shard."""
    with Store(folder) as store:
        for i in range(n):
            store.put(request(i), Completion(f"answer {i}"))
    (shard,) = folder.glob("*.jsonl")
    return shard


def held(folder: Path, n: int) -> list[int]:
    """The calls among 0 to n - 1 that a store opened anew can read."""
    found = Store(folder, readonly=True).read(request(i).key for i in range(n))
    return [i for i in range(n) if request(i).key in found]


def mounted(folder: Path, *options: str) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    done = (
        subprocess.run(["mount", *options, folder], capture_output=True, text=True) if shutil.which("mount") else None
    )
    if done is None or done.returncode:
        pytest.skip(f"cannot mount a file system here: {done.stderr.strip() if done else 'no mount command'}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=64k", "tmpfs")


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A store with calls 0 to 2 on a read-only file system."""
    filled(tmp_path / "locked", 3)
    for folder in mounted(tmp_path / "locked", "--bind", str(tmp_path / "locked")):
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield folder


def test_every_cut_of_the_last_record_loses_that_record_only(tmp_path: Path) -> None:
    shard = filled(tmp_path, 3)
    whole = shard.read_bytes()
    last = whole.rindex(b'{"key"')
    for end in range(last, len(whole)):
        shard.write_bytes(whole[:end])
        assert held(tmp_path, 3) == [0, 1]
    assert verify(tmp_path)[0].torn and verify(tmp_path)[0].records == 2


def test_duckdb_reads_a_torn_shard_in_one_line(tmp_path: Path) -> None:
    shard = filled(tmp_path, 3)
    shard.write_bytes(shard.read_bytes()[:-20])
    rows = duckdb.sql(f"select text from read_json('{tmp_path}/*.jsonl', ignore_errors=true)").fetchall()
    assert rows[:2] == [("answer 0",), ("answer 1",)]


def test_a_new_writer_begins_its_own_shard_beside_a_torn_one(tmp_path: Path) -> None:
    shard = filled(tmp_path, 3)
    shard.write_bytes(torn := shard.read_bytes()[:-20])
    with Store(tmp_path) as store:
        assert store.missing([request(2).key]) == [request(2).key]
        store.put(request(2), Completion("again"))
    assert shard.read_bytes() == torn
    assert held(tmp_path, 3) == [0, 1, 2]


@pytest.mark.parametrize(
    "garbage",
    [b"\0" * 100, b"\xff\xfe\n\x80", b'{"key": "cut', b"[]", b"null", b"{}", b'{"x":' + b"[" * 5000, b"", b'"a"\r'],
)
def test_garbage_in_the_middle_is_passed_over_and_counted(tmp_path: Path, garbage: bytes) -> None:
    shard = filled(tmp_path, 3)
    lines = shard.read_bytes().splitlines(keepends=True)
    shard.write_bytes(b"".join([lines[0], garbage + b"\n", *lines[1:]]))
    assert held(tmp_path, 3) == [0, 1, 2]
    (found,) = verify(tmp_path)
    assert found.records == 3 and not found.torn
    assert found.damaged == tuple(range(2, 2 + garbage.count(b"\n") + 1))
    assert compact(tmp_path).records == 3
    assert held(tmp_path, 3) == [0, 1, 2]


def test_text_that_is_no_utf8_is_a_damaged_line_not_a_crash(tmp_path: Path) -> None:
    shard = filled(tmp_path, 3)
    shard.write_bytes(shard.read_bytes().replace(b"answer 1", b"answer \xff"))
    assert held(tmp_path, 3) == [0, 2]
    assert verify(tmp_path)[0].damaged == (2,)


def test_a_damaged_parquet_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    into = compact(tmp_path).into
    assert into
    content = bytearray(into.path.read_bytes())
    for broken in (content[: len(content) // 2], content[:200] + bytes([content[200] ^ 255]) + content[201:]):
        into.path.write_bytes(broken)
        (found,) = verify(tmp_path)
        assert found.records == 0 and into.path.name in found.unreadable
        with pytest.raises(UserError, match=r"cannot be read: .* move it out of the folder"):
            held(tmp_path, 3)
    into.path.rename(tmp_path.parent / into.path.name)
    assert held(tmp_path, 3) == []


def test_a_newer_store_says_who_wrote_it(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    (tmp_path / "store.json").write_text(json.dumps({"format": 2, "written_by": "voirdire 9.1"}))
    with pytest.raises(UserError, match=r"format 2, written by voirdire 9\.1; .* Upgrade voirdire"):
        Store(tmp_path)


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", '{"format": "new"}', "\0"])
def test_an_unreadable_note_is_named(tmp_path: Path, note: str) -> None:
    (tmp_path / "store.json").write_text(note)
    with pytest.raises(UserError, match=r"store\.json does not say which format"):
        Store(tmp_path)


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"is not a completion store: it holds 'thesis\.tex'"):
        Store(tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_file_in_place_of_the_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "store").touch()
    with pytest.raises(UserError, match=r"cannot open the store .*: Not a directory"):
        Store(tmp_path / "store")


def test_reading_where_there_is_no_store_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no completion store"):
        Store(tmp_path / "typo", readonly=True)


def test_a_folder_that_becomes_unwritable_before_the_first_put_is_a_clear_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "store")
    (tmp_path / "a").write_text("a file now")
    with pytest.raises(UserError, match=r"cannot store a completion in .*: Not a directory"):
        store.put(request(1), Completion("x"))


def test_a_read_only_file_system_is_read_and_refuses_to_store(locked: Path) -> None:
    with Store(locked) as store:
        assert len(store.read(request(i).key for i in range(5))) == 3
        with pytest.raises(UserError, match=r"cannot store a completion in .*: Read-only file system"):
            store.put(request(3), Completion("x"))
        with pytest.raises(UserError, match=r"cannot compact .*: Read-only file system"):
            compact(locked)
    assert held(locked, 5) == [0, 1, 2]


def test_a_full_disk_keeps_what_was_stored_and_goes_on_once_there_is_room(small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(16 * 1024))
    store = Store(small_disk / "store")
    stored = 0
    with pytest.raises(UserError, match=r"No space left on device\. All completions before it are kept"):
        while True:
            store.put(request(stored), Completion("x" * 1000))
            stored += 1
    assert stored > 10
    assert held(small_disk / "store", stored + 5) == list(range(stored))
    assert store.missing([request(stored).key]) == [request(stored).key]
    assert not verify(small_disk / "store")[0].torn
    (small_disk / "ballast").unlink()
    store.put(request(stored), Completion("y" * 1000))
    store.close()
    assert held(small_disk / "store", stored + 5) == list(range(stored + 1))
    assert not any(found.damaged or found.torn for found in verify(small_disk / "store"))


def test_compacting_on_a_full_disk_leaves_everything_as_it_was(small_disk: Path) -> None:
    filled(small_disk / "store", 30)
    before = sorted(os.listdir(small_disk / "store"))
    with (small_disk / "ballast").open("wb", buffering=0) as ballast, pytest.raises(OSError, match="No space"):
        while True:
            ballast.write(bytes(1024))
    with pytest.raises(UserError, match=r"cannot compact .*: No space left on device"):
        compact(small_disk / "store")
    assert sorted(os.listdir(small_disk / "store")) == before
    assert held(small_disk / "store", 30) == list(range(30))


FILL = """
import resource, sys
from pathlib import Path
from judges.records import *
from judges.store import Store
def put(i):
    request = Request(ModelSpec("tiny/judge", "main"), (Message("user", str(i)),), Sampling(8))
    store.put(request, Completion(f"answer {i}"))
store, i = Store(Path(sys.argv[1])), 0
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
try:
    while i < 1000:
        put(i)
        i += 1
except UserError as e:
    print(i, e)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(i)
"""


def test_a_write_that_stops_half_way_is_cut_back(tmp_path: Path) -> None:
    if resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY:
        pytest.skip("the size of files is limited here already")
    done = subprocess.run([sys.executable, "-c", FILL, tmp_path], cwd=ROOT, capture_output=True, text=True, check=True)
    stored = int(done.stdout.split()[0])
    assert stored > 10 and "File too large. All completions before it are kept." in done.stdout
    assert held(tmp_path, 1000) == list(range(stored + 1))
    (found,) = verify(tmp_path)
    assert not found.damaged and not found.torn


def test_a_shard_removed_under_its_writer_is_followed_by_another(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put(request(0), Completion("a"))
        next(tmp_path.glob("*.open.jsonl")).unlink()
        store.put(request(1), Completion("b"))
        store.put(request(2), Completion("c"))
    assert held(tmp_path, 3) == [1, 2]


def test_the_commands_report_damage_and_fail(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "judges.store", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    shard = filled(tmp_path, 3)
    assert run("verify", str(tmp_path)).returncode == 0
    shard.write_bytes(b"garbage\n" + shard.read_bytes() + b'{"key":')
    done = run("verify", str(tmp_path))
    assert done.returncode == 1
    assert "3 records; 1 damaged lines, passed over: 1; an unfinished last line" in done.stdout
    done = run("stats", str(tmp_path / "typo"))
    assert done.returncode == 1 and done.stderr.startswith("error: there is no completion store")
