"""Splits calls among processes by the keys of their requests alone: who asks for what needs no word between them."""

import re
from dataclasses import dataclass

from judges.records import UserError


class Unfinished(Exception):
    """Our share of the calls is stored; so many calls of others are not."""

    def __init__(self, missing: int) -> None:
        super().__init__(missing)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Share:
    """One of `count` parts of all calls, numbered from 1.

    >>> Share(2, 4).owns("00" * 31 + "05"), Share(2, 4).owns("00" * 32)
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
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise UserError(f"shard={text}: give I/N, such as 2/4, with I from 1 to N")
        return cls(int(found[1]), int(found[2]))

    def owns(self, key: str) -> bool:
        """Whether the call with this key (64 hex digits) is in this part; every key is in exactly one."""
        return int(key[-15:], 16) % self.count == self.index - 1

    def part(self, index: int, count: int) -> "Share":
        """Part `index` of `count` of this part."""
        return Share(self.index + (index - 1) * self.count, self.count * count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
