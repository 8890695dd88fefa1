"""What the commands of `python -m analysis` do: read verdicts, compute, write files, print the main table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis import drawing, tables
from analysis.columns import TableError
from analysis.studies import STUDIES, Options, find, variance_tables
from analysis.verdicts import read


def study(options: argparse.Namespace) -> None:
    """Metrics, items, tables and, if asked for, figures of one study."""
    chosen, verdicts = STUDIES[options.study], read(options.verdicts)
    found = find(chosen, verdicts, _estimation(options, options.unreadable))
    tables.publish(found.metrics, found.items, found.tables, options.out)
    if options.figures:
        for name, draw in chosen.figures.items():
            drawing.save(draw(found.metrics), options.out / "figures" / name)
    _tell(found.tables, found.absent)
    print(f"\n{len(verdicts):,} verdicts; metrics, items and tables are in {options.out}")


def compare(options: argparse.Namespace) -> None:
    """Every two judges on the same items."""
    from analysis.compare import compare

    verdicts = read(options.verdicts)
    asked = next((s for s in STUDIES.values() if options.metric in s.metric_names), None)
    if asked is None:
        known = ", ".join(name for s in STUDIES.values() for name in s.metric_names)
        raise TableError(f"there is no metric {options.metric!r}; choose {known}")
    rule = options.unreadable or asked.rules[0]
    made = compare(
        asked.design(verdicts, unreadable=rule),
        options.metric,
        rng=np.random.default_rng(options.seed),
        replicates=options.replicates,
        interval=options.interval,
        planned=options.planned,
    )
    _write({"compare": made}, {}, options)


def variance(options: argparse.Namespace) -> None:
    """Analysis of variance over cells, variance components of verdicts, and the cheapest dependable designs."""
    made, absent = variance_tables(read(options.verdicts), options.unreadable, complete_only=options.complete_only)
    if not made:
        raise TableError("; ".join(f"{name}: {reason}" for name, reason in absent.items()))
    _write(made, absent, options)


def _estimation(options: argparse.Namespace, unreadable: str) -> Options:
    further = STUDIES[options.study].choices
    return Options(
        unreadable,
        options.replicates,
        options.seed,
        options.interval,
        {name: getattr(options, name) for name in further},
    )


def _write(made: Mapping[str, pd.DataFrame], absent: Mapping[str, str], options: argparse.Namespace) -> None:
    tables.save_tables(made, options.out)
    _tell(made, absent)
    print(f"\ntables are in {options.out / 'tables'}")


def _tell(made: Mapping[str, pd.DataFrame], absent: Mapping[str, str]) -> None:
    print(tables.plain(next(iter(made.values()))).to_string(index=False))
    for name, reason in absent.items():
        print(f"note: no table {name}: {reason}", file=sys.stderr)
