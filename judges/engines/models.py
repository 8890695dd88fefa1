"""Where a model's weights are and which ones they are: local folders, hub models, weights in a package."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from judges.engines import smollm2
from judges.engines.settings import Placement
from judges.records import UserError

_PACKAGE = "package:"
_WHOLE = 1 << 20
_SAMPLES = 16
_BLOCK = 4096
_UNNEEDED = ["original/*", "*.pth", "*.gguf", "*.onnx", "*.h5", "*.msgpack", "consolidated*"]


def resolve_revision(placement: Placement, wanted: str = "main") -> str:
    """What exactly would be served: goes into `ModelSpec.revision`, hence into every request's key.

    Args:
        placement: where the weights are.
        wanted: branch, tag or commit of a hub model; ignored for folders and packages.

    Returns:
        A package's version, a folder's fingerprint, or a hub model's commit.

    Raises:
        UserError: there is no such model, or the hub refuses it.
    """
    if placement.path.startswith(_PACKAGE):
        _known_package(placement.path)
        return smollm2.revision()
    if (folder := Path(placement.path).expanduser()).is_dir():
        return revision_of(folder)
    return _hub_commit(placement.path, wanted)


def weights_folder(placement: Placement, revision: str) -> Path:
    """The local folder with the weights; converts or downloads them if need be.

    Raises:
        UserError: there is no such model, or the hub refuses it.
    """
    if placement.path.startswith(_PACKAGE):
        _known_package(placement.path)
        return smollm2.folder()
    if (folder := Path(placement.path).expanduser()).is_dir():
        return folder
    return _snapshot(placement.path, revision)


def revision_of(folder: Path) -> str:
    """A fingerprint of a model folder's content, in milliseconds whatever its size.

    Files up to 1 MiB count whole; of larger ones the size and 16 blocks spread evenly from the first byte to the last.

    Args:
        folder: holds `config.json` and weights.

    Returns:
        `folder-` and 16 hex digits; equal for a copy of the folder elsewhere.

    Raises:
        UserError: there is no `config.json` in it.
    """
    if not (folder / "config.json").is_file():
        raise UserError(f"{folder} is no model folder: it has no config.json")
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        for block in _blocks(path):
            digest.update(block)
    return f"folder-{digest.hexdigest()[:16]}"


def _blocks(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _WHOLE:
            yield file.read()
            return
        for i in range(_SAMPLES):
            file.seek((size - _BLOCK) * i // (_SAMPLES - 1))
            yield file.read(_BLOCK)


def _known_package(path: str) -> None:
    if path != _PACKAGE + smollm2.PACKAGE:
        raise UserError(f"model.path={path!r}: the only package with weights known here is {_PACKAGE}{smollm2.PACKAGE}")


def _hub_commit(repository: str, wanted: str) -> str:
    """The commit that a branch or tag stands for; without a connection, the one in the local cache."""
    if re.fullmatch(r"[0-9a-f]{40}", wanted):
        return wanted
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return str(HfApi().model_info(repository, revision=wanted, timeout=20).sha)
    except (HfHubHTTPError, HFValidationError) as error:
        raise _refused(repository, error) from error
    except Exception:  # No connection; its class depends on the HTTP library under the hub's client.
        return _snapshot(repository, wanted, offline=True).name


def _snapshot(repository: str, revision: str, offline: bool = False) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(repository, revision=revision, local_files_only=offline, ignore_patterns=_UNNEEDED)
        )
    except Exception as error:  # As above; whatever it is, the hub's own words say it best.
        raise _refused(repository, error) from error


def _refused(repository: str, error: Exception) -> UserError:
    return UserError(
        f"{repository} is no local folder and can't be had from the hub, which says: {error}\n"
        "For a gated model accept its terms on its page and log in with `hf auth login`; "
        "without a connection set model.path to a local folder"
    )
