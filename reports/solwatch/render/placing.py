"""Where a cell stands among the others: its layer, and its size along one numeric parameter."""

from dataclasses import dataclass

from solwatch.model.cell import CellInfo
from solwatch.model.plain import plain
from solwatch.render.units import ABSENT

_LAYERS = ("layer", "model", "shape")
"""Names of parameters that say which layer a cell is of, most telling first."""


@dataclass(frozen=True)
class Place:
    """``layer``: name of a model's layer, or the benchmark's where no parameter is text. ``size``: along
    ``size_name``, ``None`` where no parameter is a number. ``spelled``: all parameters by name, for those who don't
    know their order: ``tokens 256, layer llama-3-8b``."""

    layer: str
    size: float | None
    size_name: str
    spelled: str


def place_of(info: CellInfo | None) -> Place:
    """Return where a cell stands; the null kernel, which no suite lists, stands nowhere."""
    if info is None:
        return Place(ABSENT, None, "", "")
    named = list(zip(info.param_names, info.params, strict=False))
    words = [(name, _bare(text)) for name, text in named if _number(text) is None]
    numbers = [(name, value) for name, text in named if (value := _number(text)) is not None]
    told = [text for wanted in _LAYERS for name, text in words if name == wanted] or [text for _, text in words]
    size_name, size = numbers[0] if numbers else ("", None)
    return Place(
        layer=plain(told[0], 80) if told else plain(info.benchmark, 80),
        size=size,
        size_name=plain(size_name, 40),
        spelled=plain(", ".join(f"{name} {_bare(text)}" for name, text in named), 200),
    )


def _bare(text: str) -> str:
    return text.strip("'\"")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None
