"""What a recording says when it ends."""

from solwatch.render.recorded import render_recorded


def test_a_whole_recording_is_one_line() -> None:
    said = render_recorded("a.jsonl", 40, 40, cells=12, size_bytes=118_200, wall_s=60.0)
    assert said == "40 of 40 rounds of 12 cells in a.jsonl, 118 kB, 1.50 s a round"


def test_a_part_says_how_to_get_the_rest_and_more_than_asked_is_not_too_few() -> None:
    assert render_recorded("a.jsonl", 7, 40, cells=1, size_bytes=9000, wall_s=7.0).endswith(
        "→ the same command measures the other 33"
    )
    assert render_recorded("a.jsonl", 7, 5, cells=1, size_bytes=9000, wall_s=7.0).startswith("7 of 7 rounds of 1 cell ")
