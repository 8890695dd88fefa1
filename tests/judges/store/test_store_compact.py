import os
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judges.records import Completion, Message, ModelSpec, Outcome, Request, Sampling
from judges.store import Store, parquet
from judges.store.__main__ import main
from judges.store.compact import compact
from judges.store.stats import stats


def request(i: int, model: str = "tiny/judge") -> Request:
    return Request(ModelSpec(model, "main"), (Message("user", str(i)),), Sampling(8))


def put(folder: Path, answers: dict[int, str], outcome: Outcome = "ok") -> None:
    with Store(folder) as store:
        for i, text in answers.items():
            store.put(request(i), Completion(text, outcome=outcome))


def texts(store: Store, n: int) -> dict[int, str]:
    found = store.read(request(i).key for i in range(n))
    return {i: found[request(i).key].text for i in range(n) if request(i).key in found}


def test_compacting_keeps_every_answer_and_leaves_one_file(tmp_path: Path) -> None:
    put(tmp_path, {0: "a", 1: "b"})
    put(tmp_path, {2: "c"})
    done = compact(tmp_path)
    assert done.records == 3 and len(done.merged) == 2 and not done.left
    assert done.into and sorted(os.listdir(tmp_path)) == sorted([done.into.path.name, "store.json"])
    assert texts(Store(tmp_path), 5) == {0: "a", 1: "b", 2: "c"}


def test_compacting_again_takes_in_what_is_new_and_else_does_nothing(tmp_path: Path) -> None:
    put(tmp_path, {0: "a"})
    first = compact(tmp_path)
    assert compact(tmp_path).into is None
    put(tmp_path, {1: "b"})
    second = compact(tmp_path)
    assert first.into in second.merged and second.records == 2
    assert texts(Store(tmp_path), 5) == {0: "a", 1: "b"}


def test_errors_that_an_answer_followed_and_doubles_are_dropped(tmp_path: Path) -> None:
    put(tmp_path, {0: "", 1: "", 2: "older"}, "error")
    put(tmp_path, {2: "newer"}, "error")
    one, two = Store(tmp_path), Store(tmp_path)
    two.put(request(0), Completion("first"))
    one.put(request(0), Completion("second"))
    one.put(request(1), Completion("answer"))
    one.close()
    two.close()
    before = texts(Store(tmp_path), 3)
    assert compact(tmp_path).records == 3
    after = Store(tmp_path)
    assert before == texts(after, 3) == {0: "first", 1: "answer", 2: "newer"}
    assert after.missing(request(i).key for i in range(3)) == [request(2).key]


def test_the_shard_of_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, {0: "a"})
    with Store(tmp_path) as store:
        store.put(request(1), Completion("b"))
        done = compact(tmp_path)
        assert [file.kind for file in done.left] == ["open.jsonl"] and done.records == 1
        store.put(request(2), Completion("c"))
        assert texts(store, 3) == {0: "a", 1: "b", 2: "c"}
    assert texts(Store(tmp_path), 3) == {0: "a", 1: "b", 2: "c"}


def foreign(folder: Path, hours_silent: float) -> Path:
    """Makes the only shard look like one that a process on another host has open."""
    (shard,) = folder.glob("*.jsonl")
    opened = shard.name.split("-")[0]
    moved = shard.rename(folder / f"{opened}-othernode-1-00000000.open.jsonl")
    then = moved.stat().st_mtime - hours_silent * 3600
    os.utime(moved, (then, then))
    return moved


def test_an_open_shard_of_another_host_waits_for_a_day_of_silence(tmp_path: Path) -> None:
    put(tmp_path, {0: "a"})
    shard = foreign(tmp_path, 23.5)
    assert [file.path for file in compact(tmp_path).left] == [shard]
    assert compact(tmp_path, stale_hours=23).records == 1
    assert not shard.exists()


def test_a_writer_whose_silent_shard_was_merged_loses_nothing(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put(request(0), Completion("a"))
        then = next(tmp_path.glob("*.open.jsonl")).stat().st_mtime - 3600 * 30
        os.utime(next(tmp_path.glob("*.open.jsonl")), (then, then))
        assert compact(tmp_path).records == 1
        store.put(request(1), Completion("b"))
        assert texts(store, 2) == {0: "a", 1: "b"}
    assert texts(Store(tmp_path), 2) == {0: "a", 1: "b"}


def test_a_shard_that_grows_while_it_is_merged_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {0: "a"})
    shard = foreign(tmp_path, 30)
    put(tmp_path / "other", {1: "b"})
    late = next((tmp_path / "other").glob("*.jsonl")).read_bytes()
    true_rename = Path.rename

    def rename(path: Path, target: Path) -> Path:
        shard.write_bytes(shard.read_bytes() + late)
        return true_rename(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    compact(tmp_path)
    monkeypatch.undo()
    assert shard.exists()
    assert texts(Store(tmp_path), 2) == {0: "a", 1: "b"}


def test_a_store_that_was_open_meanwhile_reads_on(tmp_path: Path) -> None:
    put(tmp_path, {0: "a", 1: "b"})
    reader, watcher = Store(tmp_path), Store(tmp_path)
    put(tmp_path, {2: "c"})
    compact(tmp_path)
    assert texts(reader, 2) == {0: "a", 1: "b"}
    watcher.refresh()
    assert watcher.missing(request(i).key for i in range(4)) == [request(3).key]


def test_any_rows_are_read_from_many_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 16)
    put(tmp_path, {i: str(i) for i in range(100)})
    done = compact(tmp_path)
    assert done.into and pq.ParquetFile(done.into.path).num_row_groups == 7
    chosen = [99, 0, 15, 16, 17, 64, 98]
    found = Store(tmp_path).read(request(i).key for i in chosen)
    assert [c.text for c in found.values()] == [str(i) for i in chosen]


def test_small_shards_are_gathered_in_row_groups_of_full_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS", 16)
    for shard in range(10):
        put(tmp_path, {shard * 5 + i: "x" for i in range(5)})
    done = compact(tmp_path)
    assert done.into
    lengths = pq.ParquetFile(done.into.path).metadata
    assert [lengths.row_group(g).num_rows for g in range(lengths.num_row_groups)] == [20, 20, 10]


def test_stats_add_up_by_model_outcome_and_engine_in_both_formats(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for i in range(4):
            answer = Completion(
                "x", prompt_tokens=10, cached_tokens=4, completion_tokens=i, seconds=0.5, engine="e1" if i else "e2"
            )
            store.put(request(i), answer)
        store.put(request(9), Completion("", outcome="error"))
        store.put(request(9), Completion("", outcome="overflow"))
    by_line = stats(tmp_path)
    assert [(t.outcome, t.engine, t.completions) for t in by_line] == [
        ("ok", "e1", 3),
        ("ok", "e2", 1),
        ("overflow", "", 1),
    ]
    assert (by_line[0].prompt_tokens, by_line[0].cached_tokens, by_line[0].completion_tokens) == (30, 12, 6)
    assert by_line[0].seconds == 1.5
    compact(tmp_path)
    assert stats(tmp_path) == by_line


def test_an_empty_store_has_empty_stats(tmp_path: Path) -> None:
    put(tmp_path, {})
    assert stats(tmp_path) == []


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {0: "a", 1: "b"})
    assert main(["stats", str(tmp_path)]) == 0
    assert re.search(r"tiny/judge +ok +2 ", capsys.readouterr().out)
    with Store(tmp_path) as store:
        store.put(request(2), Completion("c"))
        assert main(["compact", str(tmp_path)]) == 0
        out = capsys.readouterr().out
        assert "merged 1 files into" in out and "2 completions" in out and "left alone" in out
    assert main(["verify", str(tmp_path)]) == 0
    assert "3 records in 2 files" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["compact", "--help"])
    help_text = capsys.readouterr().out
    assert "STALE_HOURS" in help_text and "default: 24" in help_text
