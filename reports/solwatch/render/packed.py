"""What ``solwatch build`` has packed, as text."""

from collections.abc import Sequence

from solwatch.model.plain import plain
from solwatch.render.units import scaled


def render_packed(folder: str, builds: Sequence[tuple[str, str, bool, float]], *, size_bytes: int) -> str:
    """Return the text on a pack; ``builds``: the name asked for, sha, whether it was compiled now, seconds it took."""
    lines = [f"{len(builds)} builds in {plain(folder)}, {scaled(size_bytes, 'B', 3)}"]
    for name, sha, compiled, wall_s in builds:
        how = f"compiled in {scaled(wall_s, 's', 3)}" if compiled else "from the cache"
        lines.append(f"  {plain(name)} ({sha[:8]}), {how}")
    return "\n".join(lines)
