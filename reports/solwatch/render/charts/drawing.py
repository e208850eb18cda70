"""Charts drawn by Vega without a browser: SVG for the page, PNG for other places.

vl-convert brings Vega and Vega-Lite along and loads nothing from the network. It is imported at first use: starting
Vega costs half a second, which only commands that draw may pay.
"""

import threading
import xml.etree.ElementTree as ElementTree
from typing import Any

from markupsafe import Markup

VEGA_LITE = "6.4"
"""Specifications are read by this version."""

_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("role", "aria-roledescription", "aria-hidden", "class", "version", "pointer-events", "opacity")
"""What Vega says of each mark to screen readers and scripts. The picture has one name, its table says the rest."""

_SCALE = 1.5


def warm_up() -> None:
    """Begin to start Vega, beside what is done until the first chart is drawn."""
    threading.Thread(target=_drawn, args=({"mark": "point", "data": {"values": []}},), daemon=True).start()


def svg(spec: dict[str, Any], label: str) -> Markup:
    """Return a chart as an ``svg`` element; ``label`` says what it shows to those who can't see it.

    What a mark says when it is pointed at stands in its ``data-tip``.
    """
    root = ElementTree.fromstring(_drawn(spec))
    for parent in root.iter():
        # Vega has an empty outline for each group; they are a third of the file.
        for child in [child for child in parent if _is_invisible(child)]:
            parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        tip = element.attrib.pop("aria-label", None)
        if tip is not None and element.tag == "path":
            element.set("data-tip", tip)
        if element.get("opacity") not in (None, "1"):
            element.set("fill-opacity", element.attrib["opacity"])
            element.set("stroke-opacity", element.attrib["opacity"])
        for name in _DROPPED:
            element.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def png(spec: dict[str, Any]) -> bytes:
    """Return a chart as PNG, one and a half pixels for each of its units."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=_SCALE, allowed_base_urls=[]))


def _is_invisible(element: ElementTree.Element) -> bool:
    return element.get("display") == "none" or (element.tag == f"{{{_SVG}}}path" and element.get("d") == "M0,0h0v0h0Z")


def _drawn(spec: dict[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[]))
