"""PandaLM's test set and results: three annotators' labels on every pair, or one judge's verdicts.

Upstream: github.com/WeOpenML/PandaLM, `data/*testset-v1.json`. Response 1 is A; which was shown first is not
stored, and PandaLM's own prompt shows response 1 first.
"""

import re
from collections.abc import Iterator

from experiments.imports.files import Origin
from experiments.imports.judged import Judged, Record, from_word, need, tail, word

MARKS = (
    frozenset({"idx", "annotator1", "annotator2", "annotator3"}),
    frozenset({"idx", "gpt_result"}),
    frozenset({"idx", "pandalm_result"}),
)

_WINNER = {"0": "tie", "1": "A", "2": "B", "Tie": "tie"}


def read(record: Record, origin: Origin) -> Iterator[Judged]:
    """One row a label: three for a pair of the test set, one for a judge's verdict."""
    item = f"pandalm-{need(record, 'idx', int):03}"
    for key in record:
        if re.fullmatch(r"annotator\d", key):
            yield _judged(record, key, item, judge=key, method="human")
        elif key.endswith("_result"):
            yield _judged(record, key, item, judge=_judge(key, origin), method="pairwise")


def _judged(record: Record, key: str, item: str, judge: str, method: str) -> Judged:
    verdict, remark = from_word(word(record, key, _WINNER))
    reason = record.get(key.replace("_result", "_reason"), "")
    return Judged(
        judge=judge,
        dataset="pandalm",
        item=item,
        verdict=verdict,
        method=method,
        format="label" if method == "human" else "pandalm",
        source=str(record.get("motivation_app", "")),
        remark=remark,
        text_end=tail(str(reason)) if method != "human" else "",
    )


def _judge(key: str, origin: Origin) -> str:
    """The judge's name as the file has it, `<judge>-testset-v1.json`; else the field's prefix."""
    named = re.match(r"(.+)-testset", origin.file.name)
    return named[1] if named else key.removesuffix("_result")
