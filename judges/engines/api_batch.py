"""Calls by a provider's batch service; a note on each batch outlives us, so that a later run takes up its results."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from judges.engines.api_failures import Again, Reply
from judges.engines.api_keys import Key
from judges.engines.api_provider import Provider, call_failed, completed
from judges.engines.settings import ApiSettings, Endpoint
from judges.records import Completion, Request, UserError

MOST = 10_000
"""Calls in one batch; both services take more, but hold what a call may be long."""

Emit = Callable[[tuple[Request, Completion]], None]


@dataclass(frozen=True, slots=True)
class Note:
    """What is kept of a batch until its results are in."""

    batch: str
    base_url: str
    keys: list[str]

    def path(self, folder: Path) -> Path:
        """Its file."""
        return folder / f"{re.sub(r'[^A-Za-z0-9_-]', '_', self.batch)}.json"


class Batches:
    """One provider's batches."""

    def __init__(self, provider: Provider, key: Key, endpoint: Endpoint, settings: ApiSettings) -> None:
        self._provider, self._key, self._endpoint, self._settings = provider, key, endpoint, settings
        self._folder = Path(settings.batch_folder)
        self._collected: list[tuple[Note, list[str]]] = []

    async def carry_out(self, calls: Sequence[tuple[Request, dict[str, Any]]], emit: Emit) -> None:
        """Takes up what is under way of these calls, submits the rest, and waits for all.

        Raises:
            UserError: the service refuses; what came before stands.
        """
        wanted = {request.key: request for request, _ in calls}
        notes = [n for n in notes_in(self._folder) if n.base_url == self._endpoint.base_url and wanted.keys() & n.keys]
        under_way = {key for note in notes for key in note.keys}
        fresh = iter([(r.key, arguments) for r, arguments in calls if r.key not in under_way])
        while portion := dict(islice(fresh, MOST)):
            notes.append(await self._submit(portion))
        while notes:
            for note in list(notes):
                if await self._asked(self._provider.ended(note.batch)):
                    await self._collect(note, wanted, emit)
                    notes.remove(note)
            if notes:
                await asyncio.sleep(self._settings.batch_poll_s)

    async def _submit(self, portion: Mapping[str, Mapping[str, Any]]) -> Note:
        batch = await self._asked(self._provider.submit(portion))
        note = Note(batch, self._endpoint.base_url, list(portion))
        self._write(note)
        return note

    async def _collect(self, note: Note, wanted: Mapping[str, Request], emit: Emit) -> None:
        """Hands on the results of an ended batch."""
        left = {key: wanted[key] for key in note.keys if key in wanted}

        async def read() -> None:
            async for key, reply in self._provider.results(note.batch):
                if request := left.pop(key, None):
                    emit((request, self._completion(request, reply)))

        await self._asked(read())
        for request in left.values():
            emit((request, call_failed("error", f"batch {note.batch} ended without this call", self._endpoint)))
        self._collected.append((note, [key for key in note.keys if key not in wanted]))

    def forget(self) -> None:
        """Drops the notes on results that have been taken: not before, so that a kill loses nothing.

        Calls of a batch that were not asked for this time, such as those that a budget left out, keep their note.
        """
        for note, left in self._collected:
            if left:
                self._write(replace(note, keys=left))
            else:
                note.path(self._folder).unlink(missing_ok=True)

    def _write(self, note: Note) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = note.path(self._folder).with_suffix(".part")
        draft.write_bytes(orjson.dumps(asdict(note)))
        draft.replace(note.path(self._folder))

    def _completion(self, request: Request, reply: Reply) -> Completion:
        try:
            return completed(self._provider, request, reply, 0.0, self._endpoint)
        except Again as error:
            return call_failed("error", error.note, self._endpoint)

    async def _asked(self, call: Any) -> Any:
        """The service's answer; what its library raises, in words that hold no key."""
        try:
            return await call
        except UserError:
            raise
        except Exception as error:  # Classes of either library, or of the HTTP library under it.
            said = self._key.hide(str(error).encode()).decode()
            raise UserError(
                f"the batch service at {self._endpoint.base_url} failed: {said[:500]}\n"
                "Batches under way go on without us: the same command takes up their results. To give one up, delete "
                f"its note in {self._folder}"
            ) from None


def notes_in(folder: Path) -> list[Note]:
    """The batches under way that a folder has notes on; files that are no note are passed over."""
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            found.append(Note(**orjson.loads(path.read_bytes())))
        except (orjson.JSONDecodeError, TypeError):
            continue
    return found
