"""The files of a serving run: every condition's answers held against those that were made alone."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import files, tables, verdicts
from analysis.columns import TableError
from analysis.serving_tables import findings
from analysis.study import Options
from experiments.conditions import CONDITIONS, ConditionName
from experiments.roster import Player
from experiments.runfolder import filled
from experiments.settings import PairwiseSettings
from judges.ask import Answered
from judges.engines import ScriptedSettings
from judges.records import Completion, Trial, UserError, Verdict

Answers = Mapping[ConditionName, Sequence[Answered[Verdict]]]
Split = Callable[[str], Sequence[object]]
"""From a text to its tokens."""
NAMES: Mapping[ConditionName, str] = {"alone": "serving", "invariant_alone": "serving_batch_invariant"}
"""Names of the tables, by what their conditions are held against."""


def publish(
    trials: Sequence[Trial], answers: Answers, judged_by: Player, settings: PairwiseSettings, note: Any, folder: Path
) -> pd.DataFrame:
    """Writes the served calls, what follows from them, and the manifest; returns the main table, a row a condition.

    Batch-invariant kernels give other texts than the usual ones: their conditions are held against each other, in a
    table of their own, in which the one made alone is called so, too.
    """
    options = Options("drop", **settings.bootstrap.model_dump())
    sampled = _sampled(settings)
    shown = []
    with filled(folder) as scratch:
        for reference, name in NAMES.items():
            if reference in answers:
                table = tabulate(trials, answers, reference, settings, splitter(judged_by))
                files.save(table, scratch / f"{name}.parquet")
                place = scratch if name == "serving" else scratch / name
                shown.append(_measure(scratch / f"{name}.parquet", sampled, options, place))
        (scratch / "manifest.json").write_text(json.dumps(note, indent=1, ensure_ascii=False), encoding="utf-8")
    return shown[0]


def _measure(served: Path, sampled: pd.DataFrame | None, options: Options, place: Path) -> pd.DataFrame:
    try:
        found = findings([served], sampled, options)
    except TableError as error:
        raise UserError(str(error)) from error
    tables.publish(found.metrics, found.items, found.tables, place)
    return next(iter(found.tables.values()))


def _sampled(settings: PairwiseSettings) -> pd.DataFrame | None:
    """Verdicts of the same judge on the same data with repeats, where a study of this root has made some."""
    for study in ("confidence", "trust"):
        path = settings.root / study / settings.data.label / settings.model.label / "verdicts.parquet"
        if path.exists():
            return verdicts.read([path])
    return None


def tabulate(
    trials: Sequence[Trial], answers: Answers, reference: ConditionName, settings: PairwiseSettings, split: Split
) -> pd.DataFrame:
    """One row a call under each condition that is held against the reference; columns as in `analysis.serving`.

    `first_difference` counts from 0, and is -1 where no token differs; `differing_tokens` counts the places where the
    two texts have different tokens, the longer one's rest included, and `tokens` all places. `max_logprob_difference`
    is over the labels.
    """
    rows = [
        _row("alone" if name == reference else name, trial, answer, alone, split) | {"batch": CONDITIONS[name].batch}
        for name, found in answers.items()
        if CONDITIONS[name].reference == reference
        for trial, answer, alone in zip(trials, found, answers[reference], strict=True)
    ]
    told = {"study": settings.study, "judge": settings.model.name}
    return pd.DataFrame(rows).assign(**told)[[*told, *rows[0]]]


def splitter(judged_by: Player) -> Split:
    """The tokens of the judge's own tokenizer; words where a script stands in for a model."""
    if isinstance(judged_by.engine, ScriptedSettings) or judged_by.engine.kind == "api":
        return str.split
    from judges.engines.chat import load_tokenizer
    from judges.engines.models import weights_folder

    placement = judged_by.model.placement()
    tokenizer = load_tokenizer(weights_folder(placement, judged_by.spec.revision), placement.trust_remote_code)
    return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]


def _row(name: str, trial: Trial, answer: Answered[Verdict], alone: Answered[Verdict], split: Split) -> dict[str, Any]:
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
        "winner": answer.result.winner,
        "outcome": answer.result.outcome,
        "p_first": answer.result.p_first,
        "text_sha": hashlib.sha256(completion.text.encode()).hexdigest()[:16],
        "tokens": len(pairs),
        "first_difference": differing[0] if differing else -1,
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
