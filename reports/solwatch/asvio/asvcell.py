"""Running one asv benchmark in this process, in short blocks, with asv's own meaning of setup and number."""

import contextlib
import math
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from asv_runner.benchmarks.mark import SkipNotImplemented
from asv_runner.benchmarks.time import TimeBenchmark

MOST_SAMPLES = 1000
"""Limit on the samples of one block: a benchmark of nanoseconds with a setup would give millions."""


class CellSkipped(NotImplementedError):
    """The suite skips this combination (``skip_params`` or ``NotImplementedError`` in its setup)."""


class SetupCaches:
    """What ``setup_cache`` returned and the folder it ran in, once for each function that has the name."""

    def __init__(self) -> None:
        """Start with none made."""
        self._made: dict[str, tuple[str, bytes]] = {}
        self._folders = contextlib.ExitStack()

    def get(self, benchmark: Any) -> tuple[str, Any]:
        """Return the folder and a copy of the value, running the function the first time; raises what it raises.

        A copy, through pickle: asv gives each benchmark process a cache of its own, so no benchmark can spoil it
        for the next.
        """
        key = benchmark.setup_cache_key
        if key not in self._made:
            folder = self._folders.enter_context(tempfile.TemporaryDirectory(prefix="solwatch-cache-"))
            with _inside(folder):
                self._made[key] = folder, pickle.dumps(benchmark.do_setup_cache())
        folder, value = self._made[key]
        return folder, pickle.loads(value)

    def close(self) -> None:
        """Delete the folders."""
        self._made.clear()
        self._folders.close()


class AsvCell:
    """One asv benchmark with one combination of parameters: ``setup``, ``run`` as often as wanted, ``teardown``.

    ``unit``: of the samples. Like asv, it runs in a folder of its own, or in the one its ``setup_cache`` filled.
    What it prints goes to stderr.
    """

    def __init__(self, benchmark: Any, index: int, caches: SetupCaches) -> None:
        """Take ``benchmark`` (asv_runner's, used by nobody else) at its ``index``-th combination."""
        self._benchmark = benchmark
        benchmark.set_param_idx(index)
        if isinstance(benchmark, TimeBenchmark):
            # asv takes attributes from here first, as it does for `asv run --attribute`
            self._block = _BlockAttributes()
            benchmark._attr_sources.insert(0, self._block)
        self._caches = caches
        self._folder = ""
        self._own_folder: tempfile.TemporaryDirectory[str] | None = None
        self._ready = False
        self.unit: str = benchmark.unit

    def setup(self) -> None:
        """Run ``setup_cache`` (once for all its users) and ``setup``; raises ``CellSkipped`` and what they raise."""
        benchmark = self._benchmark
        cache = None
        if benchmark.setup_cache_key is not None:
            self._folder, cache = self._caches.get(benchmark)
        else:
            self._own_folder = tempfile.TemporaryDirectory(prefix="solwatch-cell-")
            self._folder = self._own_folder.name
        benchmark.set_cache(cache)
        try:
            with _inside(self._folder):
                skipped = benchmark.do_setup()
        except BaseException:
            self._drop_folder()
            raise
        if skipped:
            self._drop_folder()
            raise CellSkipped(f"{benchmark.name} skips this combination")
        self._ready = True

    def run(self, target_s: float) -> tuple[list[float], int]:
        """Take a block of about ``target_s`` seconds; return its samples and the calls in each.

        Times (``time``, ``timeraw``) are seconds per call; the number of calls is chosen in the first block, as
        asv chooses it, and kept. Other kinds give the values of one call. Raises ``CellSkipped``, ``TypeError``
        for a result that isn't a number, and what the benchmark raises.
        """
        if not self._ready:
            raise RuntimeError(f"{self._benchmark.name} was run before its setup")
        with _inside(self._folder):
            if isinstance(self._benchmark, TimeBenchmark):
                self._block.repeat = (1, MOST_SAMPLES, target_s)
                self._benchmark._load_vars()
            try:
                result = self._benchmark.do_run()
            except SkipNotImplemented as error:
                raise CellSkipped(str(error)) from error
        samples, number = self._values(result)
        if isinstance(self._benchmark, TimeBenchmark):
            self._block.number = number
            self._block.warmup_time = 0
        return samples, number

    def teardown(self) -> None:
        """Run ``teardown`` and delete the cell's folder; nothing when setup did not succeed."""
        if not self._ready:
            return
        self._ready = False
        try:
            with _inside(self._folder):
                self._benchmark.do_teardown()
        finally:
            self._drop_folder()

    def _values(self, result: Any) -> tuple[list[float], int]:
        if isinstance(result, dict) and "samples" in result and "number" in result:
            samples = [float(value) for value in result["samples"]]
            if not all(map(math.isfinite, samples)):
                raise ValueError(f"{self._benchmark.name} returned a sample that is not finite")
            return samples, int(result["number"])
        if isinstance(result, bool) or not isinstance(result, (int, float)):
            raise TypeError(f"{self._benchmark.name} returned {result!r}, wanted a number or samples")
        if math.isnan(result):
            raise CellSkipped(f"{self._benchmark.name} returned NaN, asv's way of skipping")
        if math.isinf(result):
            raise ValueError(f"{self._benchmark.name} returned {result}, wanted a finite number")
        return [float(result)], 1

    def _drop_folder(self) -> None:
        if self._own_folder is not None:
            self._own_folder.cleanup()
            self._own_folder = None


class _BlockAttributes:
    """What a block sets in place of the benchmark's own attributes; one that is ``None`` isn't set."""

    repeat: tuple[int, int, float] | None = None
    number: int | None = None
    warmup_time: float | None = None


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Run a block in ``folder``, with what it prints on stderr."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.chdir(before)
