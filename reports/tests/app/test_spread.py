"""Gates on two GPUs of one host, played by the CPU twice: real processes, threads, locks and records."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.records import H200

from solwatch.app.fingerprints import require_alike
from solwatch.app.outcome import Outcome
from solwatch.app.processes import ForkServer
from solwatch.device.places import Place
from solwatch.model.errors import ExitCode, MachineError
from solwatch.model.record import GpuIdentity
from solwatch.model.verdict import Reason, Verdict
from solwatch.render.terminal import render_terminal
from solwatch.workspace.records import read_record

TWO = [GpuIdentity(index=0, uuid="GPU-a"), GpuIdentity(index=3, uuid="GPU-d")]
FOUR_CELLS = "[[8, 16, 32, 64]]"

slow = pytest.mark.slow


@pytest.fixture
def two(toy: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    places = [Place(device="cpu", gpu=gpu) for gpu in TWO]
    monkeypatch.setattr("solwatch.app.session.places_of", lambda device, gpus: places)
    toy.commit("four cells", suite=toy.suite.replace("[[8, 16]]", FOUR_CELLS))
    return toy


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[ForkServer]:
    """Every fork server that is started."""
    started: list[ForkServer] = []
    start = ForkServer.__init__

    def noted(server: ForkServer, *arguments: Any, **options: Any) -> None:
        started.append(server)
        start(server, *arguments, **options)

    monkeypatch.setattr(ForkServer, "__init__", noted)
    return started


def verdicts(outcome: Outcome) -> dict[str, Verdict]:
    return {cell.key: cell.verdict for cell in outcome.judgement.verdicts}


def alive(servers: list[ForkServer]) -> list[int]:
    pids = {pid for server in servers for pid in server.pids} | {server._process.pid for server in servers}
    return [pid for pid in pids if _state(pid) not in ("gone", "Z")]  # a container's first process may not reap


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


@slow
def test_rounds_take_turns_on_the_gpus_and_the_verdicts_are_those_of_one(two: Any, servers: list[ForkServer]) -> None:
    two.commit("slower", op=two.op.format(seconds=0.003))
    outcome = two.compare("HEAD~1")
    assert set(verdicts(outcome).values()) == {Verdict.SLOWER}
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    rounds = outcome.record.rounds
    assert sorted(round_.index for round_ in rounds) == sorted({round_.index for round_ in rounds})
    assert [round_.gpu for round_ in rounds] == [(0, 3)[round_.index % 2] for round_ in rounds]
    starts = [round_.started_at for round_ in rounds]
    assert starts[1] < starts[2], "the first two rounds run at once"
    orders = [[cell.key for cell in round_.cells] for round_ in rounds[:6]]
    assert len({tuple(order) for order in orders}) > 1
    # Five rounds until all are suspects, and seven fresh ones at least.
    assert len(rounds) >= 12
    assert {len(round_.cells) for round_ in rounds[:12]} == {4}
    assert len(servers) == 2
    assert alive(servers) == []
    assert sorted(path.name for path in (two.root / "build/solwatch/caches").iterdir()) == ["gpu-0", "gpu-1"]
    kept = read_record(outcome.kept.record)
    assert kept.header.gpus == TWO
    text = render_terminal(kept, outcome.judgement)
    assert "on 2 × " in text
    page = outcome.kept.report.read_text()
    assert all(gpu.uuid in page for gpu in TWO if gpu.uuid)


@slow
def test_a_hang_and_a_killed_worker_on_one_gpu_are_that_cells_business(two: Any, servers: list[ForkServer]) -> None:
    hang = (
        "import os, time\ndef double(x, out):\n    time.sleep(600 if len(x) == 8 else 0.001)\n    out.copy_(x * 2)\n"
        "    os.kill(os.getpid(), 9) if len(x) == 16 else None\n"
    )
    two.commit("hangs", op=hang, config=two.impatient)
    outcome = two.compare("HEAD~1", rounds=2)
    reasons = {cell.key: cell.reason for cell in outcome.judgement.verdicts}
    assert reasons.pop("toy_suite.Toy(8)") is Reason.HUNG
    assert reasons.pop("toy_suite.Toy(16)") is Reason.DIED
    assert {verdicts(outcome)[key] for key in reasons} == {Verdict.UNDECIDED}
    assert alive(servers) == []


@slow
@pytest.mark.parametrize("signalled", [True, False])
def test_an_interruption_ends_both_gpus_at_once_and_keeps_completed_rounds(
    two: Any, servers: list[ForkServer], signalled: bool
) -> None:
    hangs_late = (
        "import time\ncalls = [0]\ndef double(x, out):\n    import pathlib\n"
        "    late = pathlib.Path(__file__).with_name('late').exists()\n"
        "    time.sleep(600 if late else 0.001)\n    out.copy_(x * 2)\n"
    )
    two.commit("hangs when told to", op=hangs_late)
    seen: list[str] = []
    interrupted: list[float] = []

    def interrupt_in_the_third_round(key: str) -> None:
        seen.append(key)
        if len(seen) == 9:  # one GPU has begun its second round: all calls hang from now on, the other's too
            for built in two.root.glob("build/**/toy/__init__.py"):
                built.with_name("late").touch()
            time.sleep(0.5)
            interrupted.append(time.monotonic())
            if not signalled:
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        two.compare("HEAD", progress=two.progress(interrupt_in_the_third_round))
    assert time.monotonic() - interrupted[0] < 15
    (path,) = (two.root / "build/solwatch/records").glob("*.jsonl")
    record = read_record(path)
    assert len(record.rounds) in (1, 2)  # the other GPU may have been in its first
    assert all(len(round_.cells) == 4 for round_ in record.rounds)
    assert record.end is not None
    assert record.end.stopped == "interrupted"
    assert alive(servers) == []


@slow
def test_an_error_of_the_machine_on_one_gpu_ends_the_round_on_the_other(two: Any, servers: list[ForkServer]) -> None:
    two.commit("same")
    seen: list[str] = []

    def kill_one_server(key: str) -> None:
        seen.append(key)
        if len(seen) == 9:
            os.kill(servers[1]._process.pid, signal.SIGKILL)

    with pytest.raises(MachineError, match="the fork server is gone"):
        two.compare("HEAD~1", progress=two.progress(kill_one_server))
    (path,) = (two.root / "build/solwatch/records").glob("*.jsonl")
    assert len(read_record(path).rounds) in (1, 2)
    assert alive(servers) == []


def test_gpus_must_be_alike_and_the_difference_is_named() -> None:
    other = msgspec.structs.replace(H200, uuid="GPU-other")
    require_alike({})
    require_alike({"cuda:0": H200, "cuda:1": other})
    smaller = msgspec.structs.replace(other, power_limit_w=600.0)
    with pytest.raises(
        MachineError, match=r"cuda:0 and cuda:2 are not alike \(power_limit_w: 700.0 != 600.0\)"
    ) as caught:
        require_alike({"cuda:0": H200, "cuda:1": other, "cuda:2": smaller})
    assert caught.value.exit_code == ExitCode.UNTRUSTED
