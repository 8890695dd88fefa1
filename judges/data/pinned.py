"""Fetches single files whose hash is known, once, into the user's cache; knows nothing of their content."""

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path

from judges.records import UserError


def fetch(address: str, name: Path, sha256: str) -> Path:
    """The cached file `name`, downloaded from `address` if it is not there or is not the one with this hash.

    Args:
        address: where the file is, at a commit that never changes.
        name: where it goes below the cache folder, `$XDG_CACHE_HOME/voirdire`.
        sha256: of its content, 64 hex digits.

    Raises:
        UserError: it cannot be had or written, or is another file than the one pinned.
    """
    file = _cache() / name
    if not file.exists() or _hash(file.read_bytes()) != sha256:
        _download(address, file, sha256)
    return file


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voirdire"


def _download(address: str, file: Path, sha256: str) -> None:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise UserError(
            f"{address} could not be had: {error}\nWithout a network, clone the repository and give data.path=FOLDER."
        ) from None
    if _hash(content) != sha256:
        raise UserError(f"{address} is not the pinned file: its sha256 is {_hash(content)}, expected {sha256}.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(file)
    except OSError as error:
        raise UserError(
            f"{file} cannot be written: {error.strerror}. Set XDG_CACHE_HOME to a folder that can."
        ) from None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
