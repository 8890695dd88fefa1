"""Lets people review a run of evalpair: a page on this machine, or a spreadsheet; then says what they found.

    python -m experiments.evalpair.review RUN [reviewer=NAME] [port=8750] [per_stratum=12]
    python -m experiments.evalpair.review RUN summary

RUN is a run folder, such as runs/evalpair/grounded_demo/matrix. Under RUN/review lie queue.csv (the cases, without the
automatic labels), labels.csv (those labels: to be opened afterwards) and a file a reviewer, saved after every answer;
reviewer.csv can be filled in by spreadsheet just as well.
"""

import json
import re
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analysis import files, review, review_files, review_tables, tables, verdicts
from analysis.columns import TableError
from experiments.console import console, show
from experiments.evalpair.cases import case, sources
from experiments.evalpair.page import Board, serve
from experiments.words import read_words
from judges.data.grounded import load_grounded
from judges.records import UserError

DEFAULTS = {"reviewer": "reviewer", "port": "8750", "per_stratum": "12", "open": "true"}


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0: done; 2: something to mend."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    try:
        run = _run(words[0])
        if "summary" in words[1:]:
            summary(run)
        else:
            _review(run, _settings(words[1:]))
    except (UserError, TableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def board(run: Path, reviewer: str, per_stratum: int) -> Board:
    """The cases of a run's queue with what a reviewer has said of them; the queue is drawn once and then kept.

    Raises:
        UserError, TableError: the run's tables or the review's files are missing or faulty.
    """
    rows = verdicts.read([run / "verdicts.parquet"])
    drawn = queue(run, rows, per_stratum)
    mine = run / "review" / f"{_name(reviewer)}.csv"
    if not mine.exists():
        review_files.save(review_files.blank(drawn.cases, reviewer), mine)
    read = review_files.parse(mine, drawn.cases)
    for remark in read.said:
        console.print(f"note: {remark}", markup=False, soft_wrap=True)
    data = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["settings"]["data"]
    records = load_grounded(data["name"], data["path"]).records
    found = sources(run, rows, records)
    keys = drawn.cases[["case", "item", "generator", "judge"]].itertuples(index=False, name=None)
    cases = [case(found, *map(str, key)) for key in keys]
    adopted = dict(zip(drawn.labels["case"], drawn.labels["adopted"].astype(bool), strict=True))
    kept = _Kept(read.rows, drawn.cases, reviewer, mine)
    return Board(cases, adopted, kept.said(), kept.save)


def queue(run: Path, rows: pd.DataFrame, per_stratum: int) -> review.Queue:
    """The queue of a run: that of its folder, or one drawn now and written there."""
    places = [run / "review" / name for name in ("queue.csv", "labels.csv")]
    if not all(place.is_file() for place in places):
        drawn = review.queue(rows, per_stratum=per_stratum)
        for table, place in zip((drawn.cases, drawn.labels), places, strict=True):
            files.save(table, place)
    cases, labels = (files.load(place, ("case", "item", "generator", "judge", "extracted")) for place in places)
    return review.Queue(cases, labels)


def summary(run: Path) -> None:
    """Prints and writes what all reviewers of a run have found."""
    rows = verdicts.read([run / "verdicts.parquet"])
    drawn = queue(run, rows, review.PER_STRATUM)
    own = {"queue.csv", "labels.csv"}
    read = [review_files.parse(f, drawn.cases) for f in sorted((run / "review").glob("*.csv")) if f.name not in own]
    if not read:
        raise UserError(f"nobody has reviewed {run} yet: python -m experiments.evalpair.review {run}")
    for remark in (text for file in read for text in file.said):
        console.print(f"note: {remark}", markup=False, soft_wrap=True)
    found = review.outcomes(pd.concat([file.rows for file in read], ignore_index=True), drawn.labels)
    made = review_tables.tables(found, drawn.labels, str(rows["dataset"].iloc[0]))
    tables.save_tables(made, run)
    files.save(found, run / "review_outcomes.csv")
    for name, table in made.items():
        show(tables.plain(table), name.replace("_", " "), run / "tables")


class _Kept:
    """A reviewer's file, rewritten whole after every answer, so that nothing is ever half saved."""

    def __init__(self, rows: pd.DataFrame, cases: pd.DataFrame, reviewer: str, path: Path) -> None:
        blank = review_files.blank(cases, reviewer)
        answered = rows.drop_duplicates("case", keep="last").set_index("case")
        for name in ("label_ok", "judge_ok", "comment"):
            blank[name] = blank["case"].map(answered[name]).fillna("")
        self._rows, self._path = blank.set_index("case", drop=False), path

    def said(self) -> dict[str, dict[str, str]]:
        """What has been said of each case so far."""
        told = self._rows[["label_ok", "judge_ok", "comment"]].to_dict("records")
        rows = ({str(key): str(value) for key, value in row.items()} for row in told)
        return {name: row for name, row in zip(self._rows["case"], rows, strict=True) if any(row.values())}

    def save(self, name: str, row: Mapping[str, str]) -> None:
        """Writes the file with this case's answers."""
        self._rows.loc[name, list(row)] = list(row.values())
        part = self._path.with_name(f".{self._path.stem}.part.csv")
        review_files.save(self._rows.reset_index(drop=True), part)
        part.replace(self._path)


def _review(run: Path, given: Mapping[str, str]) -> None:
    server, address = serve(board(run, given["reviewer"], int(given["per_stratum"])), int(given["port"]))
    console.print(f"review at {address}\nevery answer is saved to {run / 'review'}; end with Ctrl-C", soft_wrap=True)
    if given["open"] == "true":
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        console.print(f"\nwhat was found: python -m experiments.evalpair.review {run} summary", soft_wrap=True)
    finally:
        server.server_close()


def _run(word: str) -> Path:
    run = Path(word)
    if not (run / "verdicts.parquet").is_file():
        raise UserError(f"{run} is no finished run of evalpair: it holds no verdicts.parquet")
    return run


def _settings(words: list[str]) -> dict[str, str]:
    return read_words(words, DEFAULTS, ["port", "per_stratum"])


def _name(reviewer: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", reviewer).strip(".") or "_"
    if name in ("queue", "labels"):
        raise UserError(f"reviewer={reviewer} is the name of another file; choose another one")
    return name


if __name__ == "__main__":
    sys.exit(main())
