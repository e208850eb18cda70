"""What the application is handed: sampler, clock, files. Tests hand it fakes."""

from typing import Protocol

from solwatch.model.cell import Cell
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.protocol import EnergyMeasured, Findings, Prepared
from solwatch.model.record import Block, Ceilings


class Device(Protocol):
    """One device a worker measures on; holds at most one prepared cell."""

    def fingerprint(self) -> Fingerprint:
        """Return what a time taken here belongs to."""

    def ceilings(self, dtypes: list[str]) -> Ceilings:
        """Return rated ceilings and measure the sustained ones."""

    def prepare(self, cell: Cell, *, seed: int, check: bool, findings: Findings | None = None) -> Prepared:
        """Place the inputs, check the result, warm up; raises what the cell raises.

        ``findings``: what an earlier process found of the same call, ``None`` to look.
        """

    def measure(self, target_s: float) -> Block:
        """Take one block of the prepared cell."""

    def get_ready(self) -> None:
        """Do what the next block needs and leaves the device alone; called when a block has been answered."""

    def measure_energy(self, loop_s: float) -> EnergyMeasured:
        """Run the prepared cell hot for ``loop_s`` seconds."""

    def release(self) -> None:
        """Forget the prepared cell."""


class Clock(Protocol):
    """Wall and monotonic time."""

    def monotonic(self) -> float:
        """Return seconds that never step back."""

    def now(self) -> str:
        """Return UTC as ISO 8601."""
