"""NQ-Open: short questions that people asked a search engine, with the answers that Wikipedia gives.

Upstream: github.com/google-research-datasets/natural-questions, folder `nq_open`, CC BY-SA 3.0 (Lee et al. 2019,
arXiv 1906.00300; the second split: Min et al. 2021, arXiv 2101.00133).
"""

from pathlib import Path

from judges.data.answered import answered, identified
from judges.data.fields import Record, listed, text
from judges.data.files import locate, read_records
from judges.data.intake import Raw, Row
from judges.data.pinned import fetch
from judges.records import Item, UserError

COMMIT = "fb26a3073b1fe636c97302890a27b491d6530130"
ORIGIN = f"https://raw.githubusercontent.com/google-research-datasets/natural-questions/{COMMIT}/nq_open"
FILES = {"dev": "NQ-open.dev.jsonl", "efficientqa": "NQ-open.efficientqa.test.1.1.jsonl"}
SHA256 = {
    "dev": "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616",
    "efficientqa": "c37b3cb2069632dfef219fa770d7910ac77ff6d12a08e8f3d5f058b388aca8a6",
}


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the questions from a folder or file, or from the pinned commit of the repository if `path` is None.

    Questions have no ids upstream; theirs are made from their text (`answered.identified`).

    Args:
        path: the repository's folder or `nq_open` within it, or a file of that format, plain or .gz.
        split: `dev` (default, 3,610 questions) or `efficientqa`, another 1,769; a file is read whatever the split.

    Raises:
        UserError: an unknown split, or the file is missing or ill-formed.
    """
    split = split or "dev"
    if split not in FILES:
        raise UserError(f"data.split={split} is unknown; nq_open has {', '.join(FILES)}.")
    name = FILES[split]
    if path is None:
        file, origin = fetch(f"{ORIGIN}/{name}", Path("NQ-open", COMMIT, name), SHA256[split]), f"{ORIGIN}/{name}"
    else:
        file, origin = locate(path, name, f"nq_open/{name}"), ""
    source, records = read_records(file, origin)
    return Raw(identified([_row(record, place) for place, record in records]), (source,))


def _row(record: Record, place: str) -> Row:
    item = Item(
        id="",
        dataset="nq_open",
        question=text(record, "question", place),
        answers=listed(record, "answer", place),
        gold=None,
        language="en",
    )
    return answered(item, place)
