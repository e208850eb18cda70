"""What a recording says when it ends."""

from solwatch.model.plain import plain


def render_recorded(path: str, rounds: int, wanted: int, *, cells: int, size_bytes: int, wall_s: float) -> str:
    """Return one line: how much the file holds, and how it is continued when rounds are missing."""
    size = f"{size_bytes / 1e3:.0f} kB" + (f", {wall_s / rounds:.2f} s a round" if rounds else "")
    held = (
        f"{rounds} of {max(rounds, wanted)} rounds of {cells} cell{'s' if cells != 1 else ''} in {plain(path)}, {size}"
    )
    missing = wanted - rounds
    return held if missing <= 0 else f"{held}\n→ the same command measures the other {missing}"
