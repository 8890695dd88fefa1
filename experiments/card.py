"""Judge cards: all that the studies found about one judge, and what they did not look for, on one page and as JSON.

    python -m experiments.card judge=NAME[,NAME...] [root=runs] [out=ROOT/cards] [replicates=10000]
    python -m experiments.card --schema         # of the JSON

Reads verdict tables and manifests, and loads no model. Several names also give one page with the judges side by side.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.complaints import nearest
from experiments.words import read_words
from judges.records import UserError

if TYPE_CHECKING:
    from experiments.card_numbers import Metrics
    from experiments.card_record import Card
    from experiments.runs import Run

DEFAULTS = {"judge": "", "root": "runs", "out": "", "replicates": "10000"}


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0: done; 2: something to mend."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    from analysis.columns import TableError

    try:
        if words == ["--schema"]:
            from experiments.card_record import schema

            print(json.dumps(schema(), indent=1))
            return 0
        for path in cards(options(words)):
            print(path)
    except (UserError, TableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def options(words: Sequence[str]) -> dict[str, str]:
    """The settings of a command, from its KEY=VALUE words."""
    found = read_words(words, DEFAULTS, ["replicates"])
    if not found["judge"]:
        raise UserError("whose card? judge=NAME, or judge=NAME,NAME for several side by side")
    return found


def cards(given: Mapping[str, str]) -> list[Path]:
    """Writes the cards asked for; returns their files, the page with all judges last.

    Raises:
        UserError: no such judge has a run under the root.
        TableError: the verdicts of a run are faulty.
    """
    from experiments import card_page
    from experiments.card_numbers import measured
    from experiments.runs import find_all

    root, replicates = Path(given["root"]), int(given["replicates"])
    out = Path(given["out"]) if given["out"] else root / "cards"
    runs = find_all(root)
    names = named(given["judge"], runs, root)
    theirs = {name: [run for run in runs if name in run.judges] for name in names}
    metrics = measured([run for run in runs if any(run in own for own in theirs.values())], replicates)
    made = {stem: card(name, theirs[name], metrics, replicates, root, out) for stem, name in stems(names).items()}
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, one in made.items():
        written += [
            _write(out / f"{stem}.json", one.as_json()),
            _write(out / f"{stem}.html", card_page.alone(one, stem)),
        ]
    if len(made) > 1:
        written.append(_write(out / f"{_joined(list(made))}.html", card_page.together(made)))
    return written


def named(words: str, runs: "Sequence[Run]", root: Path) -> list[str]:
    """The judges that a command names, each once; a name may itself hold a comma.

    Raises:
        UserError: one of them has no run; says the nearest that has.
    """
    known = {judge for run in runs for judge in run.judges}
    if not known:
        raise UserError(f"there is no run in {root}; make one: python -m experiments experiment=trust root={root}")
    names = [words] if words in known else [name for word in words.split(",") if (name := word.strip())]
    for name in names:
        if name not in known:
            raise UserError(f"no run in {root} is of a judge called {name!r}; {nearest(name, known)}")
    return list(dict.fromkeys(names))


def stems(names: Sequence[str]) -> dict[str, str]:
    """Names of files for those judges, which no two share.

    >>> list(stems(["org/a", "org_a"]))
    ['org_a', 'org_a-2']
    """
    from experiments.settings import label

    found: dict[str, str] = {}
    for name in names:
        stem, number = label(name), 2
        while stem in found:
            stem, number = f"{label(name)}-{number}", number + 1
        found[stem] = name
    return found


def card(judge: str, runs: "Sequence[Run]", metrics: "Metrics", replicates: int, root: Path, out: Path) -> "Card":
    """The card of one judge."""
    from experiments import card_record as record
    from experiments.card_contents import family, limits, runs_of
    from experiments.card_costs import cost
    from experiments.card_gaps import gaps
    from experiments.card_numbers import numbers, options
    from experiments.citing import version

    found = list(numbers(judge, runs, metrics, replicates, out))
    return record.Card(
        judge=judge,
        family=family(judge, runs),
        software=version(runs),
        intervals=record.Intervals(replicates=replicates),
        rules={run.study: options(run.study, replicates).unreadable for run in runs},
        runs=tuple(runs_of(judge, runs, out)),
        numbers=tuple(found),
        costs=tuple(cost(run, judge) for run in runs if run.study != "serving"),
        not_tested=tuple(gaps(judge, runs, found, root)),
        limits=tuple(limits(judge, runs)),
    )


def _joined(names: Sequence[str]) -> str:
    """Names of several judges as that of one file, of a length that file systems take."""
    whole = "+".join(names)
    return whole if len(whole.encode()) <= 200 else f"{names[0][:40]}+{len(names) - 1}"


def _write(path: Path, text: str) -> Path:
    draft = path.with_name(f".{path.name}")
    draft.write_text(text, encoding="utf-8")
    return draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
