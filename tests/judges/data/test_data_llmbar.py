import gzip
import hashlib
import http.server
import json
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from judges.data import llmbar, load
from judges.records import UserError

REAL = Path(__file__).resolve().parents[4] / "shared/data/llmbar"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/llmbar is absent")


def instance(question="Say no.", first="no", second="yes", label=1):
    return {"input": question, "output_1": first, "output_2": second, "label": label}


CONTENT = {
    subset: json.dumps([instance(f"{subset} {i}", label=1 + i % 2) for i in range(3)]).encode()
    for subset in llmbar.SUBSETS
}


def lay(root, names, pack=lambda content: content, ending=""):
    for subset, content in CONTENT.items():
        file = root / (names(subset) + ending)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pack(content))
    return root


@pytest.mark.parametrize("pack", [(lambda content: content, ""), (gzip.compress, ".gz")], ids=["plain", "gz"])
@pytest.mark.parametrize(
    ("names", "below"),
    [(lambda s: f"{s}.json", "."), (llmbar.SUBSETS.get, "."), (llmbar.SUBSETS.get, "Dataset/LLMBar")],
    ids=["flat", "repository", "part of the repository"],
)
def test_layouts(tmp_path, names, below, pack):
    loaded = load("llmbar", lay(tmp_path, names, *pack) / below)
    assert [item.id for item in loaded.items[:4]] == [
        "natural-000",
        "natural-001",
        "natural-002",
        "adversarial_neighbor-000",
    ]
    assert {item.source for item in loaded.items} == set(llmbar.SUBSETS)
    assert (loaded.items[1].answers, loaded.items[1].gold, loaded.items[0].gold) == (("no", "yes"), "B", "A")
    assert [f["sha256"] for f in loaded.provenance["files"]] == [
        hashlib.sha256(content).hexdigest() for content in CONTENT.values()
    ]
    assert loaded.warnings == ()


@pytest.mark.parametrize("name", ["adversarial_manual.json", "Adversarial/Manual/dataset.json"])
def test_a_single_file(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(CONTENT["adversarial_manual"])
    loaded = load("llmbar", file)
    assert {item.source for item in loaded.items} == {"adversarial_manual"}
    assert len(loaded.warnings) == 4 and "nothing of the subset natural" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            json.dumps([instance(), instance(label=3)]).encode(),
            r"natural\.json\[1\]: the label '3' names no answer; it must be '1' or '2'",
        ),
        (json.dumps([instance(label="A")]).encode(), "the label 'A' names no answer"),
        (
            json.dumps([{"input": "x", "output_1": ""}]).encode(),
            r"natural\.json\[0\]: the field 'output_2' is missing; found 'input', 'output_1'",
        ),
        (json.dumps([instance(label=True)]).encode(), "the label 'True' names no answer"),
        (json.dumps([instance(), 7]).encode(), r"natural\.json\[1\]: expected a JSON object, found a number"),
        (json.dumps({"a": 1}).encode(), r"natural\.json: expected a JSON list of instances, found an object"),
        (json.dumps([instance()] * 9, indent=1).encode()[:-150], r"natural\.json:4\d: not valid JSON .* cut off"),
        (b'[\n{"input":\n"\xff"}]', r"natural\.json:3: not UTF-8"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, content, said):
    (tmp_path / "natural.json").write_bytes(content)
    with pytest.raises(UserError, match=said):
        load("llmbar", tmp_path)


def test_an_unknown_place_or_split(tmp_path):
    with pytest.raises(UserError, match=r"holds no LLMBar file; expected Dataset/LLMBar/Natural/dataset\.json"):
        load("llmbar", tmp_path)
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load("llmbar", tmp_path / "nowhere")
    with pytest.raises(UserError, match="llmbar has no splits"):
        load("llmbar", tmp_path, split="natural")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """The repository's raw files on loopback; the pinned hashes are those of the files it serves."""
    root = lay(tmp_path / "served", llmbar.SUBSETS.get)
    asked = []

    class Raw(http.server.SimpleHTTPRequestHandler):
        def log_request(self, *_):
            asked.append(self.path)

        def log_message(self, *_):
            pass

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(llmbar, "SHA256", {s: hashlib.sha256(c).hexdigest() for s, c in CONTENT.items()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Raw, directory=root)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(llmbar, "ORIGIN", f"http://127.0.0.1:{server.server_port}")
        yield root, tmp_path / "cache/voirdire/LLMBar" / llmbar.COMMIT, asked
        server.shutdown()


def test_downloads_once_and_records_where_from(repository):
    _, cache, asked = repository
    first, again = load("llmbar"), load("llmbar")
    assert first == again and len(first.items) == 15 and len(asked) == 5
    assert first.provenance["files"][0]["origin"] == f"{llmbar.ORIGIN}/Dataset/LLMBar/Natural/dataset.json"
    assert sorted(p.name for p in cache.rglob("*") if p.is_file()) == ["dataset.json"] * 5


def test_a_damaged_cache_is_fetched_again(repository):
    _, cache, asked = repository
    expected = load("llmbar")
    file = cache / llmbar.SUBSETS["natural"]
    file.write_bytes(file.read_bytes()[:50])
    assert load("llmbar") == expected and len(asked) == 6


def test_a_download_that_is_not_the_pinned_file_is_refused(repository):
    root, cache, _ = repository
    (root / llmbar.SUBSETS["natural"]).write_bytes(b"[]")
    with pytest.raises(UserError, match=r"Natural/dataset\.json is not the pinned file: its sha256 is"):
        load("llmbar")
    assert not cache.exists()


def test_a_download_that_breaks_off_says_what_to_do(repository, monkeypatch):
    _, cache, _ = repository
    handler = http.server.SimpleHTTPRequestHandler
    monkeypatch.setattr(handler, "copyfile", lambda _, source, out: out.write(source.read()[:20]))
    with pytest.raises(UserError, match=r"could not be had: (.|\n)*data\.path=FOLDER"):
        load("llmbar")
    assert not cache.exists()


def test_a_refused_download_says_what_to_do(repository):
    root, _, _ = repository
    (root / llmbar.SUBSETS["natural"]).unlink()
    with pytest.raises(UserError, match=r"Natural/dataset.json could not be had: .*404(.|\n)*data\.path=FOLDER"):
        load("llmbar")


def test_a_cache_that_cannot_be_written_is_named(repository, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(UserError, match=r"cannot be written: .*Set XDG_CACHE_HOME"):
        load("llmbar")


@needs_real
def test_real_instances_are_the_pinned_ones():
    loaded = load("llmbar", REAL)
    assert Counter(item.source for item in loaded.items) == {
        "natural": 100,
        "adversarial_neighbor": 134,
        "adversarial_gptinst": 92,
        "adversarial_gptout": 47,
        "adversarial_manual": 46,
    }
    assert [file["sha256"] for file in loaded.provenance["files"]] == list(llmbar.SHA256.values())
    assert Counter(item.gold for item in loaded.items if item.source == "natural") == {"A": 42, "B": 58}


@needs_real
def test_the_trust_papers_draw():
    sample = load("llmbar", REAL, limit=100, sample="uniform", balance=False).items
    assert set(Counter(item.source for item in sample).values()) == {20}
