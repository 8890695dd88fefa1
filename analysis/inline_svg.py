"""Figures as SVG that can stand in a page: no ids that clash, no style that leaks, nothing fetched from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

if TYPE_CHECKING:
    from markupsafe import Markup

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HREF = f"{{{XLINK}}}href"
_DROPPED = {f"{{{SVG}}}{name}" for name in ("metadata", "style", "script", "foreignObject", "a")}
_LONG = re.compile(r"(\d+\.\d{2})\d+")


def inline(svg: str, name: str, label: str) -> Markup:
    """An SVG document as an element of a page.

    Args:
        svg: as matplotlib writes it.
        name: letters, digits and `-_` that no other figure of the page has: goes before each id.
        label: what the figure shows, for those who can't see it.

    Coordinates are cut to a hundredth of a point; links out of the document and scripts are left out.
    """
    from markupsafe import Markup

    Xml.register_namespace("", SVG)
    Xml.register_namespace("xlink", XLINK)
    root = Xml.fromstring(svg)
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in _DROPPED]:
            parent.remove(child)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if (kept := _attribute(key, value, name)) is None:
                del element.attrib[key]
            else:
                element.set(key, kept)
    root.attrib |= {"role": "img", "aria-label": label}
    return Markup(Xml.tostring(root, encoding="unicode"))


def _attribute(key: str, value: str, name: str) -> str | None:
    if key == "id":
        return f"{name}-{value}"
    if key == _HREF or key == "href":
        return (
            f"#{name}-{value[1:]}" if value.startswith("#") else (value if value.startswith("data:image/png") else None)
        )
    if key.startswith("on"):
        return None
    if "url(" in value:
        return re.sub(r"url\(#", f"url(#{name}-", value) if "url(#" in value else None
    return _LONG.sub(r"\1", value) if key in ("d", "x", "y", "transform", "points") else value
