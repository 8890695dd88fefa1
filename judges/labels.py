"""Label-token sets: which single tokens of a vocabulary read as a label, and what a label's set is worth.

A label is a set of tokens (`A`, ` A`, `"A`, ...); its probability is the sum over that set.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judges.records import UserError

_AROUND = " \t\r\n\"'`“”‘’«»()[]{}<>"


def label_tokens(tokenizer: Any, labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """For each label the ids of all tokens that read as it, once spaces, quotes and brackets are stripped.

    Args:
        tokenizer: a Hugging Face tokenizer.
        labels: texts such as `A`; sets of different labels are disjoint.

    Raises:
        UserError: the vocabulary has no single token for a label.
    """
    if not labels:
        return {}
    candidates = sorted(_candidates(tokenizer, labels) - set(tokenizer.all_special_ids))
    texts = tokenizer.batch_decode([[i] for i in candidates], clean_up_tokenization_spaces=False)
    stripped = [text.strip(_AROUND) for text in texts]
    sets = {label: tuple(i for i, text in zip(candidates, stripped, strict=True) if text == label) for label in labels}
    if missing := [label for label, ids in sets.items() if not ids]:
        raise UserError(
            f"the tokenizer has no single token for the labels {missing}, so their log-probabilities can't be read at "
            "one position; use one-token labels such as A and B, or switch log-probabilities off"
        )
    return sets


def label_logprobs(token_logprobs: Mapping[int, float], tokens: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Log of the summed probability of each label's tokens.

    Args:
        token_logprobs: natural logs, at one position; must hold every id of `tokens`.
        tokens: as `label_tokens` gives them.

    >>> p = label_logprobs({5: math.log(0.2), 6: math.log(0.1), 7: math.log(0.4)}, {"A": (5, 6), "B": (7,)})
    >>> round(math.exp(p["A"]), 6), round(math.exp(p["B"]), 6)
    (0.3, 0.4)
    """
    return {label: _log_sum([token_logprobs[i] for i in ids]) for label, ids in tokens.items()}


def _candidates(tokenizer: Any, labels: Sequence[str]) -> set[int]:
    """Tokens worth decoding; a vocabulary spells ASCII as it is, but may hold a single byte as `<0x41>`."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    if not all(label.isascii() for label in labels):
        return set(vocabulary.values())
    return {i for token, i in vocabulary.items() if token.startswith("<0x") or any(label in token for label in labels)}


def _log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top if math.isinf(top) else top + math.log(sum(math.exp(x - top) for x in logs))
