"""Gathers all runs of a study: a page, metrics, tables and figures over every judge and data set found.

    python -m experiments.report experiment=trust [root=runs] [unreadable=drop] [replicates=10000]

Reads verdict tables and loads no model; what it writes is made anew each time. `report/index.html` is one file that
works offline.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from experiments.complaints import nearest
from experiments.words import read_words
from judges.records import UserError

if TYPE_CHECKING:
    from analysis.studies import Options
    from experiments.findings import Part
    from experiments.runs import Run

LINKED = ("method", "format", "generator")
"""Factors that a link into the verdicts names, where a table tells them."""
ALL = "*"
"""In place of a factor: all of them together."""
REPORT = "python -m experiments.report"
DEFAULTS = {"experiment": "", "root": "runs", "unreadable": "", "replicates": "10000"}


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0: done; 2: something to mend."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    from analysis.columns import TableError

    try:
        report(options(words))
    except (UserError, TableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def options(words: list[str]) -> dict[str, str]:
    """The settings of a command, from its KEY=VALUE words."""
    return read_words(words, DEFAULTS, ["replicates"])


def report(given: Mapping[str, str]) -> Path:
    """Writes `<root>/<study>/report` and prints the main table; returns the folder.

    Raises:
        UserError: no such study, or nothing of it under the root.
        TableError: the verdicts of a run are faulty.
    """
    from analysis import captions
    from experiments import findings
    from experiments.console import console, show
    from experiments.designs import designs
    from experiments.runs import find

    name, root = given["experiment"], Path(given["root"])
    options = _estimation(name, given)
    runs, pending = find(root, name), waiting(root, name)
    if not runs and not pending:
        raise UserError(_nothing(root, name))
    parts = [findings.measured(name, group, options) for group in designs(runs)]
    note = captions.note(options.unreadable, options.replicates, options.interval, options.seed) if runs else ""
    out = root / name / "report"
    _clear(out)
    _write_tables(parts, out, note)
    _write_page(name, parts, out, note, pending, root, given)
    for part in parts:
        for table, reason in part.absent.items():
            console.print(f"no table {table}: {reason}", markup=False, soft_wrap=True)
        if part.main:
            show(part.tables[part.main], f"{name}: {len(part.runs)} run{'s' * (len(part.runs) != 1)}", out)
    for line in pending:
        console.print(f"not finished: {line}", markup=False, soft_wrap=True)
    console.print(f"the page is {out / 'index.html'}", markup=False, soft_wrap=True)
    return out


def waiting(root: Path, study: str) -> list[str]:
    """Runs that have a plan, and no tables of it: which, and how far they have come."""
    from experiments.plans import plans
    from experiments.status import progress
    from judges.store.tally import tally

    lacking = [plan for plan in plans(root) if plan.study == study and not plan.tabulated]
    if not lacking:
        return []
    try:
        found = tally(root / "store")
    except UserError:
        return [f"{plan.judge} on {plan.data}: {len(plan.keys):,} calls planned" for plan in lacking]
    states = [progress(plan, found) for plan in lacking]
    return [f"{s.plan.judge} on {s.plan.data}: {s.done:,} of {s.total:,} known calls answered" for s in states]


def _estimation(name: str, given: Mapping[str, str]) -> "Options":
    """How numbers are found: the study's rule and seed, unless others are asked for."""
    from analysis.studies import STUDIES, Options

    known = [*STUDIES, "serving"]
    if name not in known:
        raise UserError(f"no study is called {name!r}; {nearest(name, known)}")
    rules, seed = (STUDIES[name].rules, STUDIES[name].seed) if name in STUDIES else (("drop",), 0)
    rule = given["unreadable"] or rules[0]
    if rule not in rules:
        raise UserError(f"unreadable={rule}: {name} knows {', '.join(rules)}")
    return Options(rule, int(given["replicates"]), seed)


def _nothing(root: Path, name: str) -> str:
    """What there is in place of runs of a study, and how to make some."""
    from experiments.runs import find_all

    if not root.is_dir():
        there = f"there is no folder {root}"
    else:
        others = [run.study for run in find_all(root)]
        counts = ", ".join(f"{study} ({others.count(study)})" for study in dict.fromkeys(others))
        there = f"there is no run in {root / name}" + (f"; runs of other studies there: {counts}" if counts else "")
    return f"{there}; make one: python -m experiments experiment={name} root={root}"


def _clear(out: Path) -> None:
    """Takes away tables and figures of an earlier report, which may have had more."""
    for pattern in ("tables/*.csv", "tables/*.md", "tables/*.tex", "figures/*.svg", "figures/*.png"):
        for path in out.glob(pattern):
            path.unlink()


def _write_tables(parts: "Sequence[Part]", out: Path, note: str) -> None:
    """Tables of all designs, which a column numbers where there are several."""
    import pandas as pd

    from analysis import tables

    def together(found: Sequence[pd.DataFrame | None]) -> pd.DataFrame:
        numbered = [t.assign(design=i)[["design", *t]] for i, t in enumerate(found, 1) if t is not None]
        return pd.concat(numbered, ignore_index=True) if len(parts) > 1 else next(t for t in found if t is not None)

    if not parts:
        return
    everything = [{**part.tables, **part.published} for part in parts]
    names = dict.fromkeys(name for found in everything for name in found)
    made = {name: together([found.get(name) for found in everything]) for name in names}
    metrics, items = together([part.metrics for part in parts]), together([part.items for part in parts])
    tables.publish(metrics, items, made, out, note)


def _write_page(
    name: str, parts: "Sequence[Part]", out: Path, note: str, pending: Sequence[str], root: Path,
    given: Mapping[str, str],
) -> None:  # fmt: skip
    from experiments.report_page import page

    browser = _write_verdicts([run for part in parts for run in part.runs], root, out)
    words = [f"{key}={value}" for key, value in given.items() if key != "root" and value != DEFAULTS[key]]
    again = [*([] if parts else [f"python -m experiments experiment={name}"]), f"{REPORT} {' '.join(words)}"]
    link = _verdicts_of if browser else None
    text = page(name, parts, out=out, note=note, pending=pending, again=again, link=link, browser=browser)
    out.mkdir(parents=True, exist_ok=True)
    draft = out / ".index.html"
    draft.write_text(text, encoding="utf-8")
    draft.replace(out / "index.html")


def _write_verdicts(runs: "Sequence[Run]", root: Path, out: Path) -> str:
    """The page of the verdicts themselves; returns its name."""
    if not runs or find_spec("experiments.browser") is None:
        return ""
    from importlib import import_module

    import_module("experiments.browser").write(runs, root, out)
    return "verdicts.html"


def _verdicts_of(row: Mapping[str, object]) -> str:
    """Where the verdicts behind a row of a table are shown."""
    names = {"judge": "judge", "data": "dataset", **{name: name for name in LINKED}}
    told = {key: row[column] for key, column in names.items() if row.get(column) not in (None, "", ALL)}
    return f"verdicts.html#{urlencode(told)}" if "judge" in told else ""


if __name__ == "__main__":
    sys.exit(main())
