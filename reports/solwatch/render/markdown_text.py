"""Text from outside (subjects, names of cells and machines) as Markdown that shows it and does nothing else."""

import re

from solwatch.model.plain import plain

_RUNS = re.compile(r"`+")


def code(text: str, limit: int = 300) -> str:
    """Return ``text`` as a code span: no link, image, mention, reference to an issue or HTML in it takes effect.

    On one line, without control characters, cut at ``limit``. It may stand in a list or a paragraph; a table would
    take a ``|`` in it for a border.
    """
    shown = plain(text, limit) or "(nothing)"
    fence = "`" * (_longest_run(shown) + 1)
    return f"{fence} {shown} {fence}" if len(fence) > 1 else f"`{shown}`"


def code_block(text: str) -> str:
    """Return ``text`` as a fenced block; nothing in it ends the block early."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUNS.findall(text)), default=0)
