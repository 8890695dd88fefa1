"""Fetches data files from the Hugging Face hub into its own cache; knows nothing of their content."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from judges.records import UserError

OFFLINE = "Without a network, put the files into a folder and give data.path=FOLDER."


def fetch(repo: str, files: Sequence[str], revision: str = "main") -> Iterator[tuple[Path, str]]:
    """Downloads files of a hub data set, all from the commit that `revision` named for the first of them.

    Yields:
        Each file's path in the hub's cache, and its origin, `hub:REPO@COMMIT`.

    Raises:
        UserError: in the hub's own words, when it cannot be reached or refuses.
    """
    for file in files:
        path = _download(repo, file, revision)
        revision = path.parts[path.parts.index("snapshots") + 1]
        yield path, f"hub:{repo}@{revision}"


def listing(repo: str, revision: str = "main") -> tuple[str, list[str]]:
    """The commit that `revision` names in a hub data set, and the names of the files in it.

    Raises:
        UserError: in the hub's own words, when it cannot be reached or refuses.
    """
    import huggingface_hub

    try:
        told = huggingface_hub.HfApi().dataset_info(repo, revision=revision, timeout=60)
    except Exception as error:  # Which HTTP client's errors these are changes with the version of the hub's library.
        raise UserError(f"The hub data set {repo} could not be listed: {error}\n{OFFLINE}") from None
    return told.sha or revision, sorted(file.rfilename for file in told.siblings or ())


def _download(repo: str, file: str, revision: str) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return Path(huggingface_hub.hf_hub_download(repo, file, repo_type="dataset", revision=revision))
    except (EntryNotFoundError, OSError) as error:
        said = "\n".join(str(e).strip() or type(e).__name__ for e in (error, error.__cause__) if e)
        raise UserError(f"{file} of the hub data set {repo} could not be had: {said}\n{OFFLINE}") from None
