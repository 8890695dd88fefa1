"""`python -m experiments.imports FORMAT FILE... --out TABLE`: other people's judge outputs as a verdict table."""

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMATS = {
    "judgebench": "JudgeBench output files: arena-hard text, pointwise score text, reward scores",
    "llmbar": "LLMBar result files, all strategies",
    "mtbench": "MT-Bench human votes, GPT-4 pair verdicts, raw GPT-4 texts",
    "alpaca_eval": "AlpacaEval annotations: log-probabilities or function calls",
    "pandalm": "PandaLM test set labels and judges' results",
    "inspect": "Inspect .eval logs (needs inspect_ai)",
    "csv": "any CSV, described by --map",
    "jsonl": "any JSONL or JSON list, described by --map",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    from analysis.columns import TableError
    from judges.records import UserError

    try:
        _run(options)
    except (UserError, TableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.imports",
        description="Reads other people's judge outputs into one verdict table, and lists where its reading differs "
        "from the verdict that they stored.",
        epilog="formats:\n" + "\n".join(f"  {name:<12} {meaning}" for name, meaning in FORMATS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help="what the files are, see below")
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help=".jsonl, .json or .csv, plain or .gz; .eval"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="TABLE", help=".parquet, .csv or .jsonl to write")
    parser.add_argument(
        "--items", type=Path, metavar="FOLDER", help="the data set: joins question, gold, source, group"
    )
    parser.add_argument("--map", type=Path, metavar="YAML", help="what the columns are (csv, jsonl, inspect)")
    parser.add_argument("--skip-bad", action="store_true", help="leave out records that can't be read, and count them")
    parser.add_argument(
        "--as-published",
        action="store_true",
        help="read by the source's own rules where they find a verdict that ours don't: a missing score loses "
        "(judgebench, pointwise), the first of two contradicting statements wins (llmbar)",
    )
    return parser


def _run(options: argparse.Namespace) -> None:
    from analysis import verdicts
    from experiments.imports import items, sources, table
    from experiments.imports.files import Skipped
    from experiments.imports.mapping import read_mapping
    from judges.records import UserError

    if options.map and options.format not in sources.MAPPED:
        raise UserError(f"--map is for {', '.join(sources.MAPPED)}; the format {options.format} has its own reader")
    mapping = read_mapping(options.map) if options.map else None
    skipped = Skipped(options.skip_bad)
    # Nothing that is read forms cycles, and each collection would pass over every row read so far.
    gc.disable()
    try:
        rows = list(sources.judged(options.format, options.files, skipped, mapping, options.as_published))
    finally:
        gc.enable()
    imported = table.tabulate(rows)
    if options.items:
        imported = items.join(imported, options.items)
    imported = verdicts.check(imported)
    verdicts.write(imported, options.out)
    listed = options.out.with_name(f"{options.out.name}.disagreements.csv")
    verdicts.write(table.disagreements(imported), listed)
    _report(options, imported, skipped.faults, listed)


def _report(options: argparse.Namespace, imported: "pd.DataFrame", faults: list[str], listed: Path) -> None:
    from experiments.imports import sources
    from experiments.imports.table import summary

    cells = summary(imported)
    print(cells.to_string(index=False))
    total = cells[["verdicts", "no_verdict", "compared", "differ"]].sum()
    print(f"\n{total.verdicts:,} rows are in {options.out}; {total.no_verdict:,} of them hold no verdict.")
    if total.compared:
        print(f"Of {total.compared:,} verdicts that the source stored, {total.differ:,} are not what we read.")
    if (
        total.differ
        and not options.as_published
        and (form := sources.FORMATS.get(options.format))
        and form.as_published
    ):
        print("Some may follow from the source's own rules; --as-published reads by these.")
    print(f"These rows, and all others with a remark, are listed in {listed}.")
    if faults:
        print(f"{len(faults):,} bad records left out; the first: {faults[0]}")


if __name__ == "__main__":
    sys.exit(main())
