"""A device's limits as text."""

from fakes.records import CPU, CPU_CEILINGS, H200, H200_CEILINGS

from solwatch.render.ceilings import render_ceilings


def test_rated_and_sustained_stand_side_by_side() -> None:
    lines = render_ceilings(H200, H200_CEILINGS).splitlines()
    assert "model               NVIDIA H200" in lines
    assert "memory              4.810 TB/s rated, 4.270 TB/s sustained (88.8 %)" in lines
    assert "bfloat16            1.070 PFLOP/s rated, 785.0 TFLOP/s sustained (73.4 %)" in lines


def test_a_processor_has_only_what_was_measured() -> None:
    text = render_ceilings(CPU, CPU_CEILINGS)
    assert "12.00 GB/s measured" in text
    assert "rated" not in text
    assert "ECC" not in text
