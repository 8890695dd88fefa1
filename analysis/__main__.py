"""`python -m analysis STUDY VERDICTS... --out DIR`: what any verdict table says; needs no model and no Hydra.

Besides the studies, STUDY is `compare` (judges on the same items), `variance` (where trust and verdicts vary from),
`confidence` (what a judge's confidence is worth, and abstention by it), `serving` (noise of serving) or `correct` (a
judge's rate corrected by few gold labels).
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
    "refsense": (
        ("drop", "reject"),
        "drop: leave unreadable verdicts out; reject: count them as not accepting the answer; flips need both read",
    ),
    "evalpair": (
        ("drop", "miss"),
        "drop: leave unreadable verdicts out, and their answers out of paired effects; miss: count them as no flag",
    ),
    "confidence": (("drop",), "drop: leave unreadable verdicts out, and count them"),
}
OWN_COMMANDS = {"confidence": "confidence"}
"""Studies that do more than print their metrics."""
SEEDS = {"evalpair": 20_260_627}
"""Of the bootstrap, where a study's source names its own."""
CHOICES: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    "refsense": {
        "partial": (("incorrect", "correct", "drop"), "how a person's label P, partially correct, counts"),
    },
    "evalpair": {
        "pairing": (
            ("complete", "available"),
            "answers in paired effects: those that all judges have judged, or those with a verdict on either side",
        ),
    },
}
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
        p = _command(studies, study, f"metrics of the study {study}", OWN_COMMANDS.get(study, "study"))
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
    _confidence(studies.choices["confidence"])
    p = _command(studies, "serving", "what depends on batches, order, resuming... (of serving.parquet)", "serving")
    p.add_argument("--sampled", nargs="+", default=[], metavar="VERDICTS", help="an audit whose 1 - C is to be split")
    p.add_argument("--figures", action="store_true", help="draw the figure, too (needs matplotlib)")
    p = _command(studies, "correct", "the true rate, from many verdicts and few gold labels", "correct")
    p.add_argument("--labels", required=True, type=Path, metavar="GOLD", help="columns item and gold: .csv, .jsonl...")
    p.add_argument("--positive", default="", metavar="LABEL", help="whose rate is asked for (default CORRECT, or A)")
    p.add_argument("--width", type=float, default=0.1, help="of the interval that labels are counted for (default 0.1)")
    return parser


def _confidence(p: argparse.ArgumentParser) -> None:
    # The curves of 240,000 verdicts take 12 s at 2,000 resamples.
    p.set_defaults(replicates=2_000)
    p.add_argument("--target-risk", type=float, metavar="RISK", help="share of wrong verdicts allowed among those kept")
    p.add_argument("--delta", type=float, default=0.1, help="chance that the threshold misses the target (default 0.1)")
    p.add_argument("--signal", default="", help="to abstain by (default: the first of p, repeats, stated... there is)")
    p.add_argument("--export", type=Path, metavar="FILE", help="verdicts with confidence, threshold, keep or abstain")
    p.add_argument(
        "--at", type=_setting, action="append", default=[], metavar="T,K", help="predict the audit at T and K, too"
    )


def _command(
    studies: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, says: str, command: str
) -> argparse.ArgumentParser:
    p = studies.add_parser(name, help=says)
    p.set_defaults(command=command)
    p.add_argument("verdicts", nargs="+", metavar="VERDICTS", help="verdict tables: .parquet, .csv or .jsonl")
    p.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write the results to")
    p.add_argument(
        "--replicates", type=_count, default=10_000, help="bootstrap resamples (default 10000; confidence: 2000)"
    )
    p.add_argument("--seed", type=_count, default=0, help="seed of the bootstrap (default 0; evalpair: its source's)")
    p.add_argument("--interval", choices=("percentile", "bca"), default="percentile", help="kind of interval")
    return p


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)


def _setting(text: str) -> tuple[float, int]:
    temperature, _, repeats = text.partition(",")
    try:
        setting = float(temperature), int(repeats)
    except ValueError:
        setting = -1.0, 0
    if not 0 <= setting[0] <= 100 or not 1 <= setting[1] <= 200:
        raise argparse.ArgumentTypeError(f"{text!r} is not a temperature and 1 to 200 repeats, such as 0.7,10")
    return setting


if __name__ == "__main__":
    sys.exit(main())
