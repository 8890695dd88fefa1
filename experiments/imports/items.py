"""What is known of the judged items: their question, gold, source and group, from the data set itself."""

from pathlib import Path

import pandas as pd

from judges.data import LOADERS
from judges.records import Item, UserError


def join(table: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The table with question, gold, source and group of its items as the data set has them.

    Pairs that a run of ours would leave out (two equal answers, no gold) are kept: these judges were asked about them.

    Args:
        table: rows with `dataset` and `item`.
        folder: the data set in its upstream files.

    Raises:
        UserError: there is no loader for a data set of the table, an item is not in it (says how many, and which),
            or its gold is not that of the table.
    """
    joined = [_join(part, str(dataset), folder) for dataset, part in table.groupby(table["dataset"].map(_loader))]
    return pd.concat(joined).sort_index()


def _loader(dataset: str) -> str:
    """The loader of a data set; a split such as `judgebench-gpt` has its data set's."""
    name = dataset if dataset in LOADERS else dataset.partition("-")[0]
    if name not in LOADERS:
        raise UserError(f"--items: there is no loader for the data set {dataset!r}; known: {', '.join(LOADERS)}")
    return name


def _join(table: pd.DataFrame, dataset: str, folder: Path) -> pd.DataFrame:
    known = _known([row.item for row in LOADERS[dataset](folder, None).rows])
    asked = table["item"].drop_duplicates()
    if lacking := asked[~asked.isin(known.index)].tolist():
        raise UserError(
            f"{len(lacking):,} of {len(asked):,} item ids match no item of {dataset} in {folder}: {_some(lacking)}. "
            "Is it the folder of the data set that was judged?"
        )
    found = known.loc[table["item"]].set_index(table.index)
    differs = table["gold"].notna() & found["gold"].notna() & (table["gold"] != found["gold"])
    if differs.any():
        items = table.loc[differs, "item"].unique().tolist()
        raise UserError(f"the gold of {len(items):,} items is not that of {dataset} in {folder}: {_some(items)}")
    return table.assign(**{str(name): found[name] for name in found})


def _known(items: list[Item]) -> pd.DataFrame:
    """One row an item, by id; items that share a question share a group, named after the first of them."""
    first: dict[str, str] = {}
    rows = {
        item.id: (item.question, item.gold, item.source, item.group or first.setdefault(item.question, item.id))
        for item in items
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["question", "gold", "source", "group"])


def _some(ids: list[str]) -> str:
    return ", ".join(map(str, ids[:5])) + (f" and {len(ids) - 5:,} more" if len(ids) > 5 else "")
