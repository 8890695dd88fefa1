"""The verdicts behind a report, as pages that filter them and show a judge's words; works from disk, without a server.

Beside `verdicts.html` lies a folder of scripts, each of which hands some data to the page: the index of all verdicts,
loaded at once, and what was asked and answered, item by item, loaded when it is looked at.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from experiments.browser.columns import Verdicts, gather
from experiments.browser.index import index, rows
from experiments.browser.items import Chunk, items
from experiments.browser.scripts import script
from experiments.browser.words import Words
from experiments.runs import Run

BATCH = 20_000
"""Verdicts whose words are held at a time: a compacted store is read through for each batch."""
CHUNK = 1_500_000
"""Characters of a file of items, about."""


def write(runs: Sequence[Run], root: Path, out: Path) -> None:
    """Writes `verdicts.html` and the folder `verdicts` into `out`, in place of older ones.

    Args:
        runs: of one study; runs that were asked differently stand side by side.
        root: holds `store`, the completions; without it, the page says that the words are not here.
        out: the folder of the report.

    Raises:
        TableError: the verdicts of a run are faulty.
        UserError: the store cannot be read.
    """
    table = gather(runs)
    folder = out / "verdicts"
    folder.mkdir(parents=True, exist_ok=True)
    with Words(runs, root) as words:
        homes = _write_items(table, words, folder)
        told = index(table, homes, words.reasons)
    kept = {f"item-{number}.js" for number in set(homes)} | _write_index(table, told, folder)
    here = files("experiments.browser")
    for name in ("browser.js", "reading.js", "browser.css"):
        (folder / name).write_text((here / name).read_text(encoding="utf-8"), encoding="utf-8")
    for old in folder.glob("*.js"):
        if old.name not in kept | {"browser.js", "reading.js"}:
            old.unlink()
    draft = out / ".verdicts.html"
    draft.write_text((here / "verdicts.html").read_text(encoding="utf-8"), encoding="utf-8")
    draft.replace(out / "verdicts.html")


def _write_items(table: Verdicts, words: Words, folder: Path) -> list[int]:
    """Writes the items' files; returns which of them each item is in."""
    homes: list[int] = []
    chunk, number = Chunk(), 0
    for first, last in _batches(table.starts):
        for one in items(table, words, first, last):
            chunk.add(len(homes), one)
            homes.append(number)
            if chunk.size > CHUNK:
                (folder / f"item-{number}.js").write_bytes(script(f"item-{number}", chunk.content()))
                chunk, number = Chunk(), number + 1
    if chunk.size:
        (folder / f"item-{number}.js").write_bytes(script(f"item-{number}", chunk.content()))
    return homes


def _write_index(table: Verdicts, told: object, folder: Path) -> set[str]:
    (folder / "index.js").write_bytes(script("index", told))
    names = {"index.js"}
    for number, part in enumerate(rows(table)):
        names.add(f"rows-{number}.js")
        (folder / f"rows-{number}.js").write_bytes(script(f"rows-{number}", part))
    return names


def _batches(starts: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Iterator[tuple[int, int]]:
    """Runs of items that hold about `BATCH` verdicts together."""
    first, count = 0, len(starts) - 1
    while first < count:
        last = int(np.searchsorted(starts, starts[first] + BATCH, side="left"))
        last = min(max(last, first + 1), count)
        yield first, last
        first = last
