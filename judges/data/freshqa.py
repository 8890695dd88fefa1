"""FreshQA: questions whose answers never, slowly or quickly change, as they stood in late 2023.

Upstream: github.com/freshllms/freshqa, Apache-2.0 (Vu et al. 2023, arXiv 2310.03214), which publishes dated
spreadsheets outside the repository; what is downloaded is a mirror's CSV of one of them. Answers to fast-changing
questions are stale by now: good enough for asking whether a judge follows its reference, bad as truth. A spreadsheet
has been at some answers of the mirror (`10-Dec-96` for 10 December 1996); they are kept as they are.
"""

from pathlib import Path

from judges.data.answered import answered, identified
from judges.data.fields import Record, named, text
from judges.data.files import locate, read_records
from judges.data.intake import Raw, Row
from judges.data.pinned import fetch
from judges.records import Item, UserError

COMMIT = "219103a016008b8ad3b73781a01f20131a6e16ff"
NAME = "data/freshqa.csv"
ORIGIN = f"https://raw.githubusercontent.com/lijiaqijane/RAG_CLearning/{COMMIT}"
SHA256 = "702a4a2502b82f75b5a1f94bec505626dfdb55b0f7a165ca20afca6fb85f6ec6"
SPLITS = ("all", "test", "dev")

FALSE_PREMISE = "a false premise"

_ANSWERS = tuple(f"answer_{i}" for i in range(10))
_PREMISE = {"TRUE": FALSE_PREMISE, "FALSE": ""}


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the questions from a folder or file, or from the pinned commit of a mirror if `path` is None.

    Questions with a false premise are unfit. The item's source is its `fact_type`: never-changing, slow-changing or
    fast-changing.

    Args:
        path: a spreadsheet saved as CSV (rows above its column names are skipped), plain or .gz, or a folder of one
            whose name begins with `freshqa`.
        split: `test`, `dev`, or `all` (default), both.

    Raises:
        UserError: an unknown split, or the file is missing or ill-formed.
    """
    split = split or "all"
    if split not in SPLITS:
        raise UserError(f"data.split={split} is unknown; freshqa has {', '.join(SPLITS)}.")
    if path is None:
        file, origin = fetch(f"{ORIGIN}/{NAME}", Path("FreshQA", COMMIT, NAME), SHA256), f"{ORIGIN}/{NAME}"
    else:
        file, origin = locate(path, "freshqa*.csv", "FreshQA*.csv", NAME), ""
    source, records = read_records(file, origin)
    rows = [
        _row(record, place)
        for place, record in records
        if split in ("all", text(record, "split", place).strip().lower())
    ]
    return Raw(identified(rows), (source,))


def _row(record: Record, place: str) -> Row:
    item = Item(
        id=text(record, "id", place).strip(),
        dataset="freshqa",
        question=text(record, "question", place),
        answers=tuple(text(record, key, place) for key in _ANSWERS if key in record),
        gold=None,
        source=text(record, "fact_type", place),
        language="en",
    )
    return answered(item, place, named(record, "false_premise", place, _PREMISE))
