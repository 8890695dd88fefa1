"""What a person sees of a run: progress while it goes on, the main table at its end."""

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from judges.records import Completion

if TYPE_CHECKING:
    import pandas as pd

console = Console(stderr=True, highlight=False)
REFRESH = 0.5
"""Seconds between updates of the display, so that it costs the engine nothing."""
LOG_EVERY = 30.0
"""Seconds between lines where there is no terminal to draw on."""


class ProgressBar:
    """Calls done, calls/s, generated tokens/s, share of prompt tokens from the prefix cache, time left."""

    _begun: float
    _shown: float

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self.asked = 0
        """Calls made since the bar was made, over all rounds."""
        self._begin(0, 0)

    def begin(self, total: int, stored: int, /) -> None:
        """Starts a bar for a round of calls; says so where all of them are answered already."""
        self.close()
        if total == stored:
            console.print(f"{total} calls, all of them in the store: no model is loaded")
            return
        console.print(f"{total} calls, {stored} of them in the store already; asking for {total - stored}")
        self._begin(total, stored)
        if console.is_terminal:
            columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
                       TextColumn("{task.fields[rates]}"))  # fmt: skip
            self._progress = Progress(*columns, console=console, refresh_per_second=1 / REFRESH)
            self._progress.start()
            self._progress.add_task("", total=total, completed=stored, rates="")

    def finished(self, completion: Completion, /) -> None:
        """Counts a call, and redraws now and then."""
        self._calls += 1
        self._tokens += completion.completion_tokens
        self._prompt += completion.prompt_tokens
        self._cached += completion.cached_tokens
        self.asked += 1
        now = time.monotonic()
        last = self._calls == self._total - self._stored
        if last or now - self._shown >= (REFRESH if self._progress else LOG_EVERY):
            self._shown = now
            self._draw(now)

    def _begin(self, total: int, stored: int) -> None:
        self._total, self._stored = total, stored
        self._calls, self._tokens, self._prompt, self._cached = 0, 0, 0, 0
        self._begun = self._shown = time.monotonic()

    def _draw(self, now: float) -> None:
        seconds = max(now - self._begun, 1e-6)
        rates = (
            f"{self._calls / seconds:.1f} calls/s, {self._tokens / seconds:.0f} tokens/s, "
            f"{self._cached / max(self._prompt, 1):.0%} of prompt tokens cached"
        )
        done = self._stored + self._calls
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=done, rates=rates)
        else:
            left = (self._total - done) * seconds / self._calls
            console.print(f"{done}/{self._total} calls, {rates}, {left:.0f} s left", soft_wrap=True)

    def close(self) -> None:
        """Ends the bar, if one is shown."""
        if self._progress:
            self._progress.stop()
            self._progress = None


def wide() -> Console:
    """Standard output, wide enough for a table where it is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def show(main: "pd.DataFrame", title: str, folder: Path | None) -> None:
    """Prints a study's main table, a row a cell, and where everything is, if it is anywhere.

    What is the same in every row is left out, and numbers are shown to two places: the files have all of them.
    """
    told = [name for name in main.columns if name not in ("judge", "dataset") or main[name].nunique() > 1]
    shown = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in told:
        shown.add_column(str(name), no_wrap=True)
    for row in main[told].itertuples(index=False):
        shown.add_row(*(Text(_short(str(cell))) for cell in row))
    wide().print(shown)
    if folder:
        console.print(f"metrics, tables, verdicts and the manifest are in {folder}", markup=False, soft_wrap=True)


def _short(cell: str) -> str:
    """`0.507 [0.401, 0.613]` as two lines of two decimals."""
    if match := re.fullmatch(r"(\S+) \[(\S+), (\S+)\]", cell):
        value, low, high = (f"{float(x.replace('−', '-')):.2f}" for x in match.groups())
        return f"{value}\n[{low} {high}]"
    return cell
