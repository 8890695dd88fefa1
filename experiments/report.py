"""Gathers all runs of a study: metrics, tables and figures over every judge and data set found.

    python -m experiments.report experiment=trust [root=runs] [unreadable=drop] [replicates=10000]

Reads verdict tables and loads no model; what it writes is made anew each time.
"""

import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

import pandas as pd

from analysis import drawing, published, tables, verdicts
from analysis.columns import TableError
from analysis.studies import STUDIES, Options, find, variance_tables
from experiments.complaints import nearest
from experiments.console import console, show
from judges.records import UserError

DEFAULTS = {"experiment": "", "root": "runs", "unreadable": "", "replicates": "10000"}


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0: done; 2: something to mend."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    try:
        report(options(words))
    except (UserError, TableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def options(words: list[str]) -> dict[str, str]:
    """The settings of a command, from its KEY=VALUE words."""
    found = dict(DEFAULTS)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"can't read {word!r}: settings are KEY=VALUE")
        if key not in DEFAULTS:
            raise UserError(f"there is no key {key!r}; {nearest(key, DEFAULTS)}")
        found[key] = value
    if not found["replicates"].isdecimal():
        raise UserError(f"replicates={found['replicates']}: give a whole number, 0 for no intervals")
    return found


def report(given: Mapping[str, str]) -> Path:
    """Writes `<root>/<study>/report` and prints the main table; returns the folder.

    Raises:
        UserError: no such study, or no run of it under the root.
    """
    name = given["experiment"]
    if name not in STUDIES:
        raise UserError(f"no study is called {name!r}; {nearest(name, STUDIES)}")
    study, folder = STUDIES[name], Path(given["root"]) / name
    runs = sorted(folder.glob("*/*/verdicts.parquet"))
    if not runs:
        raise UserError(f"there is no run in {folder}; make one: python -m experiments experiment={name}")
    rule = given["unreadable"] or study.rules[0]
    if rule not in study.rules:
        raise UserError(f"unreadable={rule}: {name} knows {', '.join(study.rules)}")
    rows = verdicts.read(runs)
    found = find(study, rows, Options(rule, int(given["replicates"]), study.seed))
    further, absent = variance_tables(rows, rule) if name == "trust" else ({}, {})
    out = folder / "report"
    tables.publish(found.metrics, found.items, {**found.tables, **further, **beside(name, found.metrics)}, out)
    for figure, draw in study.figures.items():
        drawing.save(draw(found.metrics), out / "figures" / figure)
    for table, reason in {**found.absent, **absent}.items():
        console.print(f"no table {table}: {reason}", markup=False, soft_wrap=True)
    show(next(iter(found.tables.values())), f"{name}: {len(runs)} runs", out)
    return out


def beside(study: str, metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Our numbers beside each table that the study's source prints, where any of them was measured; faults last."""
    found: dict[str, pd.DataFrame] = {}
    if study not in published.SOURCES or study == "judgebench":  # Its source prints a protocol and no numbers.
        return found
    paper = cast(published.Paper, study)
    for table in published.printed(paper)["table"].unique():
        with suppress(TableError):  # A table of ranges over cells has no single values to stand beside.
            ours = published.beside(metrics, paper, table)
            if ours["ours"].notna().any():
                found[f"published_{re.sub(r'[^a-z0-9]+', '_', table)}"] = ours
    notes = published.footnotes(pd.concat(found.values())) if found else {}
    if notes:
        found["published_faults"] = pd.DataFrame({"fault": list(notes), "says": list(notes.values())})
    return found


if __name__ == "__main__":
    sys.exit(main())
