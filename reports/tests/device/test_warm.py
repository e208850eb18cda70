"""Warm-up and caches: warm is when nothing compiles or tunes, frozen is when nothing changes afterwards."""

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from solwatch.device.caches import CacheWatch, private_caches
from solwatch.device.warmup import MOST_BATCHES, warm_up


def watch(folder: Path) -> CacheWatch:
    return CacheWatch(private_caches(folder))


class Ticks:
    """A clock that moves by ``step`` whenever it is read."""

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def replayed(times: list[float]) -> Iterator[float]:
    yield from times
    while True:
        yield times[-1]


def test_warm_up_ends_when_times_agree(tmp_path: Path) -> None:
    times = replayed([5.0, 2.0, 1.0, 1.05])
    warm = warm_up(lambda: next(times), watch(tmp_path), Ticks(0.1), limit_s=60)
    assert (warm.call_s, warm.batches, warm.settled) == (1.0, 4, True)


def test_warm_up_goes_on_while_a_cache_grows(tmp_path: Path) -> None:
    written = iter(range(5))

    def batch() -> float:
        number = next(written, None)
        if number is not None:
            path = tmp_path / "triton" / f"{number}.cubin"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x")
        return 1.0

    warm = warm_up(batch, watch(tmp_path), Ticks(0.1), limit_s=60)
    assert (warm.batches, warm.settled) == (7, True)


def test_warm_up_goes_on_while_modules_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["imported_by_batch_1", "imported_by_batch_2"])

    def batch() -> float:
        name = next(names, None)
        if name is not None:
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        return 1.0

    assert warm_up(batch, watch(tmp_path), Ticks(0.1), limit_s=60).batches == 4


def test_a_noisy_machine_is_left_to_the_statistics(tmp_path: Path) -> None:
    times = iter([1.0, 2.0] * 100)
    warm = warm_up(lambda: next(times), watch(tmp_path), Ticks(0.1), limit_s=60)
    assert (warm.batches, warm.settled) == (MOST_BATCHES, True)


def test_endless_compiling_ends_at_the_limit_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "inductor").mkdir()
    numbers = iter(range(1000))

    def batch() -> float:
        (tmp_path / "inductor" / str(next(numbers))).write_bytes(b"x")
        return 1.0

    warm = warm_up(batch, watch(tmp_path), Ticks(1.0), limit_s=10)
    assert not warm.settled
    assert warm.batches <= 10


def test_private_caches_lie_in_their_folder_and_apart(tmp_path: Path) -> None:
    variables = private_caches(tmp_path)
    assert set(variables) == {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH"}
    assert len({Path(value) for value in variables.values()}) == 3
    assert all(Path(value).parent == tmp_path for value in variables.values())


def test_the_digest_follows_contents_not_the_folder(tmp_path: Path) -> None:
    digests = []
    for side, content in (("a", b"same"), ("b", b"same"), ("c", b"else")):
        path = tmp_path / side / "triton" / "kernel.cubin"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        digests.append(watch(tmp_path / side).digest())
    assert digests[0] == digests[1] != digests[2]


def test_an_empty_or_shared_cache_has_no_digest(tmp_path: Path) -> None:
    assert watch(tmp_path).digest() is None
    (tmp_path / "kernel").write_bytes(b"x")
    assert CacheWatch({"HOME": str(tmp_path)}).digest() is None


def test_locks_of_a_running_compiler_are_no_contents(tmp_path: Path) -> None:
    (tmp_path / "triton").mkdir()
    before = watch(tmp_path).listing()
    (tmp_path / "triton" / "kernel.lock").write_bytes(b"1234")
    assert watch(tmp_path).listing() == before
    (tmp_path / "triton" / "kernel.cubin").write_bytes(b"x")
    assert watch(tmp_path).listing() != before
