"""The rated ceilings against figures worked out by hand."""

import pytest

from solwatch.sol.throughput import ProductClass, RatedDevice, product_class, rated_bandwidth, rated_ceilings

H200 = RatedDevice(
    name="NVIDIA H200",
    capability=(9, 0),
    sm_count=132,
    sm_clock_hz=1980e6,
    memory_clock_hz=3201e6,
    bus_width_bits=6016,
)


def test_the_h200_is_rated_as_its_clocks_say() -> None:
    ceilings = rated_ceilings(H200)
    assert ceilings.rated_flops["bfloat16"] == pytest.approx(132 * 4096 * 1.98e9)
    assert ceilings.rated_flops["bfloat16"] == pytest.approx(1070.5e12, rel=1e-3)
    assert ceilings.rated_bandwidth == pytest.approx(4.8143e12, rel=1e-4)
    assert ceilings.rated_clock_hz == 1980e6
    assert ceilings.verified


def test_bandwidth_counts_two_transfers_a_clock() -> None:
    assert rated_bandwidth(H200) == 2 * 3201e6 * 6016 / 8


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA GeForce RTX 4090", ProductClass.GEFORCE),
        ("NVIDIA TITAN RTX", ProductClass.GEFORCE),
        ("NVIDIA RTX 6000 Ada Generation", ProductClass.PROFESSIONAL),
        ("NVIDIA L4", ProductClass.PROFESSIONAL),
    ],
)
def test_the_class_follows_the_name(name: str, expected: ProductClass) -> None:
    assert product_class(name) == expected


def test_a_geforce_has_half_the_matrix_rate_of_a_professional_card() -> None:
    def ceilings(name: str) -> dict[str, float]:
        card = RatedDevice(
            name=name,
            capability=(8, 9),
            sm_count=100,
            sm_clock_hz=2e9,
            memory_clock_hz=1e9,
            bus_width_bits=256,
        )
        return rated_ceilings(card).rated_flops

    professional, geforce = ceilings("NVIDIA L40S"), ceilings("NVIDIA GeForce RTX 4090")
    assert geforce["float16"] == professional["float16"] / 2
    assert geforce["tf32"] == professional["tf32"] / 2
    assert geforce["float8_e4m3fn"] == professional["float8_e4m3fn"] / 2
    assert geforce["int8"] == professional["int8"]
    assert geforce["float32"] == professional["float32"]


def test_a_chip_without_bf16_has_no_bf16_ceiling() -> None:
    volta = RatedDevice(
        name="Tesla V100-SXM2-16GB",
        capability=(7, 0),
        sm_count=80,
        sm_clock_hz=1.53e9,
        memory_clock_hz=877e6,
        bus_width_bits=4096,
    )
    ceilings = rated_ceilings(volta)
    assert "bfloat16" not in ceilings.rated_flops
    assert ceilings.rated_flops["float16"] == pytest.approx(125e12, rel=0.01)
    assert not ceilings.verified


def test_an_unknown_chip_has_bandwidth_and_says_why_it_has_no_throughput() -> None:
    unknown = RatedDevice(
        name="NVIDIA Next",
        capability=(13, 7),
        sm_count=1,
        sm_clock_hz=1e9,
        memory_clock_hz=1e9,
        bus_width_bits=512,
    )
    ceilings = rated_ceilings(unknown)
    assert ceilings.rated_flops == {}
    assert ceilings.rated_bandwidth == 128e9
    assert "sm_137" in ceilings.source
