"""Names of kernels: as people write them, and which one it is that a plan speaks of."""

import re
from collections.abc import Iterable, Mapping

_NUMBER = re.compile(r"\d+")
_CAST = re.compile(r"\((unsigned )?(bool|char|int|long|short)\)(?=-?\d)")
"""How a demangler writes the type of a number among template arguments."""

_TYPES = {"bfloat16": ("bfloat16", "bf16"), "float16": ("half", "f16", "fp16"), "float32": ("If", "float", "fp32")}
"""What the mangled name of a kernel for a dtype contains, one of them."""


def kernel_of_plan(names: Iterable[str], plan: Mapping[str, str], dtype: str | None) -> str | None:
    """Return the one of the mangled ``names`` that ``plan`` (what a cell's ``explain`` said) speaks of.

    Its name contains the plan's ``kernel``; where several do, the first two numbers of the plan's ``tile`` are
    template arguments side by side, and its type is ``dtype``. ``None`` unless exactly one is left.
    """
    kernel = plan.get("kernel", "")
    left = [name for name in names if kernel and kernel in name]
    tile = "".join(f"Li{number}E" for number in _NUMBER.findall(plan.get("tile", ""))[:2])
    if len(left) > 1:
        left = [name for name in left if tile in name]
    if len(left) > 1:
        left = [name for name in left if any(word in name for word in _TYPES.get(dtype or "", ()))]
    return left[0] if len(left) == 1 else None


def short_title(demangled: str) -> str:
    """Return a demangled name without its return type, parameters and anonymous namespaces."""
    text = _CAST.sub("", demangled.replace("(anonymous namespace)::", ""))
    depth, end = 0, len(text)
    for place, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == "(" and depth == 0:
            end = place
            break
    return text[:end].removeprefix("void ").strip() or demangled
