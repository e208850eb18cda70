"""Two lengths of work, each with every size of slowdown that the build knows."""

from typing import Any

import solwatch.suite

LENGTHS = ["short", "long"]
SIZES = ["none", "margin", "slight", "double", "fivefold"]
"""Names of the sizes; what they are is told by the build of either side, in ``planted_slowdowns``."""


class Cpu(solwatch.suite.Suite):
    """On a processor."""

    param_names = ["size", "length"]  # noqa: RUF012 - asv's own form
    params = [SIZES, LENGTHS]  # noqa: RUF012 - asv's own form

    def setup_cache(self) -> Any:
        return self.measure()

    def cell(self, size: str, length: str) -> solwatch.suite.Cell:
        from planted_slowdowns import SLOWDOWNS  # type: ignore[import-not-found]  # the scratch project's build

        from solwatch.device.known_work import cpu_cell

        return cpu_cell(length, SLOWDOWNS[size])


class Gpu(solwatch.suite.GpuSuite):
    """On a GPU."""

    param_names = ["size", "length"]  # noqa: RUF012 - asv's own form
    params = [SIZES, LENGTHS]  # noqa: RUF012 - asv's own form

    def setup_cache(self) -> Any:
        return self.measure()

    def cell(self, size: str, length: str) -> solwatch.suite.Cell:
        from planted_slowdowns import SLOWDOWNS

        from solwatch.device.known_work import gpu_cell

        return gpu_cell(length, SLOWDOWNS[size])
