"""Recordings from end to end: real processes, the CPU as device; what is begun is continued or refused."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from solwatch.app.condensing import replayed
from solwatch.app.pairs import draw
from solwatch.app.processes import ForkServer, WorkerProcess
from solwatch.app.recording import Recorded, Recording, record
from solwatch.app.session import Request
from solwatch.model.cell import CellSelection
from solwatch.model.errors import MachineError, NothingMeasuredError, RequestError
from solwatch.workspace.corpus import CorpusWriter, read_corpus
from solwatch.workspace.settings import load_config

pytestmark = pytest.mark.slow


def recorded(
    toy: Any,
    path: Path,
    *,
    rounds: int,
    base: str = "HEAD",
    seed: int | None = None,
    patterns: tuple[str, ...] = (),
    label: str = "a/a",
    budget_s: float | None = None,
    on_cell: Callable[[str], None] = lambda key: None,
) -> Recorded:
    request = Request(
        command="solwatch record",
        head="HEAD",
        base=base,
        device="cpu",
        selection=CellSelection("all", patterns),
        config=load_config(toy.root, {}),
        seed=seed,
    )
    asked = Recording(request=request, rounds=rounds, path=path, label=label, occasion="a test", budget_s=budget_s)
    return record(asked, toy.services(toy.progress(on_cell)))


def test_a_recording_that_is_interrupted_is_continued_where_it_ended(toy: Any, tmp_path: Path) -> None:
    path, seen = tmp_path / "out" / "a.jsonl", list[str]()

    def interrupt_in_the_third_round(key: str) -> None:
        seen.append(key)
        if len(seen) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recorded(toy, path, rounds=4, on_cell=interrupt_in_the_third_round)
    assert f"{path} keeps 2 rounds: the same command measures the others" in toy.said
    begun = read_corpus(path)
    with path.open("ab") as file:
        file.write(b'{"index":2,"hea')  # as a kill in the middle of a line would leave it
    done = recorded(toy, path, rounds=4)
    found = read_corpus(path)
    assert (done.rounds, done.wanted, done.cells, done.size_bytes) == (4, 4, 2, path.stat().st_size)
    assert found.rounds[:2] == begun.rounds
    assert (found.header, found.header.label, found.header.occasion) == (begun.header, "a/a", "a test")
    assert [each.index for each in found.rounds] == [0, 1, 2, 3]
    assert [each.head_slot for each in found.rounds] == [
        draw(found.header.seed, index).randrange(2) for index in range(4)
    ]
    before = path.read_bytes()
    assert recorded(toy, path, rounds=3).rounds == 4
    assert path.read_bytes() == before
    for each in replayed(path).rounds:
        assert {cell.key for cell in each.cells} == {"toy_suite.Toy(8)", "toy_suite.Toy(16)"}
        for cell in each.cells:
            assert cell.base is not None
            for side in (cell.head, cell.base):
                assert all(0.8e-3 < sample < 0.1 for block in side.blocks for sample in block.samples_s)
                assert len(side.blocks) >= found.header.turns


def test_a_round_that_is_on_disk_counts_however_late_the_signal_comes(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, append = tmp_path / "a.jsonl", CorpusWriter.append

    def interrupted_after_it(writer: CorpusWriter, completed: Any) -> None:
        append(writer, completed)
        raise KeyboardInterrupt

    monkeypatch.setattr(CorpusWriter, "append", interrupted_after_it)
    with pytest.raises(KeyboardInterrupt):
        recorded(toy, path, rounds=2)
    assert len(read_corpus(path).rounds) == 1
    assert f"{path} keeps 1 round: the same command measures the others" in toy.said


def test_what_was_measured_otherwise_is_not_continued(toy: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorded(toy, path, rounds=1, seed=3)
    before = path.read_bytes()
    for options, said in (
        ({"seed": 4}, "seed: 3 != 4"),
        ({"label": "planted 1 %"}, "label: 'a/a' != 'planted 1 %'"),
        ({"patterns": (r"\(8\)",)}, r"cells: without toy_suite.Toy\(16\)"),
    ):
        with pytest.raises(RequestError, match=f"can't be continued, .*{said}") as raised:
            recorded(toy, path, rounds=2, **options)
        assert "\n" not in str(raised.value)
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    with pytest.raises(RequestError, match=r"head's build: .* != "):
        recorded(toy, path, rounds=2, base="HEAD~1")
    assert path.read_bytes() == before


def test_a_budget_ends_a_recording_and_says_how_much_there_is(toy: Any, tmp_path: Path) -> None:
    done = recorded(toy, tmp_path / "a.jsonl", rounds=50, budget_s=1.0)
    assert 1 <= done.rounds < 50


def test_a_head_that_fails_is_recorded_and_nothing_at_all_is_an_error(toy: Any, tmp_path: Path) -> None:
    toy.commit("wrong at one size", op="def double(x, out):\n    out.copy_(x * 2 if len(x) == 8 else x)\n")
    path = tmp_path / "a.jsonl"
    recorded(toy, path, rounds=1, base="HEAD~1")
    (kept,) = read_corpus(path).rounds
    (failure,) = kept.failures
    assert (failure.side, failure.kind, failure.message) == (0, "wrong", "AssertionError: out is not 2 x at size 16")
    toy.commit("wrong at all", op="def double(x, out):\n    out.copy_(x)\n")
    with pytest.raises(
        NothingMeasuredError, match="no cell was measured on either side: head wrong: AssertionError: out"
    ):
        recorded(toy, tmp_path / "b.jsonl", rounds=1)


def test_a_head_that_fails_everywhere_leaves_no_processes_from_round_to_round(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.commit("wrong at all", op="def double(x, out):\n    out.copy_(x)\n")
    forked: list[WorkerProcess] = []
    alive: list[int] = []
    fork = ForkServer.fork

    def remembered(server: ForkServer, *arguments: Any, **options: Any) -> WorkerProcess:
        forked.append(fork(server, *arguments, **options))
        return forked[-1]

    monkeypatch.setattr(ForkServer, "fork", remembered)
    recorded(
        toy,
        tmp_path / "a.jsonl",
        rounds=4,
        base="HEAD~1",
        on_cell=lambda key: alive.append(sum(worker.alive for worker in forked)),
    )
    assert max(alive) <= 2


def test_a_head_without_any_cell_is_refused_before_a_round(toy: Any, tmp_path: Path) -> None:
    toy.commit("no cells", suite="")
    with pytest.raises(NothingMeasuredError, match="head has none of the cells"):
        recorded(toy, tmp_path / "a.jsonl", rounds=2, base="HEAD~1")
    assert not (tmp_path / "a.jsonl").exists()


def test_a_disk_that_fills_keeps_completed_rounds(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    append = CorpusWriter.append

    def full_in_the_second_round(writer: CorpusWriter, completed: Any) -> None:
        def full(*arguments: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patched:
            if completed.index == 1:
                patched.setattr(os, "fsync", full)
            append(writer, completed)

    monkeypatch.setattr(CorpusWriter, "append", full_in_the_second_round)
    with pytest.raises(MachineError, match="no space left"):
        recorded(toy, path, rounds=3)
    assert len(read_corpus(path).rounds) == 1
    assert f"{path} keeps 1 round: the same command measures the others" in toy.said
