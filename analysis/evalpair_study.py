"""The study `evalpair`: which of its metrics, tables and figures are made of a table of verdicts."""

from __future__ import annotations

from typing import get_args

from analysis import evalpair_figures as figures
from analysis import evalpair_tables as tables
from analysis.confusion import METRICS
from analysis.evalpair import design, evalpair, items
from analysis.grounded import Unreadable
from analysis.matched import Pairing
from analysis.study import Study

SEED = 20_260_627
"""Of the bootstrap, as the source has it."""

EVALPAIR = Study(
    metric_names=tuple(m.name for m in METRICS),
    metrics=evalpair,
    items=items,
    design=design,
    rules=get_args(Unreadable),
    bounded=("recall", "false_positive_rate"),
    choices={"pairing": get_args(Pairing)},
    seed=SEED,
    tables={
        "matrix": tables.matrix,
        "cells": tables.cells,
        "paired": tables.paired,
        "paired_slices": tables.paired_slices,
        "paired_behaviours": tables.paired_behaviours,
        "families": tables.families,
        "raw_and_paired": tables.raw_and_paired,
        "strata": tables.strata,
        "behaviours": tables.behaviours,
        "generation": tables.generation,
        "localisation": tables.localisation,
        "perturbations": tables.perturbations,
        "modified_passages": tables.modified_passages,
    },
    figures={
        "perturbation_types": figures.perturbation_types,
        "perturbers": figures.perturbers,
        "layers": figures.layers,
        "localisation": figures.localisation,
        "self_affinity": figures.self_affinity,
        "validation": figures.validation,
        "pushback": figures.pushback,
        "raw_and_paired": figures.raw_and_paired,
    },
)
