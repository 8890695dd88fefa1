"""How far every study under a root has come, from any machine that sees its store; loads no model.

    python -m experiments.status [root=runs] [metrics=false]

A row a judge and data set: calls answered of those planned, calls/s over the last minute, time left, outcomes, and the
share of prompt tokens that came from the prefix cache. `tables`: whether the run folder holds the finished tables.
metrics=true also shows the main table of every unfinished study, from what is stored so far.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from pydantic import ValidationError
from rich import box
from rich.table import Table

from experiments.console import console, wide
from experiments.plans import Plan, plans
from experiments.shards import looking
from experiments.words import read_words
from judges.records import UserError
from judges.store.tally import OUTCOMES, Tally, tally

DEFAULTS = {"root": "runs", "metrics": "false"}
COLUMNS = ("study", "data", "judge", "calls", "", "calls/s", "left", "outcomes", "cached", "tables")


@dataclass(frozen=True)
class Progress:
    """How far one study of one judge on one data set has come."""

    plan: Plan
    outcomes: Mapping[str, int]
    """Calls by outcome, as the engine left them: `ok` is not yet a verdict that can be read."""
    rate: float
    """Calls per second over the last minute."""
    cached: float | None
    """Share of the prompt tokens that the prefix cache had; None if nothing is known."""

    @property
    def total(self) -> int:
        """Calls that are planned."""
        return len(self.plan.keys)

    @property
    def done(self) -> int:
        """Calls that were answered; errors are asked again, so they are not."""
        return sum(n for outcome, n in self.outcomes.items() if outcome != "error")

    @property
    def left(self) -> float | None:
        """Seconds until all is answered, at this rate; None if nothing moves."""
        return (self.total - self.done) / self.rate if self.rate else None


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0: said; 2: something to mend."""
    words = sys.argv[1:] if arguments is None else arguments
    if any(word in ("-h", "--help") for word in words):
        print(__doc__.strip())
        return 0
    try:
        given = options(words)
        rows = say(Path(given["root"]))
        for row in rows if given["metrics"] == "true" else []:
            if row.done > 0 and not row.plan.tabulated:
                look(row.plan, Path(given["root"]))
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def options(words: list[str]) -> dict[str, str]:
    """The settings of a command, from its KEY=VALUE words."""
    found = read_words(words, DEFAULTS)
    if found["metrics"] not in ("true", "false"):
        raise UserError(f"metrics={found['metrics']}: give true or false")
    return found


def overview(root: Path) -> tuple[list[Progress], float]:
    """Every study that has left a plan, in the order of their folders; and seconds since anything was stored.

    Raises:
        UserError: there is no store under the root.
    """
    found = tally(root / "store")
    return [progress(plan, found) for plan in plans(root)], found.silent


def progress(plan: Plan, found: Tally) -> Progress:
    """How far one plan is carried out."""
    here = found.among(plan.keys)
    counts = np.bincount(found.outcome[here], minlength=len(OUTCOMES))
    prompt = int(found.prompt_tokens[here].sum())
    outcomes = {name: int(n) for name, n in zip(OUTCOMES, counts, strict=True) if n}
    cached = float(found.cached_tokens[here].sum() / prompt) if prompt else None
    return Progress(plan, outcomes, float(found.rate[here].sum()), cached)


def look(plan: Plan, root: Path) -> None:
    """Shows the metrics of an unfinished study; where that can't be done here, says why."""
    from experiments.__main__ import STUDIES
    from experiments.roster import PipelineSettings

    module = import_module(STUDIES[plan.study])
    name = f"{plan.study}: {plan.judge} on {plan.data}"
    if issubclass(module.Settings, PipelineSettings):
        console.print(f"{name}: a study in stages has no metrics before its last stage is through", markup=False)
        return
    try:
        with looking():
            module.run(module.Settings.model_validate({**plan.settings, "root": root}))
    except (UserError, OSError, ValidationError) as error:
        console.print(f"{name}: its metrics can't be had here: {error}", markup=False, soft_wrap=True)


def say(root: Path) -> list[Progress]:
    """Prints the table, and returns its rows."""
    if not root.is_dir():
        raise UserError(f"there is no folder {root}: name the one that the runs write to, root=FOLDER")
    rows, silent = overview(root)
    if not rows:
        raise UserError(f"no study under {root} has left a plan: none was begun there by this version")
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in COLUMNS:
        shown.add_column(name, no_wrap=True, justify="right" if name in ("calls", "", "calls/s", "left") else "left")
    for row in rows:
        shown.add_row(*cells(row))
    wide().print(shown)
    if any(row.done < row.total for row in rows):
        console.print(f"the last call was stored {duration(max(silent, 0))} ago", markup=False)
    return rows


def cells(row: Progress) -> tuple[str, ...]:
    """One row of the table, as text."""
    share = row.done / row.total if row.total else 1.0
    told = ", ".join(f"{n:,} {name}" for name, n in sorted(row.outcomes.items(), key=lambda o: -o[1]))
    finished = row.done == row.total
    return (
        row.plan.study,
        row.plan.data,
        row.plan.judge,
        f"{row.done:,}/{row.total:,}",
        f"{share:.0%}" if finished or share < 0.995 else "99%",
        f"{row.rate:.1f}" if row.rate and not finished else "–",
        "–" if finished or row.left is None else duration(row.left),
        told or "–",
        "–" if row.cached is None else f"{row.cached:.0%}",
        "written" if row.plan.tabulated else "–",
    )


def duration(seconds: float) -> str:
    """Time in two units at most.

    >>> duration(5), duration(200), duration(9000), duration(200000)
    ('5 s', '3 min', '2 h 30 min', '2 d 7 h')
    """
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if seconds < 100:
        return f"{seconds:.0f} s"
    if minutes < 100:
        return f"{minutes:.0f} min"
    if hours < 48:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{int(days)} d {int(hours % 24)} h"


if __name__ == "__main__":
    sys.exit(main())
