"""What a GPU could do at its rated clock: dense FLOP per clock and SM, and memory bandwidth.

Pure data and arithmetic; who reads clocks and widths from a device hands them in.
"""

from dataclasses import dataclass

from solwatch.model.record import Ceilings
from solwatch.model.strings import StrEnum


class ProductClass(StrEnum):
    """Whether a chip's matrix units run at full rate: compute capability alone is a factor of two wrong."""

    PROFESSIONAL = "professional"
    GEFORCE = "geforce"


@dataclass(frozen=True)
class RatedDevice:
    """What a rated ceiling is computed from, as the driver reports it.

    ``capability``: (9, 0) for sm_90. ``sm_clock_hz`` and ``memory_clock_hz``: the maxima.
    """

    name: str
    capability: tuple[int, int]
    sm_count: int
    sm_clock_hz: float
    memory_clock_hz: float
    bus_width_bits: int


VERIFIED = frozenset({"NVIDIA H200"})
"""Products on which a measured product and copy were compared with the rated figures."""

_HALF = ("float16", "bfloat16")
_FP8 = ("float8_e4m3fn", "float8_e5m2")


def _row(half: int, *, bf16: bool = True, tf32: int = 0, fp8: int = 0, int8: int = 0, fp32: int = 0) -> dict[str, int]:
    """Return FLOP/clk/SM by dtype name, zeros left out.

    ``float32`` is true single precision: 2 FLOP for each FMA of the CUDA cores.
    """
    row = dict.fromkeys(_HALF if bf16 else _HALF[:1], half)
    row |= {"tf32": tf32, "int8": int8, "float32": fp32} | dict.fromkeys(_FP8, fp8)
    return {name: rate for name, rate in row.items() if rate}


_GEFORCE, _PROFESSIONAL = ProductClass.GEFORCE, ProductClass.PROFESSIONAL

FLOP_PER_CLOCK_PER_SM: dict[tuple[int, int], dict[ProductClass, dict[str, int]]] = {
    (7, 0): {_PROFESSIONAL: _row(1024, bf16=False, fp32=128)},
    (7, 5): {_PROFESSIONAL: _row(1024, bf16=False, int8=2048, fp32=128)},
    (8, 0): {_PROFESSIONAL: _row(2048, tf32=1024, int8=4096, fp32=128)},
    (8, 6): {
        _PROFESSIONAL: _row(1024, tf32=512, int8=2048, fp32=256),
        _GEFORCE: _row(512, tf32=256, int8=2048, fp32=256),
    },
    (8, 9): {
        _PROFESSIONAL: _row(1024, tf32=512, fp8=2048, int8=2048, fp32=256),
        _GEFORCE: _row(512, tf32=256, fp8=1024, int8=2048, fp32=256),
    },
    (9, 0): {_PROFESSIONAL: _row(4096, tf32=2048, fp8=8192, int8=8192, fp32=256)},
    (10, 0): {_PROFESSIONAL: _row(8192, tf32=4096, fp8=16384, int8=16384, fp32=256)},
    (12, 0): {
        _PROFESSIONAL: _row(1024, tf32=512, fp8=2048, int8=2048, fp32=256),
        _GEFORCE: _row(512, tf32=256, fp32=256),
    },
}
"""Dense, fp32 accumulation, by compute capability and product class.

A class that a capability doesn't list has its professional figures. Absent dtypes have no figure that is known.
"""


def product_class(name: str) -> ProductClass:
    """Return the class of a product by its name (``NVIDIA GeForce RTX 4090``)."""
    return ProductClass.GEFORCE if "geforce" in name.lower() or "titan" in name.lower() else ProductClass.PROFESSIONAL


def rated_flops(device: RatedDevice) -> dict[str, float]:
    """Return FLOP/s by dtype name: SMs × FLOP/clk/SM × maximum clock; empty for a capability not in the table."""
    by_class = FLOP_PER_CLOCK_PER_SM.get(device.capability, {})
    rates = by_class.get(product_class(device.name), by_class.get(ProductClass.PROFESSIONAL, {}))
    return {dtype: device.sm_count * rate * device.sm_clock_hz for dtype, rate in rates.items()}


def rated_bandwidth(device: RatedDevice) -> float:
    """Return bytes/s: two transfers a clock × maximum memory clock × bus width / 8."""
    return 2 * device.memory_clock_hz * device.bus_width_bits / 8


def rated_ceilings(device: RatedDevice) -> Ceilings:
    """Return the rated ceilings with their source in words; ``verified`` only for products in ``VERIFIED``."""
    flops = rated_flops(device)
    major, minor = device.capability
    compute = (
        f"{device.sm_count} SM x {device.sm_clock_hz / 1e6:.0f} MHz x FLOP/clk/SM of sm_{major}{minor} "
        f"({product_class(device.name)})"
        if flops
        else f"no throughput is known for sm_{major}{minor}"
    )
    return Ceilings(
        rated_flops=flops,
        rated_bandwidth=rated_bandwidth(device),
        rated_clock_hz=device.sm_clock_hz,
        source=f"{compute}; 2 x {device.memory_clock_hz / 1e6:.0f} MHz x {device.bus_width_bits} bit / 8",
        verified=device.name in VERIFIED,
    )
