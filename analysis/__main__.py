"""`python -m analysis STUDY VERDICTS... --out DIR`: what any verdict table says; needs no model and no Hydra.

Besides the studies, STUDY is `compare` (judges on the same items) or `variance` (where trust and verdicts vary from).
"""

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
    "swapref": (
        ("wrong", "drop"),
        "wrong: an unreadable verdict counts against the judge; drop: leave it out, and with it the item",
    ),
    "evalpair": (
        ("drop", "miss"),
        "drop: leave unreadable verdicts out, and their answers out of paired effects; miss: count them as no flag",
    ),
}
SEEDS = {"evalpair": 20_260_627}
"""Of the bootstrap, where a study's source names its own."""
CHOICES: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {}
"""Further settings of single studies: their values, the default first, and what they mean."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    from analysis import commands
    from analysis.columns import TableError

    try:
        getattr(commands, options.command)(options)
    except (TableError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis", description="Metrics of verdict tables.")
    studies = parser.add_subparsers(dest="study", required=True, metavar="STUDY")
    for study, (choices, meaning) in UNREADABLE.items():
        p = _command(studies, study, f"metrics of the study {study}", "study")
        p.add_argument("--unreadable", choices=choices, default=choices[0], help=f"{meaning} (default {choices[0]})")
        for name, (values, says) in CHOICES.get(study, {}).items():
            p.add_argument(f"--{name}", choices=values, default=values[0], help=f"{says} (default {values[0]})")
        p.set_defaults(seed=SEEDS.get(study, 0))
        p.add_argument("--figures", action="store_true", help="draw the study's figures, too (needs matplotlib)")
    p = _command(studies, "compare", "differences between judges on the same items", "compare")
    p.add_argument("--metric", default="accuracy", help="accuracy (default), or any other metric of a study: T, C, phi")
    p.add_argument("--unreadable", help="how unreadable verdicts count: a rule of the metric's study")
    p.add_argument("--planned", type=_count, help="items of a planned comparison: what difference could it detect?")
    p = _command(
        studies, "variance", "where trust and verdicts vary from, and the cheapest dependable design", "variance"
    )
    p.add_argument("--unreadable", choices=("drop", "fail"), default="drop", help="as in the study trust")
    p.add_argument("--complete-only", action="store_true", help="leave out judges, pairs... that lack a cell")
    return parser


def _command(
    studies: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, says: str, command: str
) -> argparse.ArgumentParser:
    p = studies.add_parser(name, help=says)
    p.set_defaults(command=command)
    p.add_argument("verdicts", nargs="+", metavar="VERDICTS", help="verdict tables: .parquet, .csv or .jsonl")
    p.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write the results to")
    p.add_argument("--replicates", type=_count, default=10_000, help="bootstrap resamples (default 10000; 0: none)")
    p.add_argument("--seed", type=_count, default=0, help="seed of the bootstrap (default 0; evalpair: its source's)")
    p.add_argument("--interval", choices=("percentile", "bca"), default="percentile", help="kind of interval")
    return p


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
