"""Are two texts that a judge copied from an answer the same? Knows no language, and works on any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Texts = pd.Series


def exact(text: str) -> str:
    """Text in Unicode's composed form, without white space around it: what two equal texts share.

    >>> exact(" cafe\\u0301 ") == "caf\\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text).strip()


def normalised(text: str) -> str:
    """Text without case, punctuation, invisible letters and surplus white space, digits of all scripts as 0 to 9.

    Vowel signs, which some scripts write as marks, stay.

    >>> normalised("\\u0663 Rivers,  in \\u201cParis\\u201d.")
    '3 rivers in paris'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(_plain(c) for c in folded)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", kept)).strip()


def same(first: Texts, second: Texts, reduce: Callable[[str], str]) -> NDArray[np.bool_]:
    """Which texts are the same once reduced, (rows,); false where either is null."""
    known = {text: reduce(text) for text in pd.concat([first, second]).dropna().unique()}
    one, other = first.map(known), second.map(known)
    equal: NDArray[np.bool_] = ((one == other) & one.notna()).to_numpy(dtype=bool)
    return equal


def _plain(c: str) -> str:
    kind = unicodedata.category(c)
    if kind == "Nd":
        return str(unicodedata.digit(c))
    return "" if kind == "Cf" else " " if kind.startswith("P") else c
