"""The studies of judges and references, as the list of studies knows them: `swapref` and `refsense`."""

from __future__ import annotations

from typing import get_args

from analysis import (
    refsense,
    refsense_figures,
    refsense_people,
    refsense_tables,
    swapref,
    swapref_figures,
    swapref_items,
    swapref_tables,
)
from analysis.study import Study

SWAPREF = Study(
    metric_names=tuple(m.name for m in swapref.METRICS),
    metrics=swapref.swapref,
    items=swapref_items.items,
    design=swapref.design,
    rules=get_args(swapref_items.Unreadable),
    bounded=("ACC_o", "ACC_s", "RPAG"),
    tables={
        "swapref": swapref_tables.main_table,
        "accuracy_by_swap": swapref_tables.accuracies,
        "pairings": swapref_tables.pairings,
        "prompting": swapref_tables.prompting,
        "counts": swapref_tables.counts,
        "strata": swapref_tables.strata,
    },
    figures={
        "gap_by_judge": swapref_figures.gap_by_judge,
        "gap_by_popularity": swapref_figures.gap_by_popularity,
        "gap_by_freshness": swapref_figures.gap_by_freshness,
    },
)
REFSENSE = Study(
    metric_names=tuple(m.name for m in refsense.METRICS),
    metrics=refsense.refsense,
    items=refsense.items,
    design=refsense.design,
    rules=get_args(refsense.Unreadable),
    bounded=("C1", "C2", "CGP"),
    tables={
        "calibration": refsense_tables.calibration,
        "sensitivity": refsense_tables.sensitivity,
        "directions": refsense_tables.directions,
        "extracted": refsense_tables.extracted,
        "position": refsense_tables.position,
        "human": refsense_tables.human,
        "human_by_judge": refsense_tables.human_by_judge,
        "own_answers": refsense_tables.own_answers,
    },
    further={"annotators": lambda metrics, items, options: refsense_people.annotators(items)},
    figures={
        "calibration": refsense_figures.calibration,
        "correctness": refsense_figures.correctness,
        "directions": refsense_figures.directions,
        "extracted": refsense_figures.extracted,
    },
    choices={"partial": get_args(refsense_people.Partial)},
)
