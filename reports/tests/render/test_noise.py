"""The kept noise as text."""

from solwatch.model.history import NoiseRow
from solwatch.render.noise import render_noise


def row(day: int, spread: float, cell: str = "o_proj.OProj(16, 'llama')", card: str = "GPU-1") -> NoiseRow:
    return NoiseRow(
        taken_at=f"2026-03-{day:02d}T05:00:00Z", machine="runner-3", card=card, model="NVIDIA H200", cell=cell,
        rounds=24, spread=spread, null_s=3.32e-6,
    )  # fmt: skip


def test_the_newest_stands_beside_the_middle_of_those_before() -> None:
    rows = [row(3, 0.0031), row(1, 0.002), row(2, 0.004), row(1, 0.01, cell="a\x1b[31m")]
    assert render_noise(rows).splitlines() == [
        "cell                        spread  earlier  gates  null kernel      newest",
        "runner-3: NVIDIA H200, GPU-1",
        "a[31m                       1.00 %        –      1     3.320 µs  2026-03-01",
        "o_proj.OProj(16, 'llama')  0.310 %  0.300 %      3     3.320 µs  2026-03-03",
    ]


def test_without_rows_it_says_how_to_get_some() -> None:
    assert "history noise RECORD" in render_noise([])
