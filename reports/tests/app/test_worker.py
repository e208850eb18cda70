"""A worker's answers to a suite that misbehaves, in this process over a socket."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from solwatch.app.channel import Channel
from solwatch.app.worker import serve
from solwatch.model.protocol import (
    Failed,
    Look,
    Looked,
    Open,
    Opened,
    Prepare,
    Prepared,
    Reply,
    Request,
    Watching,
    WatchReads,
)

SUITE = """
class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no")

class Surrogate:
    def time_surrogate(self):
        pass
    def setup(self):
        raise ValueError("caf\\udce9 is no file")

class Mute:
    def time_unreadable(self):
        pass
    def setup(self):
        raise Unreadable

class Outcome:
    def time_outcome(self):
        pass
    def setup(self):
        raise BaseException("stop")
"""


@contextmanager
def opened(benchmarks: Path, suite: str, *, watched: Path | None = None) -> Iterator[tuple[Channel[Reply], Opened]]:
    benchmarks.mkdir()
    (benchmarks / "__init__.py").write_text("")
    (benchmarks / "cells.py").write_text(suite)
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=serve, args=(theirs,))
    thread.start()
    channel: Channel[Reply] = Channel(ours, Reply)
    try:
        if watched:
            assert ask(channel, WatchReads(folder=str(watched))) == Watching()
        reply = ask(channel, Open(benchmarks_dir=str(benchmarks), device="cpu", seed=1))
        assert isinstance(reply, Opened)
        yield channel, reply
    finally:
        channel.close()
        thread.join(10)


def ask(channel: Channel[Reply], request: Request) -> Reply:
    channel.send(request)
    return channel.receive(30)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("surrogate", r"ValueError: caf\udce9 is no file"),
        ("unreadable", "Unreadable: (its message could not be read: RuntimeError)"),
        ("outcome", "BaseException: stop"),
    ],
)
def test_whatever_a_cell_raises_is_raised_not_died(tmp_path: Path, cell: str, message: str) -> None:
    with opened(tmp_path / f"suite_{cell}", SUITE) as (channel, found):
        (key,) = [info.key for info in found.cells if info.key.endswith(f"time_{cell}")]
        reply = ask(channel, Prepare(key=key, seed=1, check=True))
    assert isinstance(reply, Failed)
    assert (reply.failure.kind, reply.failure.message) == ("raised", message)


def test_a_module_whose_exception_can_not_be_sent_is_listed_all_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "suite_import", 'raise BaseException("\\udce9")') as (_, found):
        assert found.import_failures == {"cells": r"BaseException: \udce9 (cells.py:1)"}


EXPLAINING = """
import solwatch.suite

class Told(solwatch.suite.Suite):
    params = [["tells", "can not", "says nothing"]]
    param_names = ["how"]

    def setup_cache(self):
        return self.measure()

    def cell(self, how):
        def make_inputs(device, seed):
            import torch
            return {"out": torch.empty(8)}

        def explain(device):
            if how == "can not":
                raise AttributeError("this build has no explain")
            return {"kernel": f"{device}\x1b[31m_rows", "tile": [8, 32, 64], "split_k": 1, "nothing": None}

        work = solwatch.suite.Work(flops=8, traffic_bytes=64, dtype="float32")
        return solwatch.suite.Cell(
            make_inputs=make_inputs, call=lambda out: out.fill_(1), check=lambda out: None, work=work,
            explain=None if how == "says nothing" else explain,
        )
"""


def test_what_a_cell_explains_is_kept_as_text_by_the_process_that_looks(tmp_path: Path) -> None:
    with opened(tmp_path / "suite_told", EXPLAINING) as (channel, found):
        plans = {}
        for info in found.cells:
            prepared = ask(channel, Prepare(key=info.key, seed=1, check=True))
            assert isinstance(prepared, Prepared)
            assert prepared.called is not None
            plans[info.params[0]] = prepared.called.plan
        again = ask(channel, Prepare(key=found.cells[0].key, seed=1, check=False, findings=prepared.findings))
    assert plans == {
        "'tells'": {"kernel": "cpu[31m_rows", "tile": "8×32×64", "split_k": "1"},
        "'can not'": {},
        "'says nothing'": {},
    }
    assert isinstance(again, Prepared)
    assert again.called is None


READING = """
import json, os
from pathlib import Path

HOME = Path(__file__).parents[1]
SHAPES = json.loads((HOME / "shapes.json").read_text())

class Reads:
    def setup(self):
        (HOME / "weights.txt").read_text()
    def time_reads(self):
        path = Path(os.environ["TRITON_CACHE_DIR"])
        path.mkdir(exist_ok=True)
        (path / "kernel").write_text("compiled")
    def time_plain(self):
        pass
"""


def test_a_look_tells_what_a_cell_reads_and_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "shapes.json").write_text("[8]")
    (home / "weights.txt").write_text("1")
    with opened(home / "suite_reads", READING, watched=home) as (channel, found):
        plain, reads = sorted(info.key for info in found.cells)
        first = ask(channel, Look(key=plain, seed=1, check=True))
        second = ask(channel, Look(key=reads, seed=1, check=True))
    assert isinstance(first, Looked)
    assert first.caches is None
    assert {"shapes.json", "suite_reads/cells.py"} <= set(first.read)
    assert "weights.txt" in first.read, "setup is part of a look"
    assert isinstance(second, Looked)
    assert second.caches is not None


def test_a_look_at_a_cell_that_fails_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "suite_look", SUITE) as (channel, found):
        reply = ask(channel, Look(key=found.cells[0].key, seed=1, check=True))
    assert isinstance(reply, Failed)
