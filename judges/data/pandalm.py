"""PandaLM's test set: 999 pairs of answers to Alpaca-like instructions, each labelled by three people.

Upstream: github.com/WeOpenML/PandaLM, Apache-2.0 (Wang et al. 2024, arXiv 2306.05087). Its authors left out pairs on
which the three diverged much, so that agreement among them is inflated.
"""

from pathlib import Path

from judges.data.fields import Record, integer, named, task, text
from judges.data.files import locate, read_list
from judges.data.intake import Raw, Row
from judges.data.pinned import fetch
from judges.data.votes import PREFERENCES, settle
from judges.records import Item, UserError

COMMIT = "3871806e72b4832f815ecafd24d3503c73403f48"
NAME = "data/testset-v1.json"
ORIGIN = f"https://raw.githubusercontent.com/WeOpenML/PandaLM/{COMMIT}"
SHA256 = "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4"

_RESPONSES = ("response1", "response2")
_ANNOTATORS = ("annotator1", "annotator2", "annotator3")


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the pairs from a folder or file, or from the pinned commit of the repository if `path` is None.

    The gold is the label of at least two of the three people. 0 says that the answers are alike: pairs with two such
    labels, or with three different ones, have no gold and are unfit (`votes.settle`).

    Args:
        path: the repository's folder, or a folder of `testset-v1.json`, plain or .gz, or that file.
        split: there are none.

    Raises:
        UserError: a split was asked for, or the file is missing or ill-formed.
    """
    if split is not None:
        raise UserError(f"data.split={split}: pandalm has no splits; leave it null.")
    if path is None:
        file, origin = fetch(f"{ORIGIN}/{NAME}", Path("PandaLM", COMMIT, NAME), SHA256), f"{ORIGIN}/{NAME}"
    else:
        file, origin = locate(path, "testset-v1.json", NAME), ""
    source, records = read_list(file, origin)
    rows = tuple(_row(record, place) for place, record in records)
    values = sum(isinstance(record[key], bool) for _, record in records for key in _RESPONSES)
    said = f"pandalm: {values} answer(s) that are stored as true or false, not as text, are read as the words."
    return Raw(rows, (source,), (said,) if values else ())


def _row(record: Record, place: str) -> Row:
    gold, unfit = settle([named(record, annotator, place, PREFERENCES) for annotator in _ANNOTATORS])
    first, second = (_response(record, key, place) for key in _RESPONSES)
    item = Item(
        id=f"pandalm-{integer(record, 'idx', place):03}",
        dataset="pandalm",
        question=task(record, place),
        answers=(first, second),
        gold=gold,
        source=text(record, "motivation_app", place),
    )
    return Row(item, place, unfit)


def _response(record: Record, key: str, place: str) -> str:
    """An answer. Upstream's own conversion turned the answers `True` into a JSON `true`."""
    return str(record[key]) if isinstance(record.get(key), bool) else text(record, key, place)
