"""Colours and shapes of pages and charts: told apart without colour, too, and by those who see colours otherwise."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from solwatch.model.verdict import Verdict
from solwatch.render.headline import SEVERITY, verdict_word


@dataclass(frozen=True)
class Palette:
    """Colours by role; any CSS colour. Verdicts keep 4.5 : 1 against ``ground`` and ``panel``."""

    ground: str
    panel: str
    line: str
    ink: str
    soft: str
    link: str
    slower: str
    void: str
    undecided: str
    accepted: str
    new: str
    faster: str
    band: str
    base: str


LIGHT = Palette(
    ground="#ffffff",
    panel="#f5f7f9",
    line="#d9dfe5",
    ink="#14181d",
    soft="#56606b",
    link="#0b5cad",
    slower="#b3261e",
    void="#7a3fb0",
    undecided="#855400",
    accepted="#4a4fb5",
    new="#00695c",
    faster="#0b5f95",
    band="#e4e9ee",
    base="#8a4b00",
)
DARK = Palette(
    ground="#101419",
    panel="#191f26",
    line="#323b45",
    ink="#e8ebef",
    soft="#a3adb8",
    link="#79b8ff",
    slower="#ff8a80",
    void="#cda4ff",
    undecided="#e8b64c",
    accepted="#a9b0ff",
    new="#5fd0bf",
    faster="#74c0f5",
    band="#29313a",
    base="#f0b070",
)
NAMED = Palette(**{field.name: f"var(--{field.name})" for field in fields(Palette)})
"""The colours by the names that the page's style gives them, so that one drawing serves light, dark and paper."""

VERDICT_COLOURS = {
    Verdict.SLOWER: "slower",
    Verdict.BROKEN: "slower",
    Verdict.BELOW_FLOOR: "slower",
    Verdict.VOID: "void",
    Verdict.UNDECIDED: "undecided",
    Verdict.ACCEPTED: "accepted",
    Verdict.NEW: "new",
    Verdict.FASTER: "faster",
    Verdict.UNCHANGED: "soft",
}
"""Role of each verdict's colour."""

VERDICT_SHAPES = {
    Verdict.SLOWER: "triangle-up",
    Verdict.BROKEN: "cross",
    Verdict.BELOW_FLOOR: "wedge",
    Verdict.VOID: "square",
    Verdict.UNDECIDED: "diamond",
    Verdict.ACCEPTED: "triangle-right",
    Verdict.NEW: "triangle-left",
    Verdict.FASTER: "triangle-down",
    Verdict.UNCHANGED: "circle",
}
"""Vega's names of the marks by which verdicts are told apart without colour."""

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Of one width nearly everywhere: Vega places labels by the font that it has, browsers draw them with theirs."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def variables(palette: Palette) -> str:
    """Return the palette as CSS custom properties."""
    return "".join(f"--{field.name}:{getattr(palette, field.name)};" for field in fields(palette))


def chart(palette: Palette, **parts: Any) -> dict[str, Any]:
    """Return a Vega-Lite specification with the look that all charts share; ``parts`` are its own."""
    config = {
        "background": palette.ground if palette is not NAMED else None,
        "font": FONT,
        "view": {"stroke": palette.line},
        "axis": {
            "labelColor": palette.soft,
            "titleColor": palette.ink,
            "gridColor": palette.line,
            "domainColor": palette.line,
            "tickColor": palette.line,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            # Vega measures every text that it may have to cut.
            "labelLimit": 0,
            "titleLimit": 0,
        },
        "header": {"labelColor": palette.ink, "titleColor": palette.ink},
        "legend": {
            "labelColor": palette.ink,
            "titleColor": palette.ink,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "labelLimit": 0,
        },
        "text": {"color": palette.ink},
        # Vega would say of every mark what it is made of; those that say something of their own switch it on.
        "mark": {"aria": False},
    }
    return {"$schema": SCHEMA, "config": config, "padding": {"left": 16, "right": 16, "top": 6, "bottom": 6}, **parts}


def verdict_marks(
    palette: Palette, present: Iterable[Verdict], *, shapes: Mapping[Verdict, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the encodings of colour and shape by the field ``verdict``, with one legend for those ``present``.

    ``shapes``: those that are others than ``VERDICT_SHAPES``.
    """
    shown = [verdict for verdict in SEVERITY if verdict in set(present)]
    words = [verdict_word(verdict) for verdict in shown]
    legend = {"title": None, "orient": "top", "symbolStrokeWidth": 1.5}
    return {
        "color": {
            "field": "verdict",
            "type": "nominal",
            "scale": {"domain": words, "range": [verdict_colour(palette, verdict) for verdict in shown]},
            "legend": legend,
        },
        "shape": {
            "field": "verdict",
            "type": "nominal",
            "scale": {"domain": words, "range": [shapes.get(verdict, VERDICT_SHAPES[verdict]) for verdict in shown]},
            "legend": legend,
        },
    }


def unique(names: Iterable[str]) -> list[str]:
    """Return the names, numbered where one comes again: two rows of a chart must not fall on each other."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def verdict_colour(palette: Palette, verdict: Verdict) -> str:
    """Return the colour of a verdict."""
    return str(getattr(palette, VERDICT_COLOURS[verdict]))
