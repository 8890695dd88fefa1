"""Crosses items with factors into trials, and tabulates what became of them."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import product

import pandas as pd

from experiments.settings import Model, PairwiseSettings
from judges.ask import Answered
from judges.records import Factors, Item, Trial, UserError, Verdict

_FACTORS = [f.name for f in fields(Factors)]
_READING = [f.name for f in fields(Verdict)]


def cross(items: Iterable[Item], settings: PairwiseSettings) -> list[Trial]:
    """Every item under every setting of the factors, in a fixed order.

    Raises:
        UserError: an item is not a pair of answers.
    """
    items = tuple(items)
    if strange := next((item for item in items if len(item.answers) != 2 or "gold" in item.references), None):
        raise UserError(
            f"data={strange.dataset} holds questions with accepted answers; {settings.study} compares pairs of answers "
            "(data=verifiable, judgebench, llmbar, ...)."
        )
    cells = [
        Factors(method, form, order, temperature=temperature, repeat=repeat, constrained=settings.constrained)
        for (method, form), order, temperature in product(settings.asked, settings.order, settings.temperature)
        for repeat in range(settings.repeats_of(form, temperature))
    ]
    return [Trial(item, factors) for item in items for factors in cells]


def tabulate(study: str, judge: Model, trials: Sequence[Trial], answers: Sequence[Answered[Verdict]]) -> pd.DataFrame:
    """The verdict table: one row a trial, columns as in `analysis.verdicts`.

    Tokens and seconds are summed over the calls behind a row; `finish` is that of the last one.
    """
    items = [t.item for t in trials]
    columns: dict[str, object] = {
        "study": study,
        "judge": judge.name,
        "judge_family": judge.family,
        "dataset": [i.dataset for i in items],
        "source": [i.source for i in items],
        "item": [i.id for i in items],
        "group": [i.group or i.id for i in items],
        "language": [i.language for i in items],
        "gold": [i.gold for i in items],
    }
    columns |= {name: [getattr(t.factors, name) for t in trials] for name in _FACTORS}
    columns |= {name: [getattr(a.result, name) for a in answers] for name in _READING}
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "seconds"):
        columns[name] = [sum(getattr(c, name) for c in a.completions) for a in answers]
    columns["finish"] = [a.completions[-1].finish for a in answers]
    columns["engine"] = [a.completions[-1].engine for a in answers]
    columns["requests"] = [" ".join(a.keys) for a in answers]
    return pd.DataFrame(columns)
