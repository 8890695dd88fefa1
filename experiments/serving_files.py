"""The files of a serving run: every condition's answers held against those that were made alone."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import files
from experiments.conditions import CONDITIONS, ConditionName
from experiments.roster import Player
from experiments.runfolder import filled
from experiments.settings import PairwiseSettings
from judges.ask import Answered
from judges.engines import ScriptedSettings
from judges.records import Completion, Trial, Verdict

Answers = Mapping[ConditionName, Sequence[Answered[Verdict]]]
Split = Callable[[str], Sequence[object]]
"""From a text to its tokens."""


def publish(
    trials: Sequence[Trial], answers: Answers, judged_by: Player, settings: PairwiseSettings, note: Any, folder: Path
) -> pd.DataFrame:
    """Writes `serving.parquet`, `serving.csv` and the manifest; returns the table to be shown, a row a condition."""
    table = tabulate(trials, answers, settings, splitter(judged_by))
    summary = summarise(table)
    with filled(folder) as scratch:
        files.save(table, scratch / "serving.parquet")
        files.save(summary, scratch / "serving.csv")
        (scratch / "manifest.json").write_text(json.dumps(note, indent=1, ensure_ascii=False), encoding="utf-8")
    return summary


def tabulate(trials: Sequence[Trial], answers: Answers, settings: PairwiseSettings, split: Split) -> pd.DataFrame:
    """One row a call under a condition.

    `first_difference` is the number of the first token that differs from the reference condition's, from 0, and null
    where none does; `differing_tokens` counts the places where the two texts have different tokens, the longer one's
    rest included, and `tokens` all places. `max_logprob_difference` is over the labels, in natural logs.
    """
    rows: list[dict[str, Any]] = []
    for name, found in answers.items():
        reference = CONDITIONS[name].reference
        for trial, answer, alone in zip(trials, found, answers[reference], strict=True):
            rows.append(_row(name, trial, answer, alone, split) | {"reference_condition": reference})
    told = {"study": settings.study, "judge": settings.model.name}
    return pd.DataFrame(rows).assign(**told)[[*told, *rows[0]]]


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """For each condition the shares of verdicts, texts and tokens that differ from those of its reference."""
    beside = ["item", "order", "format"]
    alone = table.set_index(["condition", *beside])[["winner", "outcome", "text_sha"]]
    keys = pd.MultiIndex.from_frame(table[["reference_condition", *beside]])
    reference = alone.reindex(keys).reset_index(drop=True)
    differs = {name: table[name].fillna("").ne(reference[name].fillna("")) for name in reference}
    marked = table.assign(
        verdict=differs["winner"] | differs["outcome"],
        text=differs["text_sha"],
        logprob=table["max_logprob_difference"].astype(float),
    )
    grouped = marked.groupby("condition", sort=False)
    return pd.DataFrame(
        {
            "calls": grouped.size(),
            "verdicts_differ": grouped["verdict"].mean(),
            "texts_differ": grouped["text"].mean(),
            "tokens_differ": grouped["differing_tokens"].sum() / grouped["tokens"].sum().clip(lower=1),
            "first_difference": grouped["first_difference"].median(),
            "largest_logprob_difference": grouped["logprob"].max(),
        }
    ).reset_index()


def splitter(judged_by: Player) -> Split:
    """The tokens of the judge's own tokenizer; words where a script stands in for a model."""
    if isinstance(judged_by.engine, ScriptedSettings) or judged_by.engine.kind == "api":
        return str.split
    from judges.engines.chat import load_tokenizer
    from judges.engines.models import weights_folder

    placement = judged_by.model.placement()
    tokenizer = load_tokenizer(weights_folder(placement, judged_by.spec.revision), placement.trust_remote_code)
    return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]


def _row(
    name: ConditionName, trial: Trial, answer: Answered[Verdict], alone: Answered[Verdict], split: Split
) -> dict[str, Any]:
    completion, reference, item = answer.completions[-1], alone.completions[-1], trial.item
    pairs = list(zip_longest(split(completion.text), split(reference.text)))
    differing = [i for i, (one, other) in enumerate(pairs) if one != other]
    return {
        "dataset": item.dataset,
        "item": item.id,
        "group": item.group or item.id,
        "gold": item.gold,
        "order": trial.factors.order,
        "format": trial.factors.format,
        "condition": name,
        "batch": CONDITIONS[name].batch,
        "winner": answer.result.winner,
        "outcome": answer.result.outcome,
        "p_first": answer.result.p_first,
        "text_sha": hashlib.sha256(completion.text.encode()).hexdigest()[:16],
        "tokens": len(pairs),
        "first_difference": differing[0] if differing else None,
        "differing_tokens": len(differing),
        "max_logprob_difference": logprob_difference(completion, reference),
        "engine": completion.engine,
        "requests": " ".join(answer.keys),
    }


def logprob_difference(one: Completion, other: Completion) -> float | None:
    """The largest difference of a label's log-probability; None where the two have no label in common.

    >>> round(logprob_difference(*(Completion("", label_logprobs={"A": p}) for p in (-0.25, -0.5))), 6)
    0.25
    """
    a, b = one.label_logprobs or {}, other.label_logprobs or {}
    found = [abs(a[k] - b[k]) for k in a.keys() & b.keys() if math.isfinite(a[k]) and math.isfinite(b[k])]
    return max(found, default=None)
