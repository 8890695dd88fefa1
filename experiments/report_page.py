"""The page of a report: puts what was found into words and plain data, and fills the template."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis import captions, drawing, twins
from analysis.inline_svg import inline
from analysis.outcomes import outcomes
from analysis.report import Grid, Plate, grid, render
from analysis.symbols import glossary
from experiments import caveats, citing, provenance, run_caveats
from experiments.citing import PAPERS, QUESTIONS
from experiments.designs import differences
from experiments.findings import Part
from experiments.runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 12
"""Rows of a table that is shown unfolded."""
WIDE = 6
"""Inches beyond which a figure stands alone in its row."""
Link = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Shown:
    """One design as the template takes it."""

    title: str
    """` (design 2)`, or empty where there is one."""
    suffix: str
    main: Grid | None
    glossary: Mapping[str, str]
    caveats: Sequence[caveats.Caveat]
    plates: Sequence[Plate]
    published: Sequence[Grid]
    outcomes: Grid
    policies: Grid | None
    compare: Grid | None
    further: Sequence[Grid]
    absent: Mapping[str, str]


def page(
    study: str, parts: Sequence[Part], *, out: Path, note: str, pending: Sequence[str], again: Sequence[str],
    link: Link | None, browser: str,
) -> str:  # fmt: skip
    """The page as text; draws the figures into `out/figures`.

    Args:
        study: its name.
        parts: what was found, a part a design.
        out: the report's folder.
        note: which rule for unreadable verdicts and which intervals.
        pending: runs that are planned and not finished, in words.
        again: commands that make the runs, where no manifest tells, and the report.
        link: from a row of a table to its verdicts.
        browser: where the verdicts are, relative to the page; empty: nowhere.
    """
    runs = [run for part in parts for run in part.runs]
    shown = [_shown(study, i, len(parts), part, out, note, link) for i, part in enumerate(parts, 1)]
    apart = differences([part.runs for part in parts]) if parts else pd.DataFrame()
    table = grid(provenance.overview(runs), "runs", "Runs of this study", most=1000) if runs else None
    return render(
        "report.html",
        title=_title(study, runs),
        question=QUESTIONS.get(study, ""),
        paper=PAPERS.get(study, ""),
        pending=pending,
        contents=_contents(shown, not apart.empty, bool(runs)),
        browser=browser,
        designs=shown,
        differences=None if apart.empty else grid(apart, "differences", "Settings that differ between runs"),
        overview=table,
        runs=[(f"{', '.join(run.judges)} on {run.data}", provenance.facts(run)) for run in runs],
        commands=[*provenance.commands(runs), *again],
        citation=citing.sentence(study, runs, note) if runs else "There is nothing to cite yet.",
        bibtex=citing.bibtex(study, runs),
        footer=f"Made by {citing.version(runs)} from verdicts and manifests alone; no model was asked for it. {note}",
    )


def _shown(study: str, i: int, of: int, part: Part, out: Path, note: str, link: Link | None) -> Shown:
    many = of > 1
    title, suffix = (f" (design {i})", f"-{i}") if many else ("", "")

    def made(name: str, table: pd.DataFrame, *, unfolded: bool = False) -> Grid:
        where = f"tables/{name}.csv"
        return grid(
            table,
            name,
            captions.caption(name),
            note=where,
            file=where,
            link=link,
            unfolded=unfolded or len(table) <= FEW,
        )

    tables = {name: made(name, table) for name, table in part.tables.items()}
    main = tables.pop(part.main, None)
    policies, compared = tables.pop("policies", None), tables.pop("compare", None)
    columns = [] if main is None else main.columns
    plates = [_plate(name, draw, part.metrics, out, suffix) for name, draw in part.figures.items()]
    return Shown(
        title,
        suffix,
        main,
        glossary(columns),
        _caveats(study, part),
        plates,
        [made(name, table) for name, table in part.published.items()],
        grid(outcomes(part.rows), "outcomes", "What became of the trials", link=link, unfolded=True),
        policies,
        compared,
        list(tables.values()),
        part.absent,
    )


def _caveats(study: str, part: Part) -> list[caveats.Caveat]:
    found = run_caveats.of_runs(part.runs)
    return found if study == "serving" else [*found, *caveats.of_verdicts(part.rows)]


def _plate(name: str, draw: "Callable[[pd.DataFrame], Figure]", metrics: pd.DataFrame, out: Path, suffix: str) -> Plate:
    figure = draw(metrics)
    path = out / "figures" / f"{name}{suffix.replace('-', '_')}"
    vector, _ = drawing.save(figure, path)
    caption = " ".join((draw.__doc__ or name.replace("_", " ")).split("\n\n")[0].split())
    drawn = twins.numbers(figure)
    told = None if drawn.empty else grid(drawn, name, f"Numbers of the figure {name}", file="metrics.csv", most=400)
    return Plate(
        name,
        caption,
        inline(vector.read_text(encoding="utf-8"), f"{name}{suffix}", caption),
        told,
        figure.get_figwidth() > WIDE,
    )


def _title(study: str, runs: Sequence[Run]) -> str:
    judges = len({judge for run in runs for judge in run.judges})
    data = len({run.data for run in runs})
    return f"{study}: {_count(judges, 'judge')} on {_count(data, 'data set')}" if runs else f"{study}: not finished"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _contents(shown: Sequence[Shown], differ: bool, any_runs: bool) -> list[tuple[str, str]]:
    found = [("asked", "What was asked")] if any_runs else []
    found += [("differences", "Differences")] if differ else []
    for d in shown:
        names = {
            "result": "Result", "caveats": "Limits", "figures": "Figures" if d.plates else "",
            "published": "Published beside ours" if d.published else "", "unreadable": "Without a verdict",
            "compare": "Judges compared" if d.compare else "", "tables": "Further tables" if d.further else "",
        }  # fmt: skip
        found += [(f"{anchor}{d.suffix}", f"{name}{d.title}") for anchor, name in names.items() if name]
    return [*found, ("again", "Do it again"), ("cite", "Cite")]
