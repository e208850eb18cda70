"""How benches that measure at once share the processor, and how one is ended while threads wait for it."""

import os
import threading
import time
from pathlib import Path

import pytest

from solwatch.app.processes import CellFailed, ForkServer
from solwatch.app.sides import Bench
from solwatch.model.errors import MachineError
from solwatch.model.protocol import Open, Opened


def cores(monkeypatch: pytest.MonkeyPatch, count: int, lanes: int) -> list[list[int]]:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(count)))
    benches = [
        Bench(
            server=None,  # type: ignore[arg-type]  # nothing is forked
            benchmarks_dir=Path(),
            device="cuda:0",
            seed=1,
            caches_dir=Path(),
            hang_s=1,
            lane=(number, lanes),
        )
        for number in range(lanes)
    ]
    return [bench._cores(slot) for bench in benches for slot in (0, 1)]


def test_no_core_is_shared_where_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores(monkeypatch, 6, 1) == [[0, 2, 4], [1, 3, 5]]
    assert cores(monkeypatch, 9, 2) == [[0, 2], [1, 3], [4, 6, 8], [5, 7]]
    for lanes in (2, 3, 4):
        used = [core for share in cores(monkeypatch, 8, lanes) for core in share]
        assert sorted(used) == list(range(8))


def test_with_too_few_cores_gpus_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores(monkeypatch, 3, 2) == [[0, 2], [1], [0, 2], [1]]
    assert cores(monkeypatch, 1, 2) == [[], [], [], []]


@pytest.mark.slow
def test_a_thread_that_waits_for_a_silent_worker_goes_on_when_its_server_is_stopped(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "__init__.py").write_text("import time\ntime.sleep(600)\n")
    said: list[str] = []
    with ForkServer(dict(os.environ), tmp_path / "logs") as server:
        worker = server.fork([], {})

        def wait_for_it() -> None:
            try:
                worker.ask(Open(benchmarks_dir=str(suite), device="cpu", seed=1), Opened, 600)
            except CellFailed as error:
                said.append(error.failure.kind)

        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        time.sleep(0.3)
        server.stop()
        waiting.join(10)
        assert said == ["died"]
        with pytest.raises(MachineError, match="the fork server is gone"):
            server.fork([], {})
