"""Verdict distributions: which tokens spell a label, where in a reply they are looked up, and what they are worth.

A label is a set of tokens (`A`, ` A`, `"A`, ...); its probability is the sum over that set. Nothing is renormalised
here: what all sets together leave out is for the reader to see.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from judges.records import UserError

_AROUND = " \t\r\n\"'`“”‘’«»()[]{}<>"
_BEFORE = ("", " ", "\n", '"', ' "')  # What a label may follow without a gap.
_ZERO = -9999.0  # What servers write for log 0.

Decode = Callable[[Sequence[int]], str]
"""From token ids to text, special tokens left out."""


@dataclass(frozen=True, slots=True)
class LabelSets:
    """The tokens that spell each label, and where in a reply they are looked up."""

    tokens: Mapping[str, tuple[int, ...]]
    after: str = ""
    """Regular expression; the place is what follows its last match in the reply. Empty: the first token."""

    @property
    def ids(self) -> list[int]:
        """All tokens of all labels."""
        return [i for ids in self.tokens.values() for i in ids]

    def read(
        self, tokens: Sequence[int], logprobs: Callable[[int], Mapping[int, float]], decode: Decode
    ) -> dict[str, float] | None:
        """Each label's log-probability at the place in a reply; None where the reply has no such place.

        Args:
            tokens: of the whole reply.
            logprobs: from a token's number in the reply to natural logs at that position, for all of `ids`.
            decode: of the model's tokenizer.
        """
        at = token_after(tokens, self.after, decode)
        return None if at is None or not self.tokens else label_logprobs(logprobs(at), self.tokens)


def label_sets(tokenizer: Any, labels: Sequence[str], after: str = "") -> LabelSets:
    """Where and by which tokens labels are told apart.

    Where they all begin with the same word, as in `Answer A` and `Answer B`, that is behind this word: their
    probabilities are then those given that it came.

    Args:
        tokenizer: a Hugging Face tokenizer.
        labels: texts such as `A`, `CORRECT` or `Answer A`.
        after: what a label follows, as `LabelSets.after`.

    Raises:
        UserError: one label begins another, or no token of the vocabulary tells them apart.
    """
    if any(one != other and other.startswith(one) for one in labels for other in labels):
        raise UserError(f"of the labels {list(labels)} one begins another, so no token can tell them apart; rename one")
    words = [label.split(" ") for label in labels]
    shared = len(list(takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))) if words[1:] else 0
    if shared:
        place = (after or rf"\A[{re.escape(_AROUND)}]*") + re.escape(" ".join(words[0][:shared])) + r"\s*"
        rest = label_tokens(tokenizer, [" ".join(each[shared:]) for each in words])
        return LabelSets(dict(zip(labels, rest.values(), strict=True)), place)
    return LabelSets(label_tokens(tokenizer, labels), after)


def label_tokens(tokenizer: Any, labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """For each label the ids of all tokens that read as it, once spaces, quotes and brackets are stripped.

    A label that is several tokens has those, too, that read as its beginning and no other label's. Of beginnings of
    one letter, which begin much else, only those count that the tokenizer itself writes.

    Args:
        tokenizer: a Hugging Face tokenizer.
        labels: texts such as `A`; sets of different labels are disjoint.

    Raises:
        UserError: the tokenizer writes labels in pieces that don't tell them apart at the first one.
    """
    if not labels:
        return {}
    pieces = {label: _first_pieces(tokenizer, label) for label in labels}
    candidates = sorted(_candidates(tokenizer, labels) - set(tokenizer.all_special_ids))
    texts = tokenizer.batch_decode([[i] for i in candidates], clean_up_tokenization_spaces=False)
    sets: dict[str, list[int]] = {label: [] for label in labels}
    for i, text in zip(candidates, (text.strip(_AROUND) for text in texts), strict=True):
        label = spelt(text, labels)
        if label and (text == label or len(text) > 1 or i in pieces[label]):
            sets[label].append(i)
    if missing := [label for label, ids in sets.items() if not ids or not pieces[label] or pieces[label] - set(ids)]:
        raise UserError(
            f"the tokenizer splits the labels {missing} into pieces, the first of which doesn't tell {list(labels)} "
            "apart, so their log-probabilities can't be read at one position; use labels such as A and B, or switch "
            "log-probabilities off"
        )
    return {label: tuple(ids) for label, ids in sets.items()}


def spelt(text: str, labels: Sequence[str]) -> str | None:
    """The one label that a token's text is or begins; None where it is none's or several labels' beginning.

    >>> spelt("IN", ("CORRECT", "INCORRECT")), spelt("Ans", ("Answer A", "Answer B"))
    ('INCORRECT', None)
    """
    found = [label for label in labels if text and label.startswith(text)]
    return found[0] if len(found) == 1 else None


def label_logprobs(token_logprobs: Mapping[int, float], tokens: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Log of the summed probability of each label's tokens; not a number where one of theirs is none.

    Args:
        token_logprobs: natural logs, at one position; must hold every id of `tokens`.
        tokens: as `label_tokens` gives them.

    >>> p = label_logprobs({5: math.log(0.2), 6: math.log(0.1), 7: math.log(0.4)}, {"A": (5, 6), "B": (7,)})
    >>> round(math.exp(p["A"]), 6), round(math.exp(p["B"]), 6)
    (0.3, 0.4)
    """
    return {label: _log_sum([token_logprobs[i] for i in ids]) for label, ids in tokens.items()}


def place_after(text: str, after: str) -> int | None:
    """Where the text goes on behind the last match of a regular expression; None where nothing matches.

    >>> place_after('{"reasoning": "no \\\\"verdict\\\\" yet", "verdict": "B"}', '"verdict": "')
    48
    """
    ends = [match.end() for match in re.finditer(after, text)]
    return ends[-1] if ends else None


def token_after(tokens: Sequence[int], after: str, decode: Decode) -> int | None:
    """The number of the token that writes what follows the last match of `after`; None where nothing follows.

    >>> words = ["so ", "the verdict: ", "B", "."]
    >>> token_after([0, 1, 2, 3], "verdict: ", lambda ids: "".join(words[i] for i in ids))
    2
    """
    if not after:
        return 0 if tokens else None
    place = place_after(decode(tokens), after)
    if place is None:
        return None
    at = bisect_right(range(len(tokens)), place, key=lambda i: len(decode(tokens[:i]))) - 1
    return at if len(decode(tokens[: at + 1])) > place else None


@dataclass(frozen=True, slots=True)
class Seen:
    """What the likeliest tokens alone say of labels."""

    logprobs: dict[str, float]
    """Natural logs, of the labels that are among them; a label that is not has bounds, 0 and `rest`, and no value."""
    rest: float
    """Probability of all tokens that are not among them, any label's included."""


def labels_from_top_k(top: Mapping[str, float], labels: Sequence[str]) -> Seen:
    """Labels in the top-k list of one position, as API judges give it.

    Args:
        top: from a token's text to its natural log-probability; -9999 and -inf are probability 0.
        labels: texts such as `A`; tokens are matched as by `label_tokens`.

    >>> seen = labels_from_top_k({"A": math.log(0.6), " A": math.log(0.1), "The": math.log(0.2)}, ("A", "B"))
    >>> {label: round(math.exp(p), 6) for label, p in seen.logprobs.items()}, round(seen.rest, 6)
    ({'A': 0.7}, 0.1)
    """
    numbers = {text: -math.inf if log <= _ZERO else log for text, log in top.items() if not math.isnan(log)}
    spelling: dict[str, list[float]] = {}
    for text, log in numbers.items():
        bare = text.strip(_AROUND)
        label = spelt(bare, labels)
        if label and (bare == label or len(bare) > 1):
            spelling.setdefault(label, []).append(log)
    found = {label: _log_sum(spelling[label]) for label in labels if label in spelling}
    return Seen(found, max(0.0, 1.0 - sum(map(math.exp, numbers.values()))))


def _first_pieces(tokenizer: Any, label: str) -> set[int]:
    """The tokens that the tokenizer begins a label with, whatever stands before it; those before it left out."""
    ids = {i for before in _BEFORE for i in tokenizer(before + label, add_special_tokens=False)["input_ids"]}
    texts = tokenizer.batch_decode([[i] for i in ids], clean_up_tokenization_spaces=False)
    bare = [text.strip(_AROUND) for text in texts]
    return {i for i, text in zip(ids, bare, strict=True) if text and label.startswith(text)}


def _candidates(tokenizer: Any, labels: Sequence[str]) -> set[int]:
    """Tokens worth decoding; a vocabulary spells ASCII as it is, but may hold a single byte as `<0x41>`."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    if not all(label.isascii() for label in labels):
        return set(vocabulary.values())
    initials = {label[0] for label in labels}
    return {i for token, i in vocabulary.items() if token.startswith("<0x") or any(c in token for c in initials)}


def _log_sum(logs: Sequence[float]) -> float:
    if any(map(math.isnan, logs)):
        return math.nan
    top = max(logs)
    return top if math.isinf(top) else top + math.log(sum(math.exp(x - top) for x in logs))
