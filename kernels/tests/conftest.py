"""Devices, inputs and modes of a call that the operator's tests share.

The tests run against the installed wheel: install it first (pip install --no-build-isolation .). Inputs
are drawn anew in each run; FUSED_O_PROJ_TEST_SEED, which the report's head names, repeats a run's.
"""

from __future__ import annotations

import faulthandler
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

import pytest
import torch
from torch import Tensor

import fused_o_proj
from fused_o_proj import o_proj_residual
from fused_o_proj.reference import check

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
MODES = ("new", "out", "in_place", "strided", "offset", "copied")


SEED_VARIABLE = "FUSED_O_PROJ_TEST_SEED"
HANG_S = 240.0  # the longest test on a GPU takes a tenth of it
STDERR = pytest.StashKey[TextIO]()


def pytest_configure(config: pytest.Config) -> None:
    """Draw the run's seed where none is given, and keep the true stderr for the watchdog."""
    os.environ.setdefault(SEED_VARIABLE, str(random.SystemRandom().randrange(2**31)))
    config.stash[STDERR] = os.fdopen(os.dup(2), "w")


def pytest_report_header() -> str:
    """Name the seed."""
    return f"inputs of fused_o_proj: {SEED_VARIABLE}={os.environ[SEED_VARIABLE]}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what was kept."""
    config.stash[STDERR].close()


@pytest.fixture(autouse=True)
def watchdog(request: pytest.FixtureRequest) -> Iterator[None]:
    """A kernel that hangs holds Python in the driver, where no signal reaches it: end the process instead."""
    if request.node.get_closest_marker("gpu") is None:
        yield
        return
    faulthandler.dump_traceback_later(HANG_S, exit=True, file=request.config.stash[STDERR])
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def seed() -> int:
    """The run's seed."""
    return int(os.environ[SEED_VARIABLE])


def cuda_is_usable() -> bool:
    """A GPU, and a build with kernels for it."""
    return torch.cuda.is_available() and fused_o_proj.build_info()["kind"] == "cuda"


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> torch.device:
    """Each device that has kernels; the GPU is skipped where there is none."""
    if request.param == "cuda" and not cuda_is_usable():
        pytest.skip("no CUDA device, or a CPU-only build")
    return torch.device(request.param)


@pytest.fixture
def cuda() -> torch.device:
    """The GPU, for tests that make sense on it only."""
    if not cuda_is_usable():
        pytest.skip("no CUDA device, or a CPU-only build")
    return torch.device("cuda")


@pytest.fixture(params=DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    """Each dtype served."""
    found: torch.dtype = request.param
    return found


@dataclass(frozen=True)
class Inputs:
    """attn[M, K], residual[M, N], weight[N, K] of one call."""

    attn: Tensor
    residual: Tensor
    weight: Tensor

    def args(self) -> tuple[Tensor, Tensor, Tensor]:
        """In the operator's order."""
        return self.attn, self.residual, self.weight


MakeInputs = Callable[..., Inputs]


@pytest.fixture
def make_inputs(seed: int) -> MakeInputs:
    """N(0, 1) inputs by the run's seed and the sizes: ``make_inputs(m, n, k, dtype, device)``."""

    def make(m: int, n: int, k: int, dtype: torch.dtype, device: torch.device) -> Inputs:
        generator = torch.Generator(device=device).manual_seed(seed + m * 1000003 + n * 1009 + k)

        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, device=device).to(dtype)

        return Inputs(normal(m, k), normal(m, n), normal(n, k))

    return make


def poisoned(like: Tensor, margin: int = 64) -> tuple[Tensor, Tensor]:
    """Return (whole, view): NaN everywhere, the view of ``like``'s shape with guard bands around it.

    The rows of the view lie in rows ``margin`` elements longer on either side, so that whatever is
    written beside, before or after the view shows.
    """
    m, n = like.shape
    whole = torch.full((m + 4, n + 2 * margin), float("nan"), dtype=like.dtype, device=like.device)
    return whole, whole[2 : m + 2, margin : margin + n]


def assert_guards_intact(whole: Tensor, view: Tensor) -> None:
    """Everything around the view is NaN still."""
    finite = (~whole.isnan()).sum()
    assert int(finite) == int((~view.isnan()).sum()), "the operator wrote outside of out"


def strided(tensor: Tensor) -> Tensor:
    """The same values in rows of a longer stride that is a multiple of 16 bytes."""
    n = tensor.shape[1]
    return torch.nn.functional.pad(tensor, (0, -n % 8 + 8))[:, :n]


def offset(tensor: Tensor) -> Tensor:
    """The same values at an address and a stride that allow single elements only."""
    n = tensor.shape[1]
    return torch.nn.functional.pad(tensor, (1, n % 2))[:, 1 : n + 1]


def columns_first(tensor: Tensor) -> Tensor:
    """The same values with the first dimension contiguous: the operator must copy it."""
    return tensor.t().contiguous().t()


def run_mode(mode: str, inputs: Inputs) -> Tensor:
    """Call the operator in one of MODES; checks the guard bands where there is an out."""
    attn, residual, weight = inputs.args()
    if mode == "new":
        return o_proj_residual(attn, residual, weight)
    if mode == "strided":
        attn, residual, weight = strided(attn), strided(residual), strided(weight)
    elif mode == "offset":
        attn, residual, weight = offset(attn), offset(residual), offset(weight)
    elif mode == "copied":
        attn, residual, weight = columns_first(attn), columns_first(residual), columns_first(weight)
    whole, out = poisoned(inputs.residual, margin=63 if mode == "offset" else 64)
    if mode == "in_place":
        out.copy_(residual)
        residual = out
    returned = o_proj_residual(attn, residual, weight, out=out)
    assert returned is out
    assert_guards_intact(whole, out)
    return out


@pytest.fixture
def check_mode() -> Callable[[str, Inputs], None]:
    """Call the operator in a mode and compare with the float64 reference."""

    def run(mode: str, inputs: Inputs) -> None:
        check(run_mode(mode, inputs), *inputs.args())

    return run


@pytest.fixture
def check_repeats() -> Callable[[Inputs], None]:
    """Call a thousand times on two streams at once, so that CTAs meet in ever new orders: the same bits."""

    def run(inputs: Inputs) -> None:
        wanted = o_proj_residual(*inputs.args())
        check(wanted, *inputs.args())
        wrong = torch.zeros((), dtype=torch.int64, device=wanted.device)
        other = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        other.wait_stream(torch.cuda.current_stream())
        for _ in range(1000):
            with torch.cuda.stream(other):
                o_proj_residual(*inputs.args())
            wrong += (o_proj_residual(*inputs.args()) != wanted).sum()
        torch.cuda.synchronize()
        assert int(wrong) == 0

    return run


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """Each way to call the operator."""
    return str(request.param)
