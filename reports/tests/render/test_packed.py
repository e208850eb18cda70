"""What is said of a pack: each build by its name, and what was left out."""

from solwatch.render.packed import render_packed

HEAD, MIDDLE, BROKEN = (digit * 40 for digit in "abc")


def test_each_build_has_a_line_and_what_does_not_build_is_named() -> None:
    builds = [("HEAD\x1b", HEAD, True, 7.98), (MIDDLE[:8], MIDDLE, False, 0.01), (MIDDLE, MIDDLE, False, 0.01)]
    assert render_packed("builds", builds, left_out=[BROKEN], size_bytes=222_000).splitlines() == [
        "3 builds in builds, 222 kB; left out, they don't build: cccccccc",
        f"  HEAD ({HEAD[:8]}), compiled in 7.98 s",
        f"  {MIDDLE[:8]}, from the cache",
        f"  {MIDDLE[:8]}, from the cache",
    ]
