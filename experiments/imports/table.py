"""Judged trials as a verdict table, and the list of rows that a person should look at."""

from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter

import pandas as pd

from analysis.verdicts import READABLE
from experiments.imports.files import Origin
from experiments.imports.judged import NO_VERDICT, Judged
from judges.records import UserError, Verdict

STUDY = "imported"
_ROW = [f.name for f in fields(Judged) if f.name != "verdict"]
_READING = [f.name for f in fields(Verdict)]


def tabulate(rows: Sequence[tuple[Origin, Judged]]) -> pd.DataFrame:
    """One row a judged trial: columns as in `analysis.verdicts`, then stored, remark, text_end and origin.

    Raises:
        UserError: there are no rows.
    """
    if not rows:
        raise UserError("the files hold no judgement")
    judged = [row for _, row in rows]
    verdicts = [row.verdict for row in judged]
    columns: dict[str, object] = {"study": STUDY}
    columns |= {name: list(map(attrgetter(name), judged)) for name in _ROW}
    columns |= {name: list(map(attrgetter(name), verdicts)) for name in _READING}
    columns["origin"] = [str(origin) for origin, _ in rows]
    return pd.DataFrame(columns)


def differing(table: pd.DataFrame) -> "pd.Series[bool]":
    """Where the source stored a verdict that is not the one read."""
    return (table["stored"] != "") & (table["stored"] != table["winner"].fillna(NO_VERDICT))


def disagreements(table: pd.DataFrame) -> pd.DataFrame:
    """The rows to look at: the source stored another verdict, or there is something to remark on."""
    listed = table[differing(table) | (table["remark"] != "")]
    names = [
        "origin",
        "judge",
        "dataset",
        "item",
        "format",
        "order",
        "outcome",
        "stored",
        "winner",
        "remark",
        "text_end",
    ]
    return listed[names].assign(differs=differing(listed)).rename(columns={"winner": "read"})


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """What was read, one row a judge, data set, method and format."""
    told = table.assign(
        ties=table["outcome"] == "tie",
        no_verdict=~table["outcome"].isin(READABLE),
        compared=table["stored"] != "",
        differ=differing(table),
    )
    cells = told.groupby(["judge", "dataset", "method", "format"], sort=True)
    counts = cells[["ties", "no_verdict", "compared", "differ"]].sum()
    counts.insert(0, "verdicts", cells.size())
    return counts.reset_index()
