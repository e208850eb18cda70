"""What ``solwatch build`` has packed, as text."""

from collections.abc import Sequence

from solwatch.model.plain import plain
from solwatch.render.units import scaled


def render_packed(
    folder: str, builds: Sequence[tuple[str, str, bool, float]], *, left_out: Sequence[str], size_bytes: int
) -> str:
    """Return the text on a pack; ``builds``: the name asked for, sha, whether it was compiled now, seconds it took.

    ``left_out``: hashes of commits that don't build.
    """
    without = f"; left out, they don't build: {', '.join(sha[:8] for sha in left_out)}" if left_out else ""
    lines = [f"{len(builds)} builds in {plain(folder)}, {scaled(size_bytes, 'B', 3)}{without}"]
    for name, sha, compiled, wall_s in builds:
        how = f"compiled in {scaled(wall_s, 's', 3)}" if compiled else "from the cache"
        lines.append(f"  {sha[:8]}, {how}" if sha.startswith(name) else f"  {plain(name)} ({sha[:8]}), {how}")
    return "\n".join(lines)
