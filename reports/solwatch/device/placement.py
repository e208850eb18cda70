"""Buffer sets at random places in a large pool, drawn anew for each block.

Where a kernel's buffers happen to lie changes its time by more than what a gate must see, and one allocation
keeps its place for the life of a process. So the pool is taken once and the sets wander in it.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

STEP_BYTES = 2 << 20
"""Places are drawn in steps of a large GPU page."""

JITTER_BYTES = 4096
"""A buffer starts at most this far behind its step."""

ALIGNMENT_BYTES = 256
"""What ``cudaMalloc`` promises at least; kernels may rely on it."""


@dataclass(frozen=True)
class _Extent:
    """The bytes of one storage that the tensors of a set use: ``[start, start + size)``."""

    storage: torch.UntypedStorage
    start: int
    size: int

    def bytes_view(self) -> torch.Tensor:
        """Return the extent as a flat uint8 tensor that shares its memory."""
        view = torch.empty(0, dtype=torch.uint8, device=self.storage.device)
        return view.set_(self.storage, self.start, (self.size,), (1,))


class _Arrangement(NamedTuple):
    """Parts of the pool, what is to be copied to each of them, and the sets that then lie there."""

    targets: list[torch.Tensor]
    copied: list[torch.Tensor]
    sets: list[dict[str, Any]]


class Placement:
    """Copies of one buffer set in a pool.

    Strides, offsets and aliasing are kept: tensors that share a storage share it in every copy. Anything that
    isn't a plain strided tensor on the pool's device (numbers, host tensors) is passed on as it is. With a
    ``pool`` too small for one set, the source itself is the only set (``in_place``).

    ``pool``: flat uint8 tensor. ``most_sets`` and ``rotation_bytes`` bound the number of copies: enough to
    cover ``rotation_bytes``, at most ``most_sets``, at least two where they fit.
    """

    def __init__(
        self, source: Mapping[str, Any], pool: torch.Tensor, *, seed: int, most_sets: int, rotation_bytes: int
    ) -> None:
        """Take note of the source; ``draw`` makes the first sets."""
        self._source = dict(source)
        self._pool = pool
        self._random = random.Random(seed)
        self._base = -pool.data_ptr() % JITTER_BYTES
        self._extents = _extents(self._source, pool.device)
        self._bytes = {key: extent.bytes_view() for key, extent in self._extents.items()}
        self.set_bytes = sum(extent.size for extent in self._extents.values())
        steps_of_set = sum(_steps(extent.size) for extent in self._extents.values())
        self._pool_steps = (pool.numel() - self._base) // STEP_BYTES
        # A quarter of the pool stays free, so that there is room for another arrangement at every draw.
        fitting = self._pool_steps * 3 // 4 // steps_of_set if steps_of_set else 0
        wanted = max(2, math.ceil(rotation_bytes / max(self.set_bytes, 1)))
        self.count = max(1, min(fitting, wanted, most_sets))
        self.in_place = fitting == 0
        self._arranged: _Arrangement | None = None

    def arrange(self) -> None:
        """Draw the places of the sets that ``draw`` will return next; the device has nothing to do for it."""
        if self._arranged is None and not self.in_place:
            self._arranged = self._arrangement()

    def draw(self) -> list[dict[str, Any]]:
        """Copy the source to new random places and return the sets; earlier sets are overwritten."""
        if self.in_place:
            return [self._source]
        targets, copied, sets = self._arranged or self._arrangement()
        self._arranged = None
        # All at once: a launch for each of a hundred copies would leave the device idle for milliseconds.
        torch._foreach_copy_(targets, copied)
        return sets

    def _arrangement(self) -> _Arrangement:
        items = [(index, key) for index in range(self.count) for key in self._extents]
        self._random.shuffle(items)
        free = self._pool_steps - sum(_steps(self._extents[key].size) for _, key in items)
        gaps = sorted(self._random.randint(0, free) for _ in items)
        places: dict[tuple[int, int], int] = {}
        used = 0
        for item, gap in zip(items, gaps, strict=True):
            jitter = self._random.randrange(0, JITTER_BYTES + 1, ALIGNMENT_BYTES)
            places[item] = self._base + (gap + used) * STEP_BYTES + jitter
            used += _steps(self._extents[item[1]].size)
        return _Arrangement(
            [self._pool[place : place + self._extents[key].size] for (_, key), place in places.items()],
            [self._bytes[key] for _, key in places],
            [
                {name: self._placed(value, index, places) for name, value in self._source.items()}
                for index in range(self.count)
            ],
        )

    def _placed(self, value: Any, index: int, places: Mapping[tuple[int, int], int]) -> Any:
        if not _movable(value, self._pool.device):
            return value
        key = value.untyped_storage().data_ptr()
        start = places[index, key] + value.storage_offset() * value.element_size() - self._extents[key].start
        copy = torch.empty(0, dtype=value.dtype, device=value.device)
        return copy.set_(
            self._pool.untyped_storage(), start // value.element_size(), tuple(value.shape), value.stride()
        )


def _movable(value: Any, device: torch.device) -> bool:
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.device == device
        and value.numel() > 0
        and ALIGNMENT_BYTES % value.element_size() == 0
        and not value.is_conj()
        and not value.is_neg()
    )


def _extents(source: Mapping[str, Any], device: torch.device) -> dict[int, _Extent]:
    """Return the used bytes of each storage by its address, aligned down so that offsets keep their alignment."""
    spans: dict[int, tuple[torch.UntypedStorage, int, int]] = {}
    for value in source.values():
        if not _movable(value, device):
            continue
        storage = value.untyped_storage()
        start = value.storage_offset() * value.element_size()
        last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
        end = start + (last + 1) * value.element_size()
        start -= start % ALIGNMENT_BYTES
        _, low, high = spans.get(storage.data_ptr(), (storage, start, end))
        spans[storage.data_ptr()] = (storage, min(low, start), max(high, end))
    return {key: _Extent(storage, low, high - low) for key, (storage, low, high) in spans.items()}


def _steps(size_bytes: int) -> int:
    return -(-(size_bytes + JITTER_BYTES) // STEP_BYTES)
