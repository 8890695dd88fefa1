"""Inspect's `.eval` logs, through inspect_ai's own reader; one record a sample, then a mapping like any table's.

A record has `model task dataset id epoch target text outcome metadata scores prompt_tokens completion_tokens`.
`scores.<scorer>.value` is what a scorer gave, `scores.<scorer>.answer` what it extracted.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.imports.files import Origin
from experiments.imports.judged import Record
from experiments.imports.mapping import Mapping
from judges.records import UserError

_OUTCOMES = {"max_tokens": "truncated", "model_length": "overflow", "content_filter": "refused"}

DEFAULT = Mapping(
    columns={
        "judge": "model",
        "dataset": "dataset",
        "item": "id",
        "gold": "target",
        "repeat": "epoch",
        "order": "order",
        "text": "text",
        "outcome": "outcome",
        "format": "format",
        "prompt_tokens": "prompt_tokens",
        "completion_tokens": "completion_tokens",
    },
    read="direct",
)
"""For a log of pairwise calls that answer with a letter; `order` and `format` come from the samples' metadata."""


def records(path: Path) -> Iterator[tuple[Origin, Record]]:
    """The samples of a log.

    Raises:
        UserError: inspect_ai is not installed, or cannot read the file.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise UserError("reading Inspect logs needs inspect_ai: pip install inspect_ai") from None
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # inspect_ai raises what its zip, JSON and model layers raise
        raise UserError(f"{path} cannot be read as an Inspect log: {error}") from None
    for index, sample in enumerate(log.samples or []):
        yield Origin(path, index), _record(log, sample)


def _record(log: Any, sample: Any) -> dict[str, Any]:
    metadata = dict(sample.metadata or {})
    usage = sample.output.usage
    return {
        "model": str(log.eval.model),
        "task": str(log.eval.task),
        "dataset": log.eval.dataset.name or str(log.eval.task),
        "id": str(sample.id),
        "epoch": sample.epoch - 1,
        "target": sample.target if isinstance(sample.target, str) else " ".join(sample.target),
        "text": sample.output.completion,
        "outcome": "error" if sample.error else _OUTCOMES.get(str(sample.output.stop_reason), ""),
        "metadata": metadata,
        "order": metadata.get("order", "AB"),
        "format": str(metadata.get("format", "")),
        "scores": _scores(sample),
        "prompt_tokens": usage.input_tokens if usage else None,
        "completion_tokens": usage.output_tokens if usage else None,
    }


def _scores(sample: Any) -> dict[str, Any]:
    return {name: {"value": s.value, "answer": s.answer} for name, s in (sample.scores or {}).items()}
