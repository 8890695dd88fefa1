"""Splits calls among processes by the keys of their requests alone: who asks for what needs no word between them."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.records import UserError


class Unfinished(Exception):
    """Our share of the calls is stored; so many calls of others are not."""

    def __init__(self, missing: int) -> None:
        super().__init__(missing)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Share:
    """One of `count` parts of all calls, numbered from 1.

    >>> Share(2, 4).owns("0" * 15 + "5" + "f" * 48), Share(2, 4).owns("0" * 64)
    (True, False)
    >>> Share(2, 4).part(3, 3)
    Share(index=10, count=12)
    """

    index: int = 1
    """0: none of the parts, for a process that only reads."""
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Share":
        """From `2/4`.

        Raises:
            UserError: it does not name one of the parts.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
        if not found or not 0 <= int(found[1]) <= int(found[2]) or int(found[2]) == 0:
            raise UserError(
                f"shard={text}: give I/N, such as 2/4, with I from 1 to N (0/N asks nothing and only reads)"
            )
        return cls(int(found[1]), int(found[2]))

    def owns(self, key: str) -> bool:
        """Whether the call with this key (64 hex digits) is in this part; every key is in exactly one."""
        return int(key[:16], 16) % self.count == self.index - 1

    def own(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """The same of many keys, given by their first 64 bits."""
        return np.asarray(keys % np.uint64(self.count) == (self.index - 1) % self.count, bool) & (self.index > 0)

    def part(self, index: int, count: int) -> "Share":
        """Part `index` of `count` of this part."""
        return Share(self.index + (index - 1) * self.count if self.index else 0, self.count * count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
