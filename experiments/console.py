"""What a person sees of a run: progress while it goes on, the main table at its end."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from analysis.verdicts import CELL
from judges.records import Completion

console = Console(stderr=True, highlight=False)
REFRESH = 0.5
"""Seconds between updates of the display, so that it costs the engine nothing."""
LOG_EVERY = 30.0
"""Seconds between lines where there is no terminal to draw on."""


class ProgressBar:
    """Calls done, calls/s, generated tokens/s, share of prompt tokens from the prefix cache, time left."""

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
            console.print(f"{done}/{self._total} calls, {rates}, {left:.0f} s left")

    def close(self) -> None:
        """Ends the bar, if one is shown."""
        if self._progress:
            self._progress.stop()
            self._progress = None


def show(metrics: pd.DataFrame, columns: Sequence[str], folder: Path) -> None:
    """Prints the main table: a row a cell, each number with its interval, and the share of rows without a verdict."""
    overall = metrics[(metrics["slice"] == "overall") & metrics["metric"].isin(columns)]
    cell = [name for name in CELL if name not in ("study", "judge") and overall[name].nunique() > 1] or ["format"]
    shown = Table(
        title=f"{overall['study'].iloc[0]}: {overall['judge'].iloc[0]} on {', '.join(overall['dataset'].unique())}"
    )
    for name in (*cell, *columns, "unreadable"):
        shown.add_column(name, justify="left" if name in cell else "right", no_wrap=True)
    for values, rows in overall.groupby(cell, sort=False):
        by_metric = rows.set_index("metric")
        numbers = [_number(by_metric.loc[name]) if name in by_metric.index else "" for name in columns]
        shown.add_row(*map(str, values), *numbers, f"{rows['share_unreadable'].iloc[0]:.1%}")
    Console(highlight=False).print(shown)
    console.print(f"{folder}: verdicts.parquet, metrics.csv, items.csv, manifest.json")


def _number(row: Any) -> str:
    if pd.isna(row["value"]):
        return "-"
    return f"{row['value']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
