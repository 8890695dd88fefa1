"""Fonts for names in any script: which installed ones to fall back on, and a warning where none has the letters."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable
from functools import cache

DEFAULT = "DejaVu Sans"
"""Comes with matplotlib; has Latin, Greek, Cyrillic, Arabic and Hebrew, but no Indic script."""
FALLBACKS = ("Noto Sans", "Lohit", "FreeSans", "FreeSerif", "Nirmala UI", "Gautami", "Arial Unicode MS", "Kohinoor")
"""How the names of fonts begin that have scripts which the default lacks."""


@cache
def families() -> tuple[str, ...]:
    """The default and the installed fonts to fall back on, letter by letter, for matplotlib's `font.family`."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return DEFAULT, *sorted(name for name in installed if name.startswith(FALLBACKS))


def warn_of_missing(texts: Iterable[str]) -> None:
    """Warns, once for each script, of letters that none of `families` has: bitmaps show boxes in their place."""
    shown = _letters()
    for script in sorted({_script(c) for c in set().union(*texts) if ord(c) not in shown and not c.isspace()}):
        _warn(script)


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    paths = [findfont(FontProperties(family=family), fallback_to_default=True) for family in families()]
    return frozenset().union(*(FT2Font(path).get_charmap() for path in paths))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "unnamed").split()[0].capitalize()


@cache
def _warn(script: str) -> None:
    warnings.warn(
        f"no installed font has {script} letters: PNG figures show boxes in their place (SVG figures keep the text). "
        f"Install one, such as Noto Sans {script}, and remove matplotlib's font cache",
        stacklevel=2,
    )
