"""The comparison's blocks, sweep and cells on a stage and a placement that simulate a GPU."""

import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from fakes.stage import FakeStage
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.comparison import sweep
from benchmarks.peers.comparison.peer import Candidate, Case
from benchmarks.peers.comparison.result import Contender
from benchmarks.peers.comparison.sweep import IN_PLACE, Turn, block, choose
from benchmarks.peers.comparison.watchdog import Watchdog

WATCHDOG = Watchdog(lambda text: None)
CASE = Case(4, "llama-3-8b", "float32")


def buffers(tokens: int = 4, n: int = 6, k: int = 8) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(tokens)
    tensors = {
        "attn_output": torch.randn(tokens, k, generator=generator),
        "residual": torch.randn(tokens, n, generator=generator),
        "o_proj_weight": torch.randn(n, k, generator=generator),
        "out": torch.empty(tokens, n),
    }
    return tensors | {IN_PLACE: tensors["residual"].clone()}


@dataclass
class FakePlacement:
    """Five copies of one buffer set; a draw overwrites those before it, as in a real pool."""

    drawn: list[dict[str, torch.Tensor]] = field(default_factory=list)

    def draw(self) -> list[dict[str, torch.Tensor]]:
        for tensors in self.drawn:
            for tensor in tensors.values():
                tensor.fill_(torch.nan)
        self.drawn = [buffers() for _ in range(5)]
        return self.drawn


@dataclass
class FakePeer:
    """Candidates that take a known time and compute the op, or something else."""

    stage: FakeStage
    made: list[tuple[str, float, Callable[..., Any]]]
    name: str = "peer"
    summary: str = ""
    limit_s: float = 60.0
    called: list[str] = field(default_factory=list)

    def obstacle(self, gpu: object) -> None:
        return None

    def candidates(self, case: Case) -> list[Candidate]:
        def candidate(name: str, takes_s: float, function: Callable[..., Any]) -> Candidate:
            def call(**tensors: Any) -> Any:
                self.called.append(name)
                self.stage.work(name, takes_s)
                return function(**tensors)

            return Candidate(name, call)

        return [candidate(*each) for each in self.made]


def right(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    return torch.addmm(residual, attn_output, o_proj_weight.t(), out=out)


def wrong(attn_output: Any, residual: Any, o_proj_weight: Any, out: Any, inout: Any) -> Any:
    return torch.mm(attn_output, o_proj_weight.t(), out=out)


def raising(**tensors: Any) -> Any:
    raise RuntimeError("no kernel for this shape")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> FakeStage:
    monkeypatch.setattr(sweep, "_unheld", lambda *arguments: None)  # captures a CUDA graph
    return FakeStage()


@given(sets=st.integers(5, 48), call_s=st.floats(1e-6, 5e-3), launches=st.integers(1, 12))
def test_no_set_is_called_twice_in_a_block_of_a_call_in_place(sets: int, call_s: float, launches: int) -> None:
    stage, calls = FakeStage(), [0] * sets

    def call(place: int, inout: Any, residual: Any) -> None:
        assert torch.equal(inout, residual)
        inout += 1
        calls[place] += 1
        stage.work("call", call_s)

    tensors = [{"place": place, "inout": torch.ones(2), "residual": torch.zeros(2)} for place in range(sets)]
    taken = block(stage, Turn("peer", Candidate("in place", call, in_place=True), call_s, launches), tensors)
    assert max(calls) == 1
    assert len(taken.samples_s) >= 3
    assert taken.samples_s == pytest.approx([call_s] * len(taken.samples_s))


def test_the_fastest_right_candidate_wins(stage: FakeStage) -> None:
    peer = FakePeer(stage, [("slow", 9e-5, right), ("fast", 2e-5, right), ("wrong", 1e-5, wrong), ("bad", 0, raising)])
    turn = choose(stage, peer, CASE, FakePlacement(), WATCHDOG)
    assert isinstance(turn, Turn)
    assert turn.candidate.name == "fast"
    assert turn.call_s == pytest.approx(2e-5)
    failures = {one.name: one.failure for one in turn.swept if one.failure}
    assert failures.keys() == {"wrong", "bad"}
    assert "no kernel for this shape" in (failures["bad"] or "")
    assert "wrong at" in (failures["wrong"] or "")


def test_a_right_candidate_beyond_the_finalists_still_wins(stage: FakeStage) -> None:
    wrongs = [(f"wrong {place}", 1e-5 + place * 1e-6, wrong) for place in range(sweep.FINALISTS)]
    turn = choose(stage, FakePeer(stage, [*wrongs, ("right", 5e-5, right)]), CASE, FakePlacement(), WATCHDOG)
    assert isinstance(turn, Turn)
    assert turn.candidate.name == "right"


def test_a_peer_without_a_working_candidate_says_why(stage: FakeStage) -> None:
    found = choose(stage, FakePeer(stage, [("bad", 0, raising)]), CASE, FakePlacement(), WATCHDOG)
    assert isinstance(found, Contender)
    assert found.time_s is None
    assert "no kernel for this shape" in (found.failure or "")


def test_a_peer_that_has_nothing_for_a_cell_does_not_take_part(stage: FakeStage) -> None:
    assert choose(stage, FakePeer(stage, []), CASE, FakePlacement(), WATCHDOG) is None


def test_a_broken_context_ends_the_run(stage: FakeStage) -> None:
    def broken() -> None:
        raise RuntimeError("an illegal memory access was encountered")

    stage.synchronize = broken  # type: ignore[method-assign]
    with pytest.raises(sweep.MachineError, match=r"broken the CUDA context.*--peers"):
        choose(stage, FakePeer(stage, [("one", 1e-5, right)]), CASE, FakePlacement(), WATCHDOG)


def test_what_takes_longer_than_its_limit_is_told_and_what_does_not_is_left_alone() -> None:
    told: queue.Queue[str] = queue.Queue()
    watchdog = Watchdog(told.put)
    with watchdog.watching("a short one", 60.0):
        pass
    with watchdog.watching("a kernel", 0.01):
        assert told.get(timeout=10) == "a kernel has not ended after 0 s"
    assert told.empty()
