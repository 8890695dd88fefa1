"""AlpacaFarm's human preferences: pairs of answers to Alpaca instructions, each labelled by one crowd worker.

Upstream: the hub data set tatsu-lab/alpaca_farm, CC BY-NC 4.0 (Dubois et al. 2023, arXiv 2305.14387). A record has
`instruction`, `input`, `output_1`, `output_2`, `preference` (1 or 2) and `raw_preference`, which is not read.
"""

from pathlib import Path

from judges.data.fields import Record, named, task, text
from judges.data.files import locate, read_list
from judges.data.hub import fetch
from judges.data.intake import Raw, Row
from judges.data.votes import PREFERENCES, settle
from judges.records import Item, UserError

REPO = "tatsu-lab/alpaca_farm"
REVISION = "e576524ca841af3c36fd6912e68e5920430928c1"
NAME = "alpaca_human_preference.json"


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the pairs from a folder or file, or from the pinned revision on the hub if `path` is None.

    A preference of 0, which AlpacaFarm's own annotators give to equally good outputs, leaves no gold: such pairs are
    unfit (`votes.settle`). Pairs have no ids upstream and are named by their place in the file.

    Args:
        path: a folder of `alpaca_human_preference.json`, plain or .gz, or that file (or another of its format, such as
            `alpaca_gpt4_preference.json`).
        split: there are none.

    Raises:
        UserError: a split was asked for, or the file is missing or ill-formed.
    """
    if split is not None:
        raise UserError(f"data.split={split}: alpacafarm has no splits; leave it null.")
    file, origin = next(fetch(REPO, [NAME], REVISION)) if path is None else (locate(path, NAME), "")
    source, records = read_list(file, origin)
    return Raw(tuple(_row(i, record, place) for i, (place, record) in enumerate(records)), (source,))


def _row(index: int, record: Record, place: str) -> Row:
    gold, unfit = settle([named(record, "preference", place, PREFERENCES)])
    item = Item(
        id=f"alpacafarm-{index:05}",
        dataset="alpacafarm",
        question=task(record, place),
        answers=(text(record, "output_1", place), text(record, "output_2", place)),
        gold=gold,
    )
    return Row(item, place, unfit)
