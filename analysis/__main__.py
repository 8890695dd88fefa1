"""`python -m analysis STUDY VERDICTS... --out DIR`: the metrics of any verdict table; needs no model and no Hydra."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

UNREADABLE = {
    "trust": (
        ("drop", "fail"),
        "drop: leave unreadable verdicts out; fail: count them as neither reproducible, order-invariant nor correct",
    ),
    "judgebench": (
        ("tie", "wrong", "drop"),
        "tie: an unreadable verdict scores nothing, as in the benchmark; wrong: it counts against the judge; "
        "drop: leave the pair out",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    from analysis.columns import TableError

    try:
        _run(options)
    except (TableError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis", description="Metrics of verdict tables.")
    studies = parser.add_subparsers(dest="study", required=True, metavar="STUDY")
    for study, (choices, meaning) in UNREADABLE.items():
        p = studies.add_parser(study, help=f"metrics of the study {study}")
        p.add_argument("verdicts", nargs="+", metavar="VERDICTS", help="verdict tables: .parquet, .csv or .jsonl")
        p.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write the results to")
        p.add_argument("--unreadable", choices=choices, default=choices[0], help=f"{meaning} (default {choices[0]})")
        p.add_argument("--replicates", type=_count, default=10_000, help="bootstrap resamples (default 10000; 0: none)")
        p.add_argument("--seed", type=_count, default=0, help="seed of the bootstrap (default 0)")
        p.add_argument("--interval", choices=("percentile", "bca"), default="percentile", help="kind of interval")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def _run(options: argparse.Namespace) -> None:
    import numpy as np

    from analysis.studies import STUDIES
    from analysis.tables import publish
    from analysis.verdicts import read

    study, verdicts = STUDIES[options.study], read(options.verdicts)
    metrics = study.metrics(
        verdicts,
        rng=np.random.default_rng(options.seed),
        replicates=options.replicates,
        unreadable=options.unreadable,
        interval=options.interval,
    )
    tables = {name: table(metrics) for name, table in study.tables.items()}
    publish(metrics, study.items(verdicts, unreadable=options.unreadable), tables, options.out)
    print(next(iter(tables.values())).to_string(index=False))
    print(f"\n{len(verdicts):,} verdicts; metrics, items and tables are in {options.out}")


if __name__ == "__main__":
    sys.exit(main())
