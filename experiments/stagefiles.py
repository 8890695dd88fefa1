"""The tables of a pipeline as files, and which of them a person has edited since they were written."""

import hashlib
import json
import os
from pathlib import Path

import pandas as pd

from analysis import files
from judges.records import UserError


class StageFiles:
    """`stages/NAME.csv` in a run folder; a table in another format that `analysis.files` reads may stand in its place.

    What was written is remembered by its hash, in `stages/.written.json`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "stages"
        self._record = self._folder / ".written.json"

    def path(self, name: str) -> Path:
        """Where the table of a stage is written."""
        return self._folder / f"{name}.csv"

    def find(self, name: str) -> Path | None:
        """The file that holds a stage's table, if there is one.

        Raises:
            UserError: there are several.
        """
        named = (self._folder / f"{name}.{kind}" for kind in ("csv", "parquet", "jsonl"))
        found = [path for path in named if path.is_file()]
        if len(found) > 1:
            raise UserError(f"{' and '.join(map(str, found))} both hold the table of stage {name}; keep one of them")
        return found[0] if found else None

    def edited(self, name: str) -> Path | None:
        """The file of a stage, if it is not as it was written."""
        path = self.find(name)
        return path if path is not None and _hash(path) not in self._written().get(path.name, ()) else None

    def write(self, name: str, table: pd.DataFrame) -> Path:
        """Writes a stage's table and returns its file; no reader meets half of it."""
        path = self.path(name)
        part = path.with_name(f".{name}.{os.getpid()}.csv")  # Shards of one study write the same tables side by side.
        files.save(table, part, mark=True)  # People open these in spreadsheets, whatever the language.
        # Both hashes, so that a crash between the two moves below does not make the file look edited.
        both = [_hash(file) for file in (part, path) if file.is_file()]
        record = self._record.with_suffix(f".{os.getpid()}")
        record.write_text(json.dumps({**self._written(), path.name: both}, indent=1), encoding="utf-8")
        record.replace(self._record)
        part.replace(path)
        return path

    def _written(self) -> dict[str, list[str]]:
        try:
            found: dict[str, list[str]] = json.loads(self._record.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise UserError(
                f"{self._record} is damaged ({error}), so that it can't be told which tables were edited by hand; "
                "delete it to keep those in this folder as they are"
            ) from error
        return found


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
