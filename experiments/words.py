"""Settings of a command that needs no Hydra: KEY=VALUE words on top of what holds where nothing is said."""

from collections.abc import Mapping, Sequence

from experiments.complaints import nearest
from judges.records import UserError


def read_words(words: Sequence[str], defaults: Mapping[str, str], counts: Sequence[str] = ()) -> dict[str, str]:
    """The settings that the words make of the defaults.

    Args:
        words: as typed.
        defaults: every key that there is, with its value.
        counts: keys whose values are whole numbers, 0 or more.

    Raises:
        UserError: a word is no setting, its key is unknown, or a count is none.

    >>> read_words(["root=out"], {"root": "runs", "port": "0"}, ["port"])
    {'root': 'out', 'port': '0'}
    """
    found = dict(defaults)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"can't read {word!r}: settings are KEY=VALUE; {nearest(key, defaults)}")
        if key not in defaults:
            raise UserError(f"there is no key {key!r}; {nearest(key, defaults)}")
        found[key] = value
    for key in counts:
        if not found[key].isdecimal():
            raise UserError(f"{key}={found[key]}: give a whole number, 0 or more")
    return found
