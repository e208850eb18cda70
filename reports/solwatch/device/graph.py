"""The ``graph`` timer: each buffer set's call captured once as a CUDA graph and replayed behind the gate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from solwatch.device.sampler import Shot
from solwatch.device.stage import Stage


class CapturedShots:
    """Graphs of the same call on each of some buffer sets, sharing one memory pool.

    Sharing is safe because replays are ordered on one stream and nobody reads a call's temporaries afterwards.
    """

    def __init__(
        self, stage: Stage, call: Callable[..., Any], sets: Sequence[Mapping[str, Any]], repeat: int = 1
    ) -> None:
        """Capture ``repeat`` calls in each graph and replay each once, which uploads it."""
        self._graphs: list[torch.cuda.CUDAGraph] = []
        pool = None
        with torch.cuda.stream(stage.stream):
            for tensors in sets:
                graph = torch.cuda.CUDAGraph()
                graph.capture_begin(pool=pool)
                try:
                    for _ in range(repeat):
                        call(**tensors)
                finally:
                    graph.capture_end()
                pool = pool or graph.pool()
                graph.replay()
                self._graphs.append(graph)
        stage.synchronize()

    def shots(self) -> list[Shot]:
        """Return the replays; they live as long as this object."""
        return [graph.replay for graph in self._graphs]
