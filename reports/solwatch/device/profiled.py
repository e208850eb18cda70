"""One call of a cell between ``cudaProfilerStart`` and ``cudaProfilerStop``, which a profiler waits for."""

import torch

from solwatch.model.cell import Cell

WARM_CALLS = 3
"""The first calls compile, tune and load what later ones find."""


def call_between_marks(cell: Cell, device: str, *, seed: int) -> None:
    """Call ``cell`` on fresh inputs until it is warm, and once more between the marks."""
    with torch.no_grad(), torch.cuda.device(device):
        tensors = cell.make_inputs(device, seed)
        for _ in range(WARM_CALLS):
            cell.call(**tensors)
        torch.cuda.synchronize()
        with torch.cuda.profiler.profile():
            cell.call(**tensors)
            torch.cuda.synchronize()
