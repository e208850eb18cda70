"""What a kernel's instructions are, from lines as cuobjdump prints them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.judge.instructions import ALL, CLASSES, instruction_mix


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24, !UPT, gsb0", "wgmma"),
        ("HMMA.16816.F32.BF16 R84, R36, R60, R84", "mma"),
        ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR10], tmem[UR8], idesc[UR9], UPT", "tcgen05"),
        ("UTMALDG.2D [UR8], [UR4]", "TMA"),
        ("LDGSTS.E.BYPASS.128 [R3], [R4.64]", "async copies"),
        ("@P0 LDG.E.128.CONSTANT R8, [R2.64]", "global loads"),
        ("@!UP1 LDSM.16.M88.4 R12, [R5+UR4]", "shared loads"),
        ("STS.128 [R0], R4", "shared stores"),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", "barriers"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2", "barriers"),
        ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5", "atomics"),
        ("FFMA R0, R1, R2, R3", "float32"),
    ],
)
def test_the_class_of_an_instruction(text: str, name: str) -> None:
    assert instruction_mix([text]).counts == {ALL: 1, name: 1}


def test_what_is_spilled_is_counted_in_bytes() -> None:
    mix = instruction_mix(["STL [R1+0x4], R9", "STL.64 [R1+0x8], R2", "@P2 LDL.128 R4, [R1]", "LDL.LU R4, [R1+-0x10]"])
    assert (mix.store_bytes, mix.load_bytes, mix.indexed) == (12, 20, False)


def test_an_array_of_a_thread_is_told_from_a_spill() -> None:
    assert instruction_mix(["STL [R1], R9", "LDL.64 R2, [R7+0x8]"]).indexed
    assert instruction_mix(["STL.U8 [R7], R9"]).store_bytes == 1


def test_padding_is_not_counted() -> None:
    assert instruction_mix(["NOP", "EXIT", "", "@P0 BRA 0x100"]).counts == {ALL: 2}


@settings(deadline=None)
@given(st.lists(st.text(alphabet="@!PABLDGSTMR.[]0123456789 ", max_size=30), max_size=30))
def test_every_instruction_counts_once(lines: list[str]) -> None:
    counts = instruction_mix(lines).counts
    assert sum(counts.get(name, 0) for name in CLASSES) <= counts[ALL] <= len(lines)
