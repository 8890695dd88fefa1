import json
import math
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.records import Completion, Message, ModelSpec, Request, Sampling, UserError
from judges.store import Store
from judges.store.compact import compact

ROOT = Path(__file__).parents[3]
MODEL = ModelSpec("tiny/judge", "main")


def request(text: object = "", repeat: int = 0) -> Request:
    return Request(MODEL, (Message("user", str(text)),), Sampling(8), repeat)


FULL = Completion(
    "[[A]]",
    outcome="truncated",
    finish="length",
    reasoning="hm",
    prompt_tokens=7,
    cached_tokens=5,
    completion_tokens=3,
    seconds=0.25,
    label_logprobs={"A": -0.5, "B": -math.inf},
    label_rest=0.25,
    score=-2.5,
    engine="scripted 1",
    note="cut",
)


def test_a_new_store_misses_everything_in_order_and_each_key_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    keys = [request(i).key for i in (3, 1, 2)]
    assert store.missing([*keys, keys[0]]) == keys
    assert store.missing({r.key: r for r in map(request, (2, 1))}) == [request(2).key, request(1).key]
    assert not (tmp_path / "store").exists()


def test_what_is_put_is_there_at_once_and_after_opening_anew(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put(request(1), FULL)
        assert store.missing([request(1).key, request(2).key]) == [request(2).key]
        assert store.read([request(1).key]) == {request(1).key: FULL}
    assert store.read([request(1).key]) == {request(1).key: FULL}
    assert Store(tmp_path, readonly=True).read([request(1).key]) == {request(1).key: FULL}


def test_read_keeps_the_order_of_the_keys_and_leaves_out_what_it_lacks(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for i in range(5):
            store.put(request(i), Completion(f"answer {i}"))
        found = store.read(request(i).key for i in (4, 9, 0, 2, 4))
    assert [c.text for c in found.values()] == ["answer 4", "answer 0", "answer 2"]


def test_the_first_completion_of_a_key_stands(tmp_path: Path) -> None:
    one, two = Store(tmp_path), Store(tmp_path)
    two.put(request(1), Completion("by two, who opened last but answered first"))
    one.put(request(1), Completion("by one"))
    one.put(request(1), Completion("by one again"))
    one.close()
    two.close()
    for store in (two, Store(tmp_path)):
        assert store.read([request(1).key])[request(1).key].text.startswith("by two")


def test_an_error_is_asked_again_and_gives_way_to_an_answer(tmp_path: Path) -> None:
    key = request(1).key
    with Store(tmp_path) as store:
        store.put(request(1), Completion("", outcome="error", note="first"))
        store.put(request(1), Completion("", outcome="error", note="second"))
        assert store.missing([key]) == [key]
        assert store.read([key])[key].note == "second"
    with Store(tmp_path) as store:
        assert store.missing([key]) == [key]
        assert store.read([key])[key].note == "second"
        store.put(request(1), Completion("answer"))
        assert store.missing([key]) == []
    assert Store(tmp_path).read([key])[key].text == "answer"


@pytest.mark.parametrize("outcome", ["ok", "truncated", "overflow", "refused"])
def test_every_other_outcome_is_final(tmp_path: Path, outcome: str) -> None:
    with Store(tmp_path) as store:
        store.put(request(1), Completion("", outcome=outcome))  # type: ignore[arg-type]
    assert Store(tmp_path).missing([request(1).key]) == []


def test_refresh_takes_in_what_others_have_put(tmp_path: Path) -> None:
    reader, writer = Store(tmp_path), Store(tmp_path)
    for i in range(3):
        writer.put(request(i), Completion(str(i)))
        assert reader.missing([request(i).key]) == [request(i).key]
        reader.refresh()
        assert reader.missing([request(i).key]) == []
    writer.close()
    assert len(reader.read(request(i).key for i in range(3))) == 3


def test_a_store_opened_for_reading_refuses_to_put(tmp_path: Path) -> None:
    Store(tmp_path).put(request(1), FULL)
    with pytest.raises(UserError, match="opened for reading only"):
        Store(tmp_path, readonly=True).put(request(2), FULL)


any_text = st.text(st.characters(codec=None, categories=None), max_size=40)
completions = st.builds(
    Completion,
    text=any_text | st.just("a\0b") | st.just("\ufeff[[A]]\r\n\u2028"),
    outcome=st.sampled_from(["ok", "truncated", "overflow", "refused", "error"]),
    reasoning=any_text,
    note=any_text,
    prompt_tokens=st.integers(0, 2**40),
    seconds=st.floats(0, 1e9),
    label_logprobs=st.none()
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.floats(), max_size=4),
)


def whole(text: str) -> str:
    """Text as any file can hold it: pairs of surrogates joined, lone ones replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def same(a: Completion, b: Completion) -> bool:
    # repr, so that NaN equals NaN.
    texts = [[whole(t) for t in (c.text, c.reasoning, c.note)] for c in (a, b)]
    rest = [
        (c.outcome, c.prompt_tokens, c.seconds, c.label_logprobs is None, sorted((c.label_logprobs or {}).items()))
        for c in (a, b)
    ]
    return texts[0] == texts[1] and repr(rest[0]) == repr(rest[1])


@settings(deadline=None, max_examples=60)
@given(st.lists(completions, min_size=1, max_size=5))
def test_any_completion_comes_back_as_it_was_put_compacted_or_not(
    tmp_path_factory: pytest.TempPathFactory, answers: list[Completion]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    with Store(folder) as store:
        for i, answer in enumerate(answers):
            store.put(request(i), answer)
        own = store.read(request(i).key for i in range(len(answers)))
    lines = Store(folder).read(own)
    compact(folder)
    rows = Store(folder).read(own)
    assert len(own) == len(lines) == len(rows) == len(answers)
    for i, answer in enumerate(answers):
        assert all(same(found[request(i).key], answer) for found in (own, lines, rows))


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    key = request(1).key
    with Store(tmp_path) as store:
        store.put(request(1), Completion("a\ud800b", label_logprobs={"\udc00": -1.0}))
        found = store.read([key])[key]
    assert found == Completion("a\ufffdb", label_logprobs={"\ufffd": -1.0})


def test_duckdb_and_pandas_read_shards_and_the_compacted_file_in_one_line(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put(request(1), FULL)
        store.put(request(2, repeat=4), Completion("a\0b, ü", label_logprobs=None))
    identity, reply = ["key", "model", "repeat", "at"], ["outcome", "text", "finish", "reasoning"]
    cost = ["prompt_tokens", "cached_tokens", "completion_tokens", "seconds"]
    columns = identity + reply + cost + ["label_logprobs", "engine", "note", "score", "label_rest"]
    by_line = [
        pd.read_json(next(tmp_path.glob("*.jsonl")), lines=True, dtype=False),
        duckdb.sql(f"from read_json('{tmp_path}/*.jsonl')").df(),
    ]
    compact(tmp_path)
    by_row = [
        pd.read_parquet(next(tmp_path.glob("*.parquet"))),
        duckdb.sql(f"from read_parquet('{tmp_path}/*.parquet')").df(),
    ]
    for table in by_line + by_row:
        assert list(table.columns) == columns
        assert table["key"].tolist() == [request(1).key, request(2, repeat=4).key]
        assert table["text"].tolist() == ["[[A]]", "a\0b, ü"]
        assert table["repeat"].tolist() == [0, 4]
        assert pd.to_datetime(table["at"], utc=True).is_monotonic_increasing


def test_a_line_is_json_in_which_minus_infinity_is_a_word(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.put(request(1), FULL)
    (line,) = next(tmp_path.glob("*.jsonl")).read_text().splitlines()
    content = json.loads(line)
    assert next(iter(content)) == "key" and content["key"] == request(1).key
    assert content["label_logprobs"] == {"A": -0.5, "B": "-inf"}


def test_importing_the_store_loads_neither_pandas_nor_pyarrow() -> None:
    code = "import sys, judges.store; print(sorted({'pandas', 'pyarrow', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
