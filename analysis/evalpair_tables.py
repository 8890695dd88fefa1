"""The tables of the study `evalpair`, from its tidy metrics alone; nothing is computed here.

Source: 003_79504d017c0b1582.txt, tables 1 to 4, 9, 10, 13, 18 to 20 and 22.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.cells import OVERALL
from analysis.columns import TableError
from analysis.confusion import COUNTS, RAW
from analysis.evalpair import EFFECTS, SLICES, WAYS, WHOLE
from analysis.grounded import ADOPTING, BEHAVIOURS, DIAGNOSTIC, UNLABELLED, VALIDATED
from analysis.ratios import POOLED
from analysis.strata import MODIFIED, PERTURBER, TYPE
from analysis.tables import DASH, cell
from analysis.verdicts import CELL

LETTERS = {"precision": "P", "recall": "R", "f1": "F1"}
GENERATION = ("llm_labeled_refusals", "self_flagged_refusals", "context_follow_citing_modified", "context_follow_total")
WHOLE_NUMBERS = (*COUNTS, *GENERATION, "verdicts", "answers", "records")
NO_PAIRS = "needs at least two judges, one of which wrote answers that all of them judged (pairing=available: some)"
NO_FAMILIES = "needs judges of two families or more, one of which wrote answers; see judge_family and generator_family"
NO_BEHAVIOURS = "column 'behaviour' is empty: nobody has labelled the answers"


def matrix(metrics: pd.DataFrame) -> pd.DataFrame:
    """Precision, recall and F1 of every judge (row) on every generator's answers, with means of F1 (table 2)."""
    main = _main(metrics)
    own = main[main["metric"].isin(LETTERS) & (main["judge"] != POOLED)]
    own = own.assign(column=own["generator"] + " " + own["metric"].map(LETTERS))
    rows = main[main["metric"] == "f1_row_mean"].assign(column="mean F1")
    columns = main[main["metric"] == "f1_column_mean"]
    columns = columns.assign(judge="mean", column=columns["generator"] + " F1")
    ends = [
        main[main["metric"] == f"f1_{end}_mean"].assign(judge=f"{end} mean".replace("_", "-"), column="mean F1")
        for end in ("diagonal", "off_diagonal")
    ]
    shown = pd.concat([own, rows, columns, *ends])
    order = [f"{g} {letter}" for g in own["generator"].unique() for letter in LETTERS.values()]
    return _laid_out(shown, ["judge"], [*order, "mean F1"], bare=True)


def cells(metrics: pd.DataFrame) -> pd.DataFrame:
    """Counts and rates of every cell over all records (table 18)."""
    names = [*COUNTS, "precision", "recall", "f1", "false_positive_rate"]
    own = metrics[metrics["metric"].isin(names) & (metrics["slice"] == OVERALL) & (metrics["judge"] != POOLED)]
    own = own[own["generator"] != POOLED]
    table = _laid_out(own.assign(column=own["metric"]), ["judge", "generator"], names)
    return table.assign(unreadable=own.loc[own["metric"] == "n", "share_unreadable"].map("{:.3f}".format).to_numpy())


def paired(metrics: pd.DataFrame, prefix: str = "") -> pd.DataFrame:
    """Paired effects over all generators and for each (table 3)."""
    return _effects(_main(metrics), ["generator"], prefix)


def families(metrics: pd.DataFrame) -> pd.DataFrame:
    """Paired effects of families: judges of the generator's family against the others."""
    try:
        return paired(metrics, WAYS[1][1])
    except TableError as reason:
        raise TableError(NO_FAMILIES) from reason


def paired_slices(metrics: pd.DataFrame) -> pd.DataFrame:
    """Paired effects by whether the records were validated (table 19)."""
    return _effects(metrics[metrics["slice"].isin(WHOLE) & (metrics["generator"] == POOLED)], ["slice"])


def paired_behaviours(metrics: pd.DataFrame) -> pd.DataFrame:
    """Paired effects over answers of some behaviours (table 20)."""
    pooled = metrics[metrics["generator"] == POOLED]
    chosen = pooled[pooled["slice"].isin(SLICES)]
    if chosen.empty:
        raise TableError(NO_BEHAVIOURS)
    return _effects(pd.concat([_main(pooled), chosen]), ["slice"])


def raw_and_paired(metrics: pd.DataFrame) -> pd.DataFrame:
    """The raw diagonal contrast of every judge, which compares different answers, beside its paired one (figure 10)."""
    main = _main(metrics)
    own = main[main["metric"].isin(EFFECTS)]
    both = pd.concat([main[main["metric"].isin(RAW)], own.assign(judge=own["generator"])])
    both = both[both["judge"].isin(both.loc[both["metric"].isin(RAW), "judge"])]
    if both.empty or own.empty:
        raise TableError(NO_PAIRS)
    order = [name for pair in zip(RAW, EFFECTS, strict=True) for name in pair]
    return _laid_out(both.assign(column=both["metric"]), ["judge"], order)


def strata(metrics: pd.DataFrame) -> pd.DataFrame:
    """Verdicts by how the answer behaves (table 4): recall where it adopts the claim, else false positives."""
    names = ["verdicts", "answers", *(name for name in COUNTS if name not in ("n", "adopted"))]
    own = metrics[metrics["slice"].isin([*BEHAVIOURS, UNLABELLED]) & (metrics["judge"] == POOLED)]
    own = own[own["generator"] == POOLED]
    own = own[own["slice"].isin(own.loc[own["metric"] == "verdicts", "slice"])]
    if own.empty:
        raise TableError(NO_BEHAVIOURS)
    headline = np.where(own["slice"].isin(ADOPTING), "recall", "false_positive_rate")
    rates = own[own["metric"] == headline].assign(column="headline")
    order = {name: i for i, name in enumerate((*BEHAVIOURS, UNLABELLED))}
    shown = pd.concat([own.assign(column=own["metric"]), rates]).sort_values("slice", key=lambda s: s.map(order))
    table = _laid_out(shown, ["slice"], [*names, "headline"]).rename(columns={"slice": "behaviour"})
    named = np.where(table["behaviour"].isin(ADOPTING), "recall", "false_positive_rate")
    table.insert(len(table.columns) - 1, "rate", named)
    return table


def behaviours(metrics: pd.DataFrame) -> pd.DataFrame:
    """How each generator's answers deal with the perturbed evidence: count (share) (table 1)."""
    own = metrics[metrics["metric"].isin(["n", "share"]) & metrics["slice"].isin(BEHAVIOURS)]
    own = own[(own["judge"] == POOLED) & (own["generator"] != POOLED)]
    if own.empty:
        raise TableError(NO_BEHAVIOURS)
    keys = [*CELL, "slice"]
    both = own[own["metric"] == "n"].merge(own[own["metric"] == "share"], on=keys, suffixes=("", "_share"))
    text = [f"{n:.0f} ({cell(share)})" for n, share in both[["value", "value_share"]].to_numpy()]
    table = _laid_out(both.assign(column=both["generator"]), ["slice"], both["generator"].unique().tolist(), text=text)
    return table.rename(columns={"slice": "behaviour"})


def generation(metrics: pd.DataFrame) -> pd.DataFrame:
    """Refusals and citations of every generator (table 13)."""
    own = metrics[metrics["metric"].isin(GENERATION) & (metrics["generator"] != POOLED)]
    if own.empty:
        raise TableError(NO_BEHAVIOURS)
    return _laid_out(own.assign(column=own["metric"]), ["generator"], GENERATION)


def perturbations(metrics: pd.DataFrame) -> pd.DataFrame:
    """How many records were perturbed in each way (table 9), by each perturber (figure 4)."""
    own = _records(metrics, TYPE, "column 'perturbation_type' is empty")
    before = own["slice"].str.rpartition(TYPE)[0].str.strip("/")
    column = before.str.removeprefix(PERTURBER).mask(before == "", "total")
    kind = own["slice"].str.rpartition(TYPE)[2]
    order = [name for name in ("total", VALIDATED, DIAGNOSTIC) if (column == name).any()]
    order += sorted(set(column[before.str.startswith(PERTURBER)]) - set(order))
    shown = own.assign(column=column, perturbation_type=kind)
    return _laid_out(shown.sort_values("value", ascending=False), ["perturbation_type"], order)


def modified_passages(metrics: pd.DataFrame) -> pd.DataFrame:
    """How many passages were rewritten in a record (table 10)."""
    own = _records(metrics, MODIFIED, "column 'modified_passages' is empty")
    return _laid_out(
        own.assign(column="records", modified=own["slice"].str.removeprefix(MODIFIED)), ["modified"], ["records"]
    )


def localisation(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of true positives: is the cited passage a rewritten one, does the wrong claim hold what was put in (table 22)."""
    names = {"citation_locality": "citation", "wrong_claim_contains_replacement": "claim"}
    own = metrics[metrics["metric"].isin(names) & (metrics["slice"] == OVERALL) & (metrics["judge"] != POOLED)]
    own = own[own["value"].notna()]
    if own.empty:
        raise TableError("columns 'cites_modified' and 'claim_has_replacement' are empty for all true positives")
    own = own.assign(column=own["generator"] + " " + own["metric"].map(names))
    order = [f"{g} {name}" for name in names.values() for g in own["generator"].unique()]
    return _laid_out(own, ["judge"], [c for c in order if (own["column"] == c).any()])


def _main(metrics: pd.DataFrame) -> pd.DataFrame:
    """The validated records' numbers; all records', where none has a status."""
    return metrics[metrics["slice"] == (VALIDATED if (metrics["slice"] == VALIDATED).any() else OVERALL)]


def _effects(metrics: pd.DataFrame, index: Sequence[str], prefix: str = "") -> pd.DataFrame:
    names = [prefix + name for name in EFFECTS]
    own = metrics[metrics["metric"].isin(names)]
    if own["value"].isna().all():
        raise TableError(NO_PAIRS)
    counted = own[own["metric"] == names[-1]]
    answers = counted.assign(column="answers", value=counted["n"].astype(float), ci_low=np.nan, ci_high=np.nan)
    shown = pd.concat([own.assign(column=own["metric"]), answers])
    table = _laid_out(shown, index, ["answers", *names])
    return table.assign(note=counted["note"].to_numpy())


def _records(metrics: pd.DataFrame, prefix: str, reason: str) -> pd.DataFrame:
    own = metrics[(metrics["metric"] == "records") & metrics["slice"].str.contains(prefix, regex=False)]
    if own.empty:
        raise TableError(reason)
    return own


def _laid_out(
    chosen: pd.DataFrame, index: Sequence[str], order: Sequence[str], *, bare: bool = False, text: Sequence[str] = ()
) -> pd.DataFrame:
    """One row an index in a setting, one column a value of `column`, in this order; as text."""
    others = [c for c in CELL if c not in ("judge", "generator")]
    told = [c for c in others if c == "dataset" or chosen[c].nunique(dropna=False) > 1]
    keys = [*told, *index]
    row = chosen.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    shown = list(text) or _texts(chosen, bare)
    body = pd.DataFrame({"row": row, "column": chosen["column"].to_numpy(), "text": shown})
    wide = body.pivot(index="row", columns="column", values="text").reindex(columns=list(order))
    first = chosen[keys].iloc[np.unique(row, return_index=True)[1]].reset_index(drop=True)
    return first.join(wide.astype(object).fillna(DASH).rename_axis(index=None, columns=None))


def _texts(chosen: pd.DataFrame, bare: bool) -> list[str]:
    """Counts as whole numbers; rates to three places, with their intervals unless `bare`."""
    counted = chosen["metric"].isin(WHOLE_NUMBERS) | (chosen["column"] == "answers")
    numbers = chosen[["value", "ci_low", "ci_high"]].to_numpy(dtype=float)
    return [
        f"{value:.0f}" if whole else cell(value) if bare else cell(value, low, high)
        for whole, (value, low, high) in zip(counted, numbers, strict=True)
    ]
