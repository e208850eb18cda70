"""SVG elements as safe markup."""

from collections.abc import Iterable

from markupsafe import Markup, escape


def number(value: float) -> str:
    """Return a coordinate with at most one decimal: reports of many cells stay small."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def element(name: str, *children: Markup | str, **attributes: str | float) -> Markup:
    """Return one element; text and attribute values are escaped, ``class_`` stands for ``class``.

    Underscores in attribute names become hyphens. Numbers are written as coordinates.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value if isinstance(value, str) else number(value))}"'
        for key, value in attributes.items()
    )
    inner = "".join(str(escape(child)) for child in children)
    return Markup(f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>")


def picture(width: float, height: float, label: str, children: Iterable[Markup], class_: str) -> Markup:
    """Return an ``svg`` that scales with its box and says what it shows to those who can't see it."""
    box = f"0 0 {number(width)} {number(height)}"
    return element(
        "svg",
        *children,
        viewBox=box,
        class_=class_,
        role="img",
        aria_label=label,
        preserveAspectRatio="xMinYMid meet",
    )


def title(text: str) -> Markup:
    """Return the tooltip of the element it is put into."""
    return element("title", text)
