"""A run: what is kept when, what it ends with, and what the command says; the ruler is one that measures nothing."""

import contextlib
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchmarks.peers.comparison.ruler as ruler_module
from benchmarks.peers.comparison import command, running
from benchmarks.peers.comparison.field import all_peers, chosen_cases
from benchmarks.peers.comparison.peer import Case, Gpu
from benchmarks.peers.comparison.result import CellResult, Comparison, Contender
from benchmarks.projection import projection_work
from solwatch.device.places import Place
from solwatch.model.errors import ExitCode, MachineError, NothingMeasuredError
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import Ceilings

CASES = chosen_cases("1,16,64", "llama-3-8b", "bfloat16")


class FakeRuler:
    """Cells of 10 µs, or what ``answers`` raises in their place."""

    answers: dict[int, BaseException] = {}
    time_s: float | None = 1e-5
    gpu = Gpu(0, (8, 0), 108)

    def __init__(self, index: int, *, seed: int, watchdog: object) -> None:
        assert index == 0

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(
            device="cuda", model="NVIDIA A100", driver="580", vbios=None, power_limit_w=400.0, ecc=True,
            clock_lock=None, cuda="13.0", torch="2.11", protocol=1,
        )  # fmt: skip

    def ceilings(self, dtype: str) -> Ceilings:
        return Ceilings()

    def compare(self, case: Case, peers: Any, ceilings: Ceilings, rounds: int) -> CellResult:
        if case.tokens in self.answers:
            raise self.answers[case.tokens]
        return CellResult(
            tokens=case.tokens, layer=case.layer, n=case.shape.n, k=case.shape.k,
            work=projection_work(case.tokens, case.shape, case.dtype), t_sol_s=None, null_s=3e-6, sm_clock_hz=None,
            contenders=[Contender(peer=peer.name, candidate="one", time_s=self.time_s) for peer in peers],
        )  # fmt: skip


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruler_module, "Ruler", FakeRuler)
    monkeypatch.setattr(FakeRuler, "answers", {})
    monkeypatch.setattr(FakeRuler, "time_s", 1e-5)
    monkeypatch.setattr(running, "places_of", lambda device: [Place(device="cuda:0")])
    monkeypatch.setattr(running, "device_lock", lambda places, say: contextlib.nullcontext())
    monkeypatch.setattr(running, "_provide_op", lambda say: None)


def run(out: Path, said: list[str]) -> Comparison:
    return running.compare(CASES, all_peers(), device="auto", rounds=3, seed=0, out=out, say=said.append)


def kept(out: Path) -> Comparison:
    return msgspec.json.decode(out.read_bytes(), type=Comparison)


def test_a_whole_run_is_kept_and_says_who_was_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    made = run(tmp_path / "run.json", said)
    assert kept(tmp_path / "run.json") == made
    assert [cell.tokens for cell in made.cells] == [1, 16, 64]
    assert made.stopped is None
    assert "sm_80" in made.left_out["CUTLASS"]
    assert "CUTLASS" not in made.peers
    assert any(line.startswith("CUTLASS is left out: ") for line in said)


@pytest.mark.parametrize(
    ("raised", "stopped"),
    [(KeyboardInterrupt(), "interrupted"), (MachineError("Triton has broken the CUDA context"), "Triton has broken")],
)
def test_a_run_that_ends_early_keeps_its_cells(tmp_path: Path, raised: BaseException, stopped: str) -> None:
    FakeRuler.answers = {64: raised}
    made = run(tmp_path / "run.json", [])
    assert kept(tmp_path / "run.json") == made
    assert len(made.cells) == 2
    assert (made.stopped or "").startswith(stopped)


def test_what_ends_the_first_cell_ends_the_run(tmp_path: Path) -> None:
    FakeRuler.answers = {1: MachineError("no memory")}
    with pytest.raises(MachineError, match="no memory"):
        run(tmp_path / "run.json", [])


def test_a_file_of_a_killed_run_says_that_it_is_not_whole(tmp_path: Path) -> None:
    FakeRuler.answers = {16: SystemExit()}
    with pytest.raises(SystemExit):
        run(tmp_path / "run.json", [])
    assert kept(tmp_path / "run.json").stopped == running.STILL


def test_a_run_without_a_time_is_no_success(tmp_path: Path) -> None:
    FakeRuler.time_s = None
    with pytest.raises(NothingMeasuredError, match="no contender was timed"):
        run(tmp_path / "run.json", [])


@pytest.mark.parametrize(
    ("arguments", "answers", "code", "shown"),
    [
        ([], {}, ExitCode.OK, "geometric means over the layers"),
        ([], {16: KeyboardInterrupt()}, ExitCode.INTERRUPTED, "stopped after 1 cells: interrupted"),
        ([], {16: MachineError("it broke")}, ExitCode.UNTRUSTED, "stopped after 1 cells: it broke"),
        ([], {1: MachineError("it broke")}, ExitCode.UNTRUSTED, ""),
        (["--list"], {}, ExitCode.OK, "torch.addmm(residual, attn, weight.t(), out=out)"),
        (["--peers", "nobody"], {}, ExitCode.USAGE, ""),
        (["--rounds", "1"], {}, ExitCode.USAGE, ""),
        (["build", "--dtype", "int8"], {}, ExitCode.USAGE, ""),
    ],
)
def test_the_command_ends_with_the_documented_code(
    arguments: list[str],
    answers: dict[int, BaseException],
    code: ExitCode,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    FakeRuler.answers = answers
    chosen = arguments or ["--tokens", "1,16", "--layers", "llama-3-8b", "--out", str(tmp_path / "run.json")]
    monkeypatch.setattr(sys, "argv", ["peers", *chosen])
    assert command.main() == code
    output = capsys.readouterr()
    assert shown in output.out
    if code in (ExitCode.USAGE, ExitCode.UNTRUSTED) and not shown:
        assert output.err.splitlines()[-1].startswith("peers: ")


def test_a_kept_run_is_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "run.json", [])
    monkeypatch.setattr(sys, "argv", ["peers", "show", str(tmp_path / "run.json")])
    assert command.main() == ExitCode.OK
    assert "NVIDIA A100, bfloat16, cold L2, 3 rounds" in capsys.readouterr().out
    (tmp_path / "half.json").write_text("{")
    monkeypatch.setattr(sys, "argv", ["peers", "show", str(tmp_path / "half.json")])
    assert command.main() == ExitCode.USAGE
