"""What each table shows, in words, and the note below it: which rule for unreadable verdicts, which intervals."""

from __future__ import annotations

from collections.abc import Mapping

CAPTIONS: Mapping[str, str] = {
    "trust": "How far verdicts can be trusted: reproducibility, order flips, accuracy and trustworthy verdict rate",
    "format_range": "How much the trustworthy verdict rate depends on the output format",
    "gap": "The product form of T beside the joint share",
    "trust_by_source": "Trustworthy verdict rate by part of the data set",
    "trust_by_item": "Every item: how often it was judged reproducibly, invariantly and right",
    "paradigms": "Ways of asking side by side",
    "temperature": "What sampling at a higher temperature changes",
    "anova": "Analysis of variance of T over cells",
    "g_study": "Where verdicts vary from: variance components",
    "g_study_correct": "Where being right varies from: variance components",
    "d_study": "Dependability of designs, and what they cost in calls",
    "orders": "Accuracy over both orders, and what a single order would have said",
    "accuracy": "Accuracy by category",
    "policies": "The same metrics under every rule for unreadable verdicts, and the worst and best that those allow",
    "compare": "Judges compared on the items that both have judged",
    "swapref": "Accuracy under the original and the swapped reference, and their gap",
    "accuracy_by_swap": "Accuracy and gap by kind of swap",
    "pairings": "Accuracy by pairing of reference and candidate",
    "prompting": "The gap by prompting strategy",
    "counts": "Items by kind of swap and data set",
    "strata": "By stratum",
    "calibration": "Calibration",
    "sensitivity": "Share judged CORRECT in each setting, and flips between settings",
    "directions": "What the flips between settings are",
    "extracted": "Extracted answer and verdict, same or changed between settings",
    "position": "The reference before and after the answer",
    "human": "Agreement with people",
    "human_by_judge": "Agreement with people by judge",
    "own_answers": "Own answers against those of others: the same answer, its own judge and other judges",
    "annotators": "Agreement of two people with each other",
    "matrix": "Judges by generators: precision, recall and F1",
    "cells": "Every judge on every generator: counts and rates",
    "paired": "Answer-paired effects: a model's own judge less the other judges",
    "paired_slices": "Answer-paired effects by slice",
    "paired_behaviours": "Answer-paired effects by what the answer did",
    "families": "Answer-paired effects of families",
    "raw_and_paired": "The raw diagonal contrast beside the paired one",
    "behaviours": "What generators did with the perturbed passages",
    "generation": "Diagnostics of generation",
    "localisation": "Whether flags point at what was changed",
    "perturbations": "Kinds of perturbation",
    "modified_passages": "Passages modified per record",
    "confidence": "What signals of confidence are worth",
    "expected": "The audit expected from log-probabilities beside the sampled one",
    "selective": "Accuracy where the least certain verdicts are left out",
    "costs": "What each signal costs",
    "not_recorded": "Signals that were not recorded, and what records them",
    "signals": "Signals compared on the same verdicts",
    "serving": "What depends on how requests are served",
    "decomposition": "What sampling and serving add to irreproducibility",
    "published_faults": "What is known to be wrong in the printed numbers",
}
RULES: Mapping[str, str] = {
    "drop": "left out",
    "fail": "counted as failures of the judge",
    "tie": "counted as ties",
    "wrong": "counted as wrong",
    "reject": "counted as rejections",
    "miss": "counted as misses",
}


def caption(name: str) -> str:
    """What a table shows.

    >>> caption("accuracy"), caption("published_table_7")
    ('Accuracy by category', 'Ours beside the published numbers: table 7')
    """
    if name.startswith("published_") and name not in CAPTIONS:
        return f"Ours beside the published numbers: {name.removeprefix('published_').replace('_', ' ')}"
    return CAPTIONS.get(name, name.replace("_", " ").capitalize())


def note(unreadable: str, replicates: int, interval: str, seed: int) -> str:
    """What a reader of a table must know.

    Args:
        unreadable: the rule for verdicts that could not be read.
        replicates: of the bootstrap; 0: there are no intervals.
        interval: `percentile` or `bca`.
        seed: of the bootstrap.
    """
    kind = {"bca": "BCa"}.get(interval, interval)
    ends = (
        f"Brackets: 95 % {kind} intervals of a cluster bootstrap, {replicates:,} replicates, seed {seed}."
        if replicates
        else "No intervals were asked for."
    )
    rule = f"Unreadable verdicts are {RULES.get(unreadable, unreadable)} ({unreadable})."
    return f"n: units behind the number. {rule} {ends}"
