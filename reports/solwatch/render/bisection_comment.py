"""A bisection as a comment on an issue, from a file that another job wrote."""

from solwatch.model.bisection import Found
from solwatch.render.bisected_text import render_markdown
from solwatch.render.joint import COMMENT_BYTES
from solwatch.render.markdown import CUT_BYTES, size_bytes


def comment_marker(good: str, bad: str) -> str:
    """Return the comment's first line, by which a workflow finds the comment of this range again."""
    return f"<!-- solwatch:bisection {good} {bad} -->"


def render_bisection_comment(found: Found, *, run_url: str = "") -> str:
    """Return the comment, at most ``COMMENT_BYTES``, what is cut is counted; ``run_url`` is from a trusted source.

    Raises ``LookupError`` or ``ValueError`` for a document that contradicts itself.
    """
    before = [comment_marker(found.asked.good, found.asked.bad)]
    after = [f"- records of all gates: {run_url}"] if run_url else []
    room = COMMENT_BYTES - size_bytes([*before, *after]) - CUT_BYTES
    said = render_markdown(found).splitlines()
    kept: list[str] = []
    for left, line in zip(range(len(said), 0, -1), said, strict=True):
        room -= size_bytes([line])
        if room < 0:
            kept += ["", f"- and {left} lines more"]
            break
        kept.append(line)
    return "\n".join([*before, *kept, *after]) + "\n"
