"""Whether a machine is the runner that it is labelled as: each broken promise is said, and ends with 3."""

from collections.abc import Callable

import pytest
from fakes.fleets import runner
from fakes.machines import H200, NO_GPU

from solwatch.app.fleet_check import check_machine
from solwatch.model.errors import ExitCode, MachineError
from solwatch.model.fleet import Runner
from solwatch.model.machine import Card

CARD = Card(name="NVIDIA H200", capability=(9, 0))
SLICE = Card(name="NVIDIA H200 MIG 1g.18gb", capability=(9, 0))
A100 = Card(name="NVIDIA A100-SXM4-80GB", capability=(8, 0))


def shows(*cards: Card) -> Callable[[], list[Card]]:
    return lambda: list(cards)


@pytest.mark.parametrize(
    ("promised", "cards", "said"),
    [
        (runner(), [CARD], "h200: 1 × NVIDIA H200 (9.0), driver 580.159, as promised"),
        (runner(gpu_count=2), [CARD, CARD], "h200: 2 × NVIDIA H200 (9.0), driver 580.159, as promised"),
        (runner(gpu="NVIDIA A100*", architectures=["9.0a", "8.0"]), [A100],
         "h200: 1 × NVIDIA A100-SXM4-80GB (8.0), driver 580.159, as promised"),
    ],
)  # fmt: skip
def test_a_machine_that_is_what_its_label_says(promised: Runner, cards: list[Card], said: str) -> None:
    assert check_machine(promised, shows(*cards), lambda: H200) == said


@pytest.mark.parametrize(
    ("promised", "cards", "said"),
    [
        (runner(), [A100], "it shows 1 × NVIDIA A100-SXM4-80GB (8.0)"),
        (runner(), [], "it shows no GPU"),
        (runner(), [CARD, CARD], "it shows 2 × NVIDIA H200 (9.0)"),
        (runner(gpu_count=2), [CARD], "it shows 1 × NVIDIA H200 (9.0)"),
        (runner(gpu_count=2), [CARD, A100], "it shows 1 × NVIDIA H200 (9.0), 1 × NVIDIA A100-SXM4-80GB (8.0)"),
        (runner(), [SLICE], "it shows 1 × NVIDIA H200 MIG 1g.18gb (9.0)"),
        (runner(architectures=["8.0", "10.0f"]), [CARD], "kernels built for 8.0, 10.0f don't run on NVIDIA H200 (9.0)"),
    ],
)
def test_a_broken_promise_is_the_infrastructures_fault(promised: Runner, cards: list[Card], said: str) -> None:
    with pytest.raises(MachineError) as raised:
        check_machine(promised, shows(*cards), lambda: H200)
    line = str(raised.value)
    assert line.startswith(f"infrastructure: runner h200 promises {promised.gpu_count} × 'NVIDIA H200' and this")
    assert f": {said}; repair it (nvidia-smi, CUDA_VISIBLE_DEVICES), or take the labels self-hosted, gpu-h200" in line
    assert "\n" not in line
    assert raised.value.exit_code is ExitCode.UNTRUSTED


def test_a_driver_that_is_missing_or_says_nothing() -> None:
    def fails() -> list[Card]:
        raise MachineError("the CUDA driver is not installed")

    with pytest.raises(MachineError, match=r"^infrastructure: .*: the CUDA driver is not installed; repair it"):
        check_machine(runner(), fails, lambda: H200)
    with pytest.raises(MachineError, match=r"management library gives no answer: libnvidia-ml.so.1 not found; repair"):
        check_machine(runner(), shows(CARD), lambda: NO_GPU)


def test_a_runner_without_a_gpu_asks_nothing_of_one() -> None:
    def never() -> list[Card]:
        raise AssertionError("asked")

    cpu = Runner(name="cpu", labels=["ubuntu-latest"], ephemeral=True)
    said = check_machine(cpu, never, lambda: H200)
    assert said == "cpu: a runner that measures the CPU, no GPU is promised"
