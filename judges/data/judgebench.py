"""JudgeBench: 620 pairs of answers to hard questions, one right and one wrong, in two splits by response model.

Upstream: github.com/ScalerLab/JudgeBench and the hub data set ScalerLab/JudgeBench (Tan et al. 2025, arXiv 2410.12784).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from judges.data.fields import Record, named, text
from judges.data.files import files_in, read_lines
from judges.data.hub import fetch
from judges.data.intake import Raw, Row, Source
from judges.records import Item, UserError

REPO = "ScalerLab/JudgeBench"
HUB_FILES = {"gpt": "data/gpt-00000-of-00001.jsonl", "claude": "data/claude-00000-of-00001.jsonl"}
SPLITS = ("all", "gpt", "claude", "pooled")

_FILE = re.compile(r"(pairs_|dataset=judgebench,response_model=)?(gpt|claude)-.*\.jsonl(\.gz)?")
_GOLD = {"A>B": "A", "B>A": "B"}


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the pairs from a folder or file, or from the hub if `path` is None.

    Args:
        path: a folder with the upstream files (as named in the repository, `pairs_<model>.jsonl`, or on the hub),
            plain or .gz, or one such file.
        split: `gpt` or `claude`: the pairs whose answers that model wrote; `all` (default): both, as the data sets
            `judgebench-gpt` and `judgebench-claude`, which upstream reports apart; `pooled`: both, as the one data set
            `judgebench`, from which the trust paper draws.

    Raises:
        UserError: an unknown split, or files that are missing or ill-formed.
    """
    split = split or "all"
    if split not in SPLITS:
        raise UserError(f"data.split={split} is unknown; judgebench has {', '.join(SPLITS)}.")
    rows: list[Row] = []
    sources: list[Source] = []
    for file, origin in _fetched(split) if path is None else _found(path):
        source, found = _rows(file, origin, split)
        rows += found
        sources += [source] if found else []
    return Raw(tuple(rows), tuple(sources), _absent(split, rows))


def _absent(split: str, rows: list[Row]) -> tuple[str, ...]:
    there = {row.item.dataset for row in rows}
    absent = [name for name in HUB_FILES if split == "all" and f"judgebench-{name}" not in there]
    return tuple(f"judgebench: nothing of the {name} split was found." for name in absent)


def _found(path: Path) -> list[tuple[Path, str]]:
    files = files_in(path)
    if path.is_dir():
        nested = files_in(path / "data") if (path / "data").is_dir() else []
        files = [file for file in (*files, *nested) if _FILE.fullmatch(file.name)]
    if not files:
        raise UserError(
            f"data.path={path} holds no JudgeBench file; expected 'dataset=judgebench,response_model=....jsonl', "
            "'pairs_<response model>.jsonl' or 'gpt-00000-of-00001.jsonl', each plain or .gz."
        )
    return [(file, "") for file in files]


def _fetched(split: str) -> Iterator[tuple[Path, str]]:
    yield from fetch(REPO, [file for name, file in HUB_FILES.items() if split in (name, "all", "pooled")])


def _rows(file: Path, origin: str, split: str) -> tuple[Source, list[Row]]:
    source, records = read_lines(file, origin)
    wrote = [_response_model(record, file, place) for place, record in records]
    return source, [
        Row(_item(record, place, "judgebench" if split == "pooled" else f"judgebench-{model}"), place)
        for (place, record), model in zip(records, wrote, strict=True)
        if split in (model, "all", "pooled")
    ]


def _response_model(record: Record, file: Path, place: str) -> str:
    stated = str(record.get("response_model", file.name))
    for name in HUB_FILES:
        if name in stated:
            return name
    raise UserError(f"{place}: the response model {stated!r} is of neither split ({', '.join(HUB_FILES)}).")


def _item(record: Record, place: str, dataset: str) -> Item:
    return Item(
        id=text(record, "pair_id", place),
        dataset=dataset,
        question=text(record, "question", place),
        answers=(text(record, "response_A", place), text(record, "response_B", place)),
        gold=named(record, "label", place, _GOLD),
        source=text(record, "source", place),
    )
