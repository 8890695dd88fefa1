"""SciQ: science exam questions written by crowd workers, each with one right answer and mostly a passage behind it.

Upstream: the hub data set allenai/sciq, CC BY-NC 3.0 (Welbl et al. 2017, arXiv 1707.06209).
"""

from pathlib import Path

from judges.data.answered import answered, identified
from judges.data.fields import Record, text
from judges.data.files import locate, read_records
from judges.data.hub import fetch
from judges.data.intake import Raw, Row
from judges.records import Item, UserError

REPO = "allenai/sciq"
REVISION = "2c94ad3e1aafab77146f384e23536f97a4849815"
HUB_FILE = "data/test-00000-of-00001.parquet"
SPLITS = {
    "test": (HUB_FILE, "test-*.parquet", "test_question_answer.jsonl", "sciq_test.jsonl", "test.json"),
    "support": ("test_with_support.csv", "test.csv"),
}


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the 1,000 test questions from a folder or file, or from the pinned revision on the hub if `path` is None.

    Questions have no ids upstream; theirs are made from their text (`answered.identified`), so that they are the same
    in every mirror. The passage, where the file has one, is the item's context. Distractors are not read.

    Args:
        path: a folder of the hub's file, the upstream `test.json`, a mirror's `sciq_test.jsonl`, or
            `test_question_answer.jsonl`, plain or .gz; or one such file.
        split: `test` (default), or `support`: a mirror's CSV of the 884 test questions that have a passage.

    Raises:
        UserError: an unknown split, or the file is missing or ill-formed.
    """
    split = split or "test"
    if split not in SPLITS:
        raise UserError(f"data.split={split} is unknown; sciq has {', '.join(SPLITS)}.")
    if path is None and split != "test":
        raise UserError(
            f"data.split={split} is a mirror's file, not the hub's; give its folder as data.path, or leave data.split "
            "null: the hub's file has the passages too."
        )
    file, origin = next(fetch(REPO, [HUB_FILE], REVISION)) if path is None else (locate(path, *SPLITS[split]), "")
    source, records = read_records(file, origin)
    return Raw(identified([_row(record, place) for place, record in records]), (source,))


def _row(record: Record, place: str) -> Row:
    item = Item(
        id="",
        dataset="sciq",
        question=text(record, "question", place),
        answers=(text(record, "answer" if "answer" in record else "correct_answer", place),),
        gold=None,
        context=text(record, "support", place).strip() if "support" in record else "",
        language="en",
    )
    return answered(item, place)
