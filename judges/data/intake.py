"""What every data set goes through on its way in: cleaning, checking, grouping; knows no file format."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

import orjson

from judges.records import LABELS, Item, UserError

EQUAL_ANSWERS = "answers equal to each other, so that no verdict can be right"
GOLD = "gold"
"""The reference that marks a question with accepted answers, and is the first of them; a pair has none of that name."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """One file that was read."""

    name: str
    sha256: str
    """Of its content, unpacked if it was compressed: a .gz and its plain twin agree."""
    origin: str = ""
    """`hub:REPO@COMMIT` or an address for a download; empty for a file of the user's."""


@dataclass(frozen=True, slots=True)
class Row:
    """An item and the place that it was read from, for messages."""

    item: Item
    place: str
    unfit: str = ""
    """Why a study leaves the item out, worded to follow "had"; imports of other people's verdicts on it do not."""


@dataclass(frozen=True, slots=True)
class Raw:
    """What a loader found, as it stands in the files."""

    rows: tuple[Row, ...]
    sources: tuple[Source, ...]
    warnings: tuple[str, ...] = ()
    """What a person should know, such as a part of the data set that was not there."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The items fit for use, and what was done to get there."""

    items: tuple[Item, ...]
    sources: tuple[Source, ...]
    cleaned: int
    """Lone surrogates (not encodable as UTF-8) replaced by U+FFFD."""
    dropped: Mapping[str, tuple[str, ...]]
    """Reason to the ids of the items left out for it."""
    warnings: tuple[str, ...]


def digest(items: tuple[Item, ...]) -> str:
    """sha256 (64 hex digits) of the items as canonical JSON: equal items in equal order, equal digest."""
    names = [field.name for field in fields(Item)]
    plain_items = [{name: getattr(item, name) for name in names} for item in items]
    return hashlib.sha256(orjson.dumps(plain_items, option=orjson.OPT_SORT_KEYS)).hexdigest()


def accept(name: str, raw: Raw) -> Accepted:
    """Cleans, checks and groups the rows of the data set `name`.

    Empty answers stay: a judge must cope with them. So does NUL. Rows that their loader calls unfit and pairs of equal
    answers are dropped and counted. Questions with accepted answers share a group if they differ only in case, spaces
    and a closing question mark; pairs, if their questions are equal.

    Raises:
        UserError: an id occurs twice, a gold names no answer, or no item is left.
    """
    cleaned = [_clean(row) for row in raw.rows]
    rows, characters = [row for row, _ in cleaned], sum(n for _, n in cleaned)
    _check_ids(rows)
    for row in rows:
        _check_gold(row)
    unfit = [(reason, row.item.id) for row in rows if (reason := _unfit(row))]
    dropped = {reason: tuple(name for why, name in unfit if why == reason) for reason, _ in unfit}
    items = tuple(_grouped(row.item for row in rows if not _unfit(row)))
    if not items:
        why = "".join(f"; {len(ids)} had {reason}" for reason, ids in dropped.items())
        raise UserError(f"{name}: no items left of {len(rows)} read{why}. Check data.path and data.split.")
    return Accepted(items, raw.sources, characters, dropped, (*raw.warnings, *_warnings(name, dropped, characters)))


def _unfit(row: Row) -> str:
    return row.unfit or (EQUAL_ANSWERS if GOLD not in row.item.references and _all_equal(row.item.answers) else "")


def _warnings(name: str, dropped: Mapping[str, tuple[str, ...]], cleaned: int) -> list[str]:
    said = [f"{name}: {len(ids)} item(s) left out, {reason}: {_some(ids)}." for reason, ids in dropped.items()]
    if cleaned:
        said.append(f"{name}: {cleaned} lone surrogate(s) replaced by U+FFFD.")
    return said


def _some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")


def mended(text: str) -> str:
    """The text with U+FFFD for each lone surrogate."""
    return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _clean(row: Row) -> tuple[Row, int]:
    item, count = row.item, 0
    if not _LONE_SURROGATE.search("\0".join(_texts(item))):
        return row, 0

    def mend(text: str) -> str:
        nonlocal count
        mended, n = _LONE_SURROGATE.subn("\N{REPLACEMENT CHARACTER}", text)
        count += n
        return mended

    mended = replace(
        item,
        id=mend(item.id),
        source=mend(item.source),
        group=mend(item.group),
        question=mend(item.question),
        answers=tuple(mend(answer) for answer in item.answers),
        references={mend(key): mend(text) for key, text in item.references.items()},
        context=mend(item.context),
        language=mend(item.language),
        entity_type=mend(item.entity_type),
    )
    return replace(row, item=mended), count


def _texts(item: Item) -> Iterator[str]:
    yield from (item.id, item.source, item.group, item.question, item.context, item.language, item.entity_type)
    yield from item.answers
    yield from item.references.keys()
    yield from item.references.values()


def _check_ids(rows: list[Row]) -> None:
    places: dict[str, str] = {}
    for row in rows:
        first = places.setdefault(row.item.id, row.place)
        if first != row.place:
            raise UserError(f"The id {row.item.id!r} occurs twice: {first} and {row.place}. Remove or rename one.")


def _check_gold(row: Row) -> None:
    names = LABELS[: len(row.item.answers)]
    if row.item.gold is not None and row.item.gold not in names:
        known = " or ".join(names)
        raise UserError(f"{row.place}: the gold {row.item.gold!r} names no answer; it must come to {known}.")


def _all_equal(answers: tuple[str, ...]) -> bool:
    return len(answers) > 1 and len(set(answers)) == 1


def _grouped(items: Iterator[Item]) -> Iterator[Item]:
    first: dict[str, str] = {}
    for item in items:
        question = plain(item.question) if GOLD in item.references else item.question
        group = item.group or first.setdefault(question, item.id)
        yield item if item.group else replace(item, group=group)


def plain(question: str) -> str:
    """A question without case, repeated spaces, compatibility forms and closing marks.

    >>> plain("Who  wrote Hamlet?") == plain("who wrote hamlet")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).rstrip(" ?؟.")
