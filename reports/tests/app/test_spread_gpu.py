"""A gate on two real GPUs against one: same verdicts, and measuring takes half the time."""

import os
import secrets
from pathlib import Path

import pytest

from solwatch.app.clock import SystemClock
from solwatch.app.gate import compare
from solwatch.app.outcome import Outcome
from solwatch.app.session import Request, Services
from solwatch.device.cuda_uuids import visible_uuids
from solwatch.device.resolving import visible_gpus
from solwatch.model.cell import CellSelection
from solwatch.model.verdict import Verdict
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(visible_gpus() < 2, reason="fewer than 2 GPUs"),
]

ROUNDS = 6
"""Up to the first look, so that no cell is decided and left out on either side of the comparison."""
LEAST_SPEEDUP = 1.8


def gate(gpus: str, seed: int) -> Outcome:
    """Gate HEAD against itself, the standard cells of this repository."""
    root = Repository.open(Path(__file__).parent).root
    request = Request(
        command="solwatch gate HEAD HEAD --measure-all",
        head="HEAD",
        base="HEAD",
        device="auto",
        gpus=gpus,
        selection=CellSelection("standard"),
        config=load_config(root, {"budget_s": 600.0}),
        seed=seed,
        rounds=ROUNDS,
        measure_all=True,
    )
    services = Services(
        repository=Repository.open(root),
        clock=SystemClock(),
        environment=dict(os.environ),
        machine="test-machine",
        say=lambda text: None,
        progress=lambda total, budget: Silent(),
    )
    return compare(request, services)


class Silent:
    """Shows nothing."""

    def round(self, index: int) -> None:
        """Show nothing."""

    def cell(self, key: str) -> None:
        """Show nothing."""

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *error: object) -> None:
        """Leave nothing behind."""


def test_two_gpus_measure_the_same_in_half_the_time() -> None:
    seed = secrets.randbits(31)
    one, two = gate("0", seed), gate("0,1", seed)
    assert [gpu.uuid for gpu in two.record.header.gpus] == visible_uuids()[:2]
    for outcome in (one, two):
        kinds = {cell.verdict for cell in outcome.judgement.verdicts}
        assert not kinds & {Verdict.SLOWER, Verdict.FASTER, Verdict.BROKEN, Verdict.VOID}, kinds
    walls_s = [outcome.record.end.wall_s for outcome in (one, two) if outcome.record.end]
    assert [len(outcome.record.rounds) for outcome in (one, two)] == [ROUNDS, ROUNDS]
    assert walls_s[0] / walls_s[1] >= LEAST_SPEEDUP, walls_s
    assert [round_.gpu for round_ in two.record.rounds] == [0, 1] * (ROUNDS // 2)
