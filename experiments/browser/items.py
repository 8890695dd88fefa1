"""One item for the page: its texts, and for each verdict the calls behind it with their prompts and words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.verdicts import READABLE
from experiments.browser.asked import Texts
from experiments.browser.columns import Verdicts
from experiments.browser.words import Words
from judges.formats import Thinking, split_thinking
from judges.records import Completion, Message
from judges.spans import locate

SHORTEST = 40
"""Characters of a text from which on it is kept once for all prompts that quote it."""


@dataclass
class Item:
    """One item and the verdicts on it, in the order of the index."""

    texts: Texts
    verdicts: list["Verdict"]


@dataclass
class Verdict:
    """What the page tells of one verdict beyond the index."""

    run: int
    shown: Mapping[str, Any]
    own: Texts
    calls: list["Call"]
    asked: int
    """Calls behind it, as the table says; more than `calls` where the store lacks some."""


@dataclass
class Call:
    """One call: what was asked and what came back."""

    completion: Completion
    reasoning: str
    reply: str
    span: tuple[int, int] | None
    """Of the verdict, in UTF-16 units of the reply, as a page counts."""
    messages: tuple[Message, ...] | None


def items(table: Verdicts, words: Words, first: int, last: int) -> Iterator[Item]:
    """The items from one to before another; their words are read together."""
    places = range(int(table.starts[first]), int(table.starts[last]))
    run, row = (column[places.start : places.stop].tolist() for column in (table.run, table.row))
    cell = table.cells[places.start : places.stop].tolist()
    found = words.answers(zip(run, row, strict=True))
    for number in range(first, last):
        inside = range(int(table.starts[number]) - places.start, int(table.starts[number + 1]) - places.start)
        yield _item(words, found, [(run[i], row[i], cell[i]) for i in inside])


def _item(words: Words, found: Mapping[Path, Mapping[str, Completion]], rows: Sequence[tuple[int, int, int]]) -> Item:
    texts: Texts = []
    prompts: dict[int, tuple[Message, ...]] = {}
    own: dict[int, Texts] = {}
    verdicts = []
    for run, row, cell in rows:
        asked = words.asked(run)
        if asked and cell not in own:
            common, own[cell] = asked.texts(row)
            texts = texts or common
        verdicts.append(_verdict(words, found, run, row, cell, prompts, own.get(cell, [])))
    return Item(texts, verdicts)


def _verdict(
    words: Words, found: Mapping[Path, Mapping[str, Completion]], run: int, row: int, cell: int,
    prompts: dict[int, tuple[Message, ...]], own: Texts,
) -> Verdict:  # fmt: skip
    rows, asked = words.tables[run], words.asked(run)
    keys = rows.keys[row]
    shelf = found[words.shelf(run, row)] if keys else {}
    completions = [shelf[key] for key in keys if key in shelf]
    messages: Sequence[tuple[Message, ...] | None] = [None] * len(keys)
    if asked and keys:
        # Repeats of a cell share their prompt: what holds for one that was verified holds for all.
        known = len(keys) == 1 and cell in prompts
        messages = [prompts[cell]] if known else asked.messages(row, keys, completions) or messages
        if len(keys) == 1 and messages[0] is not None:
            prompts[cell] = messages[0]
    readable = rows.outcomes[row] in READABLE
    marks = words.marks(run, rows.judges[row])
    told = zip(keys, messages, strict=True)
    calls = [
        _call(shelf[key], rows.methods[row], rows.formats[row], marks, readable or len(keys) > 1, put)
        for key, put in told
        if key in shelf
    ]
    return Verdict(run, rows.shown(row), own, calls, len(keys))


def _call(
    completion: Completion, method: str, form: str, marks: Thinking | None, readable: bool,
    messages: tuple[Message, ...] | None,
) -> Call:  # fmt: skip
    thought, reply = split_thinking(completion.text, marks)
    span = locate(method or "pairwise", form, reply) if readable and reply else None
    units = (_units(reply, span[0]), _units(reply, span[1])) if span else None
    reasoning = "\n\n".join(filter(None, (completion.reasoning, thought)))
    return Call(completion, reasoning, reply, units, messages)


def _units(text: str, characters: int) -> int:
    """Characters of a text in UTF-16 units: of those beyond the first plane, a page counts two each."""
    return characters if text.isascii() else len(text[:characters].encode("utf-16-le", "surrogatepass")) // 2


@dataclass
class Chunk:
    """Items that go into one file; texts that come up again are held once."""

    size: int = 0
    _texts: dict[str, int] = field(default_factory=dict)
    _prompts: dict[tuple[Message, ...], int] = field(default_factory=dict)
    _written: list[list[tuple[str, list[int]]]] = field(default_factory=list)
    _items: dict[str, Any] = field(default_factory=dict)

    def add(self, number: int, item: Item) -> None:
        """Takes in an item under its number in the index."""
        quoted = [text for _, text in item.texts]
        self._items[str(number)] = {
            "texts": self._named(item.texts),
            "verdicts": [self._verdict(verdict, quoted) for verdict in item.verdicts],
        }
        self.size += 60 * len(item.verdicts)

    def content(self) -> dict[str, Any]:
        """What the file holds."""
        return {"texts": list(self._texts), "prompts": self._written, "items": self._items}

    def _verdict(self, verdict: Verdict, quoted: list[str]) -> dict[str, Any]:
        own = {"own": self._named(verdict.own)} if verdict.own else {}
        quoted = [*quoted, *(text for _, text in verdict.own)]
        calls = {"calls": [self._call(call, quoted) for call in verdict.calls]} if verdict.calls else {}
        return {**verdict.shown, "run": verdict.run, "asked": verdict.asked, **own, **calls}

    def _call(self, call: Call, quoted: list[str]) -> dict[str, Any]:
        made = call.completion
        told = {
            "text": self._text(call.reply),
            "reasoning": self._text(call.reasoning) if call.reasoning else None,
            "span": call.span,
            "outcome": made.outcome if made.outcome != "ok" else None,
            "finish": made.finish,
            "engine": self._text(made.engine) if made.engine else None,
            "note": self._text(made.note) if made.note else None,
            "tokens": [made.prompt_tokens, made.cached_tokens, made.completion_tokens],
            "seconds": round(made.seconds, 3),
            "score": made.score,
            "prompt": None if call.messages is None else self._prompt(call.messages, quoted),
        }
        return {name: value for name, value in told.items() if value is not None}

    def _prompt(self, messages: tuple[Message, ...], quoted: list[str]) -> int:
        if messages not in self._prompts:
            self._prompts[messages] = len(self._written)
            self._written.append([(m.role, list(map(self._text, pieces(m.content, quoted)))) for m in messages])
        return self._prompts[messages]

    def _named(self, texts: Texts) -> list[tuple[str, int]]:
        return [(name, self._text(text)) for name, text in texts]

    def _text(self, text: str) -> int:
        if text not in self._texts:
            self._texts[text] = len(self._texts)
            self.size += len(text)
        return self._texts[text]


def pieces(text: str, quoted: Sequence[str]) -> list[str]:
    """A text cut where it quotes longer ones, so that these need not be held again; joined, it is what it was.

    >>> pieces("Q: " + "why? " * 9 + "A: so", ["why? " * 9])
    ['Q: ', 'why? why? why? why? why? why? why? why? why? ', 'A: so']
    """
    found = [text]
    for quote in sorted({q for q in quoted if len(q) >= SHORTEST}, key=len, reverse=True):
        found = [part for piece in found for part in _cut(piece, quote, quoted)]
    return found


def _cut(piece: str, quote: str, quoted: Sequence[str]) -> list[str]:
    if piece in quoted or quote not in piece:
        return [piece]
    between = piece.split(quote)
    mixed = [part for text in between for part in (text, quote)][:-1]
    return [part for part in mixed if part]
