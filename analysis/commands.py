"""What the commands of `python -m analysis` do: read verdicts, compute, write files, print the main table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis import drawing, files, tables
from analysis.cells import told
from analysis.columns import TableError
from analysis.studies import STUDIES, Options, find, variance_tables
from analysis.verdicts import CELL, read

_GUARANTEE = (
    "With probability {sure:g} over the random half of the groups that a threshold is calibrated on, no more than "
    "{risk:g} of the verdicts that it keeps are wrong, one being drawn from each group. coverage and risk are those of "
    "the other half; share_over is how often, in so many further random splits, the other half's risk exceeded the "
    "target."
)


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


def confidence(options: argparse.Namespace) -> None:
    """What signals of confidence are worth, the expected audit, and abstention at a target risk."""
    from analysis.conformal import Goal, abstention, exported
    from analysis.expected_audit import expected_audit, side_by_side

    if options.export and options.target_risk is None:
        raise TableError("--export needs --target-risk: what share of the verdicts kept may be wrong?")
    chosen, verdicts = STUDIES["confidence"], read(options.verdicts)
    estimation = _estimation(options, "drop")
    found = find(chosen, verdicts, estimation)
    made = dict(found.tables)
    if options.at:
        given = {"replicates": options.replicates, "interval": options.interval}
        audit = expected_audit(verdicts, rng=estimation.rng, at=options.at, **given)
        made["expected"] = side_by_side(audit)
    if options.target_risk is not None:
        goal = Goal(options.target_risk, options.delta)
        thresholds, decided = abstention(found.items, goal, rng=estimation.rng, signal=options.signal)
        made = {"abstention": told(thresholds, [str(c) for c in thresholds if c not in CELL])} | made
        if options.export:
            files.save(exported(verdicts, decided), options.export)
    tables.publish(found.metrics, found.items, made, options.out)
    if options.figures:
        for name, draw in chosen.figures.items():
            drawing.save(draw(found.metrics), options.out / "figures" / name)
    absent = dict(found.absent)
    if absent.pop("not_recorded", None) is None:
        _tell_lacking(found.tables["not_recorded"])
    _tell(made, absent)
    if "abstention" in made:
        print(f"\n{_GUARANTEE.format(sure=1 - options.delta, risk=options.target_risk)}")
    print(f"\n{len(verdicts):,} verdicts; metrics, items and tables are in {options.out}")


def _tell_lacking(signals: pd.DataFrame) -> None:
    for _, signal, needs in signals[["signal", "needs"]].drop_duplicates().itertuples():
        print(f"note: not every cell has the signal {signal}: needs {needs}", file=sys.stderr)


def serving(options: argparse.Namespace) -> None:
    """How much of what a judge says depends on how it was served."""
    from analysis.confidence_figures import serving_noise
    from analysis.serving_tables import findings

    estimation = Options("drop", options.replicates, options.seed, options.interval)
    sampled = read(options.sampled) if options.sampled else None
    found = findings(options.verdicts, sampled, estimation)
    tables.publish(found.metrics, found.items, found.tables, options.out)
    if options.figures:
        drawing.save(serving_noise(found.metrics), options.out / "figures" / "serving_noise")
    _tell(found.tables, found.absent)
    print(f"\n{len(found.items):,} rows; metrics, items and tables are in {options.out}")


def correct(options: argparse.Namespace) -> None:
    """Each judge's rate, corrected by few gold labels."""
    from analysis.corrected import COLUMNS, corrected, read_labels

    gold = read_labels(options.labels)
    made = corrected(read(options.verdicts), gold, positive=options.positive, width=options.width)
    _write({"correct": told(made, COLUMNS)}, {}, options)


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
