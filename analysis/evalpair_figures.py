"""The figures of the study `evalpair`, drawn from its tidy metrics alone.

Source: 003_79504d017c0b1582.txt, figures 3 to 10, by what its captions and text say that they show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.cells import OVERALL
from analysis.confusion import RAW
from analysis.drawing import GREY, Look, canvas, empty, legend, looks, name
from analysis.evalpair import EFFECTS
from analysis.grounded import DIAGNOSTIC, VALIDATED
from analysis.ratios import POOLED
from analysis.strata import PERTURBER, PUSHBACK, TYPE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 0.8
"""Of the bars at one place together."""


def perturbation_types(metrics: pd.DataFrame) -> Figure:
    """How records were perturbed, and how many of each type were validated (figure 3)."""
    title = "Types of perturbation"
    counts = _wide(_records(metrics, TYPE), "kind", "group")
    counts = counts.reindex(columns=[c for c in (VALIDATED, DIAGNOSTIC) if c in counts])
    if counts.empty:
        return empty(title, "no record says how it was perturbed and whether it was validated")
    counts = counts.fillna(0).loc[counts.sum(axis=1).sort_values().index]
    with canvas(5.6, 1.2 + 0.28 * len(counts)) as (figure, (axes,)):
        left = np.zeros(len(counts))
        for group, look in looks(counts.columns).items():
            axes.barh([name(kind) for kind in counts.index], counts[group], left=left, color=look.colour, label=group)
            left += counts[group].to_numpy()
        axes.set(xlabel="records", title=title)
        legend(figure, axes)
    return figure


def perturbers(metrics: pd.DataFrame) -> Figure:
    """Records of each type by perturber (figure 4)."""
    title = "Perturbers and types"
    counts = _wide(_records(metrics, TYPE), "kind", "group").T
    counts = counts[counts.index.str.startswith(PERTURBER)].dropna(axis=1, how="all").fillna(0)
    if counts.empty:
        return empty(title, "no record says who perturbed it")
    rows = [f"{name(str(p).removeprefix(PERTURBER))} ({int(n)})" for p, n in counts.sum(axis=1).items()]
    return _heat(counts.to_numpy(), rows, [name(k) for k in counts], title, "{:.0f}")


def layers(metrics: pd.DataFrame) -> Figure:
    """Labels, which know the perturbation, against flags, which don't: verdicts by both (figure 5)."""
    title = "Labels against flags"
    own = _pooled(metrics, _main(metrics))["value"].reindex(["TP", "FN", "FP", "TN"])
    if own.fillna(0).sum() == 0:
        return empty(title, "no answer has a label")
    counts = own.fillna(0).to_numpy().reshape(2, 2)
    rows = ["adopted the induced claim", "avoided it"]
    return _heat(counts, rows, ["flagged", "not flagged"], title, "{:.0f}", xlabel="judge, blind", ylabel="label")


def localisation(metrics: pd.DataFrame) -> Figure:
    """Of true positives: is the cited passage a rewritten one, does the claim hold what was put in (figure 6)."""
    title = "Where judges point to"
    says = ("cites a rewritten passage", "quotes the new value")
    names = dict(zip(("citation_locality", "wrong_claim_contains_replacement"), says, strict=True))
    own = metrics[metrics["metric"].isin(names) & (metrics["slice"] == OVERALL) & (metrics["judge"] != POOLED)]
    own = own[own["value"].notna() & (own["generator"] != POOLED)]
    if own.empty:
        return empty(title, "no true positive has a cited passage or a claim")
    own = own.assign(at=own["judge"] + " on " + own["generator"], series=own["metric"].map(names))
    return _bars(own, title, "share of true positives")


def self_affinity(metrics: pd.DataFrame) -> Figure:
    """How often each generator follows records of each perturber (figure 7): confounded by the types they prefer."""
    own = _rates(metrics, "context_follow_rate", PERTURBER)
    own = own.assign(at=own["generator"], series="perturbed by " + own["part"])
    title = "Following the evidence, by perturber"
    return _bars(own, title, "share that follows") if len(own) else empty(title, "no record says who perturbed it")


def validation(metrics: pd.DataFrame) -> Figure:
    """How often generators follow validated and diagnostic records (figure 8)."""
    title = "Following the perturbed evidence"
    own = metrics[(metrics["metric"] == "context_follow_rate") & metrics["slice"].isin([VALIDATED, DIAGNOSTIC])]
    own = own[own["value"].notna()].assign(at=own["generator"].replace(POOLED, "all"), series=own["slice"])
    return _bars(own, title, "share that follows") if len(own) else empty(title, "no record has a status")


def pushback(metrics: pd.DataFrame) -> Figure:
    """How often generators resist each type of perturbation (figure 9)."""
    title = "Resisting the perturbed evidence"
    found = [_rates(metrics, f"{response}_rate", TYPE).assign(series=response) for response in PUSHBACK]
    own = pd.concat(found)
    own = own[own["generator"] == POOLED]
    return (
        _bars(own.assign(at=own["part"]), title, "share of answers") if len(own) else empty(title, "no labelled type")
    )


def raw_and_paired(metrics: pd.DataFrame) -> Figure:
    """Difference in recall on a judge's own model's answers: raw and on the same answers (figure 10)."""
    return contrasts(metrics, next(iter(RAW)), EFFECTS[0], "Recall on the own model's answers")


def contrasts(metrics: pd.DataFrame, raw: str, paired: str, title: str) -> Figure:
    """A raw diagonal contrast and its paired one, side by side for every judge that matches a generator."""
    main = metrics[metrics["slice"] == _main(metrics)]
    same = main[main["metric"] == paired].assign(at=lambda t: t["generator"], series="paired on the answer")
    other = main[main["metric"] == raw].assign(at=lambda t: t["judge"], series="raw diagonal")
    own = pd.concat([other, same])
    own = own[own["value"].notna() & own["at"].isin(set(other["at"]) & set(same["at"]))]
    if own.empty:
        return empty(title, "no judge wrote answers that others judged, too")
    own = _placed(own.assign(at=own["at"].replace(POOLED, "all")))
    places = list(dict.fromkeys(own["at"]))
    with canvas(5.6, 1.6 + 0.4 * len(places)) as (figure, (axes,)):
        axes.axvline(0, color=GREY, lw=0.8)
        for i, (series, look) in enumerate(looks(own["series"]).items()):
            _interval(axes, own[own["series"] == series], places, 0.15 * (2 * i - 1), series, look)
        axes.set_yticks(range(len(places)), [name(place) for place in places])
        axes.invert_yaxis()
        axes.set(xlabel="matching judge − others", title=title)
        legend(figure, axes)
    return figure


def _interval(axes: Axes, own: pd.DataFrame, places: Sequence[str], shift: float, series: str, look: Look) -> None:
    y = own["at"].map(list(places).index) + shift
    axes.hlines(y, own["ci_low"], own["ci_high"], color=look.colour, lw=1.2)
    axes.scatter(own["value"], y, c=look.colour, marker=look.mark, s=26, label=series)


def _bars(own: pd.DataFrame, title: str, ylabel: str) -> Figure:
    """Bars with intervals at each place, one for each series."""
    own = _placed(own)
    places, series = list(dict.fromkeys(own["at"])), looks(own["series"])
    width = WIDTH / len(series)
    with canvas(max(4.5, 1.5 + 0.5 * len(places) * max(1, len(series) / 2)), 3.6) as (figure, (axes,)):
        for i, (one, look) in enumerate(series.items()):
            part = own[own["series"] == one]
            x = part["at"].map(places.index) - WIDTH / 2 + (i + 0.5) * width
            axes.bar(x, part["value"], width, color=look.colour, label=name(one))
            axes.vlines(x, part["ci_low"], part["ci_high"], color=GREY, lw=1.5)
        axes.set_xticks(range(len(places)), [name(p, 24) for p in places], rotation=30, ha="right")
        axes.set(ylabel=ylabel, title=title, ylim=(0, None))
        legend(figure, axes)
    return figure


def _placed(own: pd.DataFrame) -> pd.DataFrame:
    """With the data set before each place, where there are several."""
    return own.assign(at=own["dataset"] + ": " + own["at"]) if own["dataset"].nunique() > 1 else own


def _heat(
    counts: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str, form: str, **labels: str
) -> Figure:
    """A table of counts, the darker the more."""
    with canvas(2.4 + 0.75 * len(columns), 1.8 + 0.4 * len(rows)) as (figure, (axes,)):
        axes.imshow(counts, cmap="Blues", aspect="auto", vmin=0, vmax=1.6 * max(counts.max(), 1))
        for (y, x), count in np.ndenumerate(counts):
            axes.text(x, y, form.format(count), ha="center", va="center", fontsize=8)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xticks(range(len(columns)), columns, rotation=30 if len(columns) > 2 else 0)
        axes.set(title=title, **labels)
    return figure


def _main(metrics: pd.DataFrame) -> str:
    return VALIDATED if (metrics["slice"] == VALIDATED).any() else OVERALL


def _pooled(metrics: pd.DataFrame, slice_: str) -> pd.DataFrame:
    """Counts of all judges and generators together, over all data sets."""
    own = metrics[(metrics["judge"] == POOLED) & (metrics["generator"] == POOLED) & (metrics["slice"] == slice_)]
    return own.groupby("metric")[["value"]].sum()


def _records(metrics: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Numbers of records with what follows the prefix as `kind` and what comes before it as `group`."""
    own = metrics[(metrics["metric"] == "records") & metrics["slice"].str.contains(prefix, regex=False)]
    parts = own["slice"].str.extract(f"^(.*){prefix}(.*)$")
    return own.assign(group=parts[0].str.strip("/"), kind=parts[1])


def _wide(own: pd.DataFrame, index: str, columns: str) -> pd.DataFrame:
    return own.pivot_table(index=index, columns=columns, values="value", aggfunc="sum")


def _rates(metrics: pd.DataFrame, metric: str, prefix: str) -> pd.DataFrame:
    """Defined rates of slices that begin so, with the rest of the slice's name as `part`."""
    own = metrics[(metrics["metric"] == metric) & metrics["slice"].str.startswith(prefix) & metrics["value"].notna()]
    own = own[(own["generator"] != POOLED) | (prefix == TYPE)]
    return own.assign(part=own["slice"].str.removeprefix(prefix))
