"""What ``accept`` says when it has written an entry."""

from solwatch.model.acceptance import Acceptance
from solwatch.model.plain import plain
from solwatch.render.units import percentage


def render_acceptance(entry: Acceptance, file: str) -> str:
    """Return what was accepted, and what is left to do."""
    return (
        f"accepted: {plain(entry.cell)} up to {percentage(entry.max)} by {plain(entry.owner)} until {entry.expires}\n"
        f"→ commit {plain(file)} together with the slowdown, so that both are reviewed"
    )
