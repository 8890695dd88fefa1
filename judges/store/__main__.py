"""`python -m judges.store compact|stats|verify [FOLDER]`."""

import argparse
import sys
from pathlib import Path

from judges.records import UserError
from judges.store.compact import STALE_HOURS, compact
from judges.store.folder import NOTE
from judges.store.stats import Soundness, Totals, stats, verify


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status: 1 for an error, and for a file that `verify` finds damaged."""
    options = _parser().parse_args(arguments)
    try:
        if not (options.folder / NOTE).exists():
            raise UserError(f"there is no completion store in {options.folder}. Name the folder of one.")
        return int(options.run(options))
    except UserError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m judges.store", description="Looks after a store of completions.")
    commands = parser.add_subparsers(required=True, metavar="compact|stats|verify")
    compacting = commands.add_parser(
        "compact",
        help="merge finished shards into one Parquet file",
        description="Merges finished shards and the Parquet file of the last time into one Parquet file, keeping of "
        "each key the completion that stands. Shards that are still open are merged if their process was on this "
        "host and is gone, or if nothing was added to them for STALE_HOURS.",
    )
    compacting.add_argument("--stale-hours", type=float, default=STALE_HOURS, help="default: %(default)g")
    compacting.set_defaults(run=_compact)
    for name, run, text in (
        ("stats", _stats, "count completions by model, outcome and engine"),
        ("verify", _verify, "read every record of every file and report damage"),
    ):
        commands.add_parser(name, help=text, description=f"{text.capitalize()}.").set_defaults(run=run)
    for command in commands.choices.values():
        command.add_argument("folder", type=Path, nargs="?", default=Path("runs/store"), help="default: %(default)s")
    return parser


def _compact(options: argparse.Namespace) -> int:
    done = compact(options.folder, options.stale_hours)
    if done.into:
        print(f"merged {len(done.merged)} files into {done.into.path}: {done.records:,} completions")
    else:
        print("nothing to merge")
    for file in done.left:
        print(f"left alone, its process may be running: {file.path}")
    return 0


def _stats(options: argparse.Namespace) -> int:
    rows = [
        (
            t.model,
            t.outcome,
            t.engine,
            f"{t.completions:,}",
            f"{t.prompt_tokens:,}",
            f"{t.cached_tokens:,}",
            f"{t.completion_tokens:,}",
            f"{t.seconds:,.1f}",
        )
        for t in stats(options.folder)
    ]
    print(_columns([tuple(f.replace("_", " ") for f in Totals.__dataclass_fields__), *rows]))
    return 0


def _verify(options: argparse.Namespace) -> int:
    found = verify(options.folder)
    for soundness in found:
        print(f"{soundness.file.path.name}: {_words(soundness)}")
    print(f"{sum(s.records for s in found):,} records in {len(found)} files")
    return int(any(s.damaged or s.unreadable for s in found))


def _words(soundness: Soundness) -> str:
    if soundness.unreadable:
        return soundness.unreadable
    words = [f"{soundness.records:,} records"]
    if soundness.damaged:
        shown = ", ".join(map(str, soundness.damaged[:10])) + (", …" if len(soundness.damaged) > 10 else "")
        words.append(f"{len(soundness.damaged)} damaged lines, passed over: {shown}")
    if soundness.torn:
        words.append("an unfinished last line, passed over")
    return "; ".join(words)


def _columns(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i < 3 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
