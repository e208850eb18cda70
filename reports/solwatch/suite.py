"""What a suite of benchmarks builds on: ``import solwatch.suite`` and derive from ``solwatch.suite.Suite``.

asv sees an ordinary benchmark class with ``track_*`` methods; solwatch sees its cells. Import the module, not the
class: asv takes a class imported by name for a benchmark.
"""

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from solwatch import PROTOCOL
from solwatch.model.cell import Cell, Timer, Work
from solwatch.model.plain import plain_lines

__all__ = ["Cell", "GpuSuite", "Suite", "Timer", "Work"]


class Suite:
    """Base of a benchmark class whose cells solwatch measures.

    A subclass sets asv's ``params`` and ``param_names``, defines ``cell(*params)``, and writes its own two lines::

        def setup_cache(self):
            return self.measure()

        setup_cache.timeout = 1800

    (asv keys ``setup_cache`` by module and line: an inherited one would run once for all classes.) ``sets`` maps
    the name of a set to the parameter combinations in it; ``device`` is the type of device the cells run on
    (``GpuSuite`` for a GPU); peers, measured for comparison and never judged, set ``gated = False``. ``ranks``
    above 1, an operator over several GPUs, is out of scope: such cells are reported as skipped.
    """

    params: list[list[Any]] = []  # noqa: RUF012 - asv's own form
    param_names: list[str] = []  # noqa: RUF012 - asv's own form
    sets: Mapping[str, list[tuple[Any, ...]]] = {}
    device = "cpu"
    gated = True
    ranks = 1
    version = f"solwatch-protocol-{PROTOCOL}"
    timeout = 120

    def cell(self, *params: Any) -> Cell:
        """Return the cell for one combination of ``params``; import torch and the op here, not at the top."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its cell for {params} is")

    def measure(self) -> dict[str, Any]:
        """Measure every cell of this class in processes of their own; what asv keeps as the class's cache.

        Returns a mapping from a combination's key to its samples or to the error that took their place. A class
        for another device than this machine has is left out whole.
        """
        from solwatch.app.asv_class import measure_class

        root = type(self).__module__.split(".")[0]
        folder = Path(next(iter(sys.modules[root].__path__)))
        return measure_class(folder, self._benchmark_name(), self.device)

    def setup(self, measured: Mapping[str, Any], *params: Any) -> None:
        """Skip a combination that was not measured on this machine (asv shows n/a)."""
        if self._key(params) not in measured:
            raise NotImplementedError(f"{self.device} cells are not measured on this machine")

    def track_time(self, measured: Mapping[str, Any], *params: Any) -> Any:
        """Return seconds per call, cold caches: one sample for each block."""
        return self._samples(measured, params, "time_s")

    def track_sol_gap(self, measured: Mapping[str, Any], *params: Any) -> Any:
        """Return T / T_SOL, one sample for each block: 1 is the hardware's limit, lower is better."""
        return self._samples(measured, params, "sol_gap")

    track_time.type = "time"  # type: ignore[attr-defined]  # asv reads attributes of functions
    track_time.unit = "seconds"  # type: ignore[attr-defined]
    track_sol_gap.type = "time"  # type: ignore[attr-defined]  # the type that gets statistics over samples
    track_sol_gap.unit = "T/T_SOL"  # type: ignore[attr-defined]
    track_time.rounds = track_sol_gap.rounds = 1  # type: ignore[attr-defined]  # rounds are measure()'s business

    def _samples(self, measured: Mapping[str, Any], params: tuple[Any, ...], what: str) -> Any:
        cell = measured[self._key(params)]
        if "error" in cell:
            raise RuntimeError(plain_lines(cell["error"]))
        if not cell[what]:
            print(plain_lines(f"{type(self).__name__}{params}: {cell['no_' + what]}"), file=sys.stderr)
            return math.nan  # asv's way of saying n/a
        return {"samples": cell[what], "number": 1}

    def _benchmark_name(self) -> str:
        module = type(self).__module__.split(".", 1)[-1]
        return f"{module}.{type(self).__name__}"

    def _key(self, params: tuple[Any, ...]) -> str:
        from solwatch.asvio.discovery import cell_key

        return cell_key(self._benchmark_name(), params)


class GpuSuite(Suite):
    """A ``Suite`` whose cells run on a GPU; its energy is tracked beside its times."""

    device = "cuda"

    def track_energy(self, measured: Mapping[str, Any], *params: Any) -> Any:
        """Return joules per call of a hot loop of at least half a second, by the GPU's own counter."""
        return self._samples(measured, params, "hot_energy_j")

    track_energy.type = "time"  # type: ignore[attr-defined]
    track_energy.unit = "joules (hot loop)"  # type: ignore[attr-defined]
    track_energy.rounds = 1  # type: ignore[attr-defined]
