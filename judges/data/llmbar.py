"""LLMBar: 419 instructions with two outputs, one of which follows the instruction better, in five subsets.

Upstream: github.com/princeton-nlp/LLMBar, MIT (Zeng et al. 2024, arXiv 2310.07641).
"""

from collections.abc import Iterator
from pathlib import Path

from judges.data.fields import Record, named, text
from judges.data.files import files_in, read_list
from judges.data.intake import Raw, Row, Source
from judges.data.pinned import fetch
from judges.records import Item, UserError

COMMIT = "900616bff90b6c6c8e1681f7d079250637c55992"
ORIGIN = f"https://raw.githubusercontent.com/princeton-nlp/LLMBar/{COMMIT}"

SUBSETS = {
    "natural": "Dataset/LLMBar/Natural/dataset.json",
    "adversarial_neighbor": "Dataset/LLMBar/Adversarial/Neighbor/dataset.json",
    "adversarial_gptinst": "Dataset/LLMBar/Adversarial/GPTInst/dataset.json",
    "adversarial_gptout": "Dataset/LLMBar/Adversarial/GPTOut/dataset.json",
    "adversarial_manual": "Dataset/LLMBar/Adversarial/Manual/dataset.json",
}

SHA256 = {
    "natural": "f7127b7aa78104cb8e03a2b1b3ac0077e95b125714dd441a8ee63666145a3375",
    "adversarial_neighbor": "6712c7eda6342602e0bc7c06c282fa95e2110d4e741a284026a62d937f9780a0",
    "adversarial_gptinst": "1002425f73c2cf54b6e6de99bce3f6c60fa2a17d13194772e37d7481c1351d42",
    "adversarial_gptout": "1ff56e520d7607750a9866a3be0f5b850392ca4477a1f69d80f32bd3e310f561",
    "adversarial_manual": "0d9598769a39cdbbd265778c37e49939d41d5f76dcfb17bd75dcfa07516d3837",
}

_GOLD = {"1": "A", "2": "B"}


def read(path: Path | None, split: str | None) -> Raw:
    """Reads the instances from a folder or file, or from the pinned commit of the repository if `path` is None.

    Args:
        path: the repository's folder or one within it that holds whole subsets, or a folder of
            `natural.json`, `adversarial_neighbor.json`, ..., plain or .gz, or one such file.
        split: LLMBar has none; its subsets are the items' sources.

    Raises:
        UserError: a split was asked for, or files are missing or ill-formed.
    """
    if split is not None:
        raise UserError(f"data.split={split}: llmbar has no splits; leave it null.")
    rows: list[Row] = []
    sources: list[Source] = []
    for subset, file, origin in _fetched() if path is None else _found(path):
        source, records = read_list(file, origin)
        sources.append(source)
        rows += [Row(_item(subset, i, record, place), place) for i, (place, record) in enumerate(records)]
    absent = [subset for subset in SUBSETS if subset not in {row.item.source for row in rows}]
    return Raw(
        tuple(rows), tuple(sources), tuple(f"llmbar: nothing of the subset {subset} was found." for subset in absent)
    )


def _found(path: Path) -> list[tuple[str, Path, str]]:
    found = [(subset, file, "") for subset in SUBSETS for file in _candidates(path, subset)]
    if not found:
        expected = ", ".join(f"{subset}.json" for subset in SUBSETS)
        raise UserError(
            f"data.path={path} holds no LLMBar file; expected {SUBSETS['natural']} and its like, "
            f"or {expected}, each plain or .gz."
        )
    return found


def _candidates(path: Path, subset: str) -> list[Path]:
    upstream = Path(SUBSETS[subset]).parts
    tails = [(f"{subset}.json",), *(upstream[i:] for i in range(len(upstream) - 1))]
    tails += [(*folders, f"{name}.gz") for *folders, name in tails]
    if path.is_dir():
        return [file for tail in tails if (file := path.joinpath(*tail)).is_file()]
    (file,) = files_in(path)
    return [file] if any(file.parts[-len(tail) :] == tail for tail in tails) else []


def _item(subset: str, index: int, record: Record, place: str) -> Item:
    return Item(
        id=f"{subset}-{index:03}",
        dataset="llmbar",
        question=text(record, "input", place),
        answers=(text(record, "output_1", place), text(record, "output_2", place)),
        gold=named(record, "label", place, _GOLD),
        source=subset,
    )


def _fetched() -> Iterator[tuple[str, Path, str]]:
    for subset, name in SUBSETS.items():
        yield subset, fetch(f"{ORIGIN}/{name}", Path("LLMBar", COMMIT, name), SHA256[subset]), f"{ORIGIN}/{name}"
