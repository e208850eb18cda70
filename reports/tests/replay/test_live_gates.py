"""The list of live A/A gates: entries from reports, each once, nothing else taken."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes.records import FakeCell, commit, record

from replays.live_gates import LiveGate, append, gate_of, live_gates, live_line
from solwatch.judge.judging import judge
from solwatch.model.errors import RequestError
from solwatch.render.json import render_json

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "live_gate.py"
SAME = commit("4be1c0ffee", "HEAD", "Keep the residual tile in registers")
NULL_KERNEL_AND_CELLS = [FakeCell(key="a"), FakeCell(key="b"), FakeCell(key="peer", gated=False)]


def report(path: Path, cells: list[FakeCell], **options: Any) -> Path:
    taken = record(cells, **{"head": SAME, "base": SAME, **options})
    path.write_bytes(render_json(taken, judge(taken)))
    return path


def test_a_quiet_gate_is_an_entry_without_suspects(tmp_path: Path) -> None:
    gate = gate_of(report(tmp_path / "r.json", NULL_KERNEL_AND_CELLS))
    assert gate == LiveGate(
        date="2026-03-04T05:00:00Z",
        machine="gpu-runner-3",
        card="NVIDIA H200",
        cells=2,
        rounds=16,
        suspects=0,
        slower=0,
    )


def test_suspects_are_counted_whether_confirmed_or_not(tmp_path: Path) -> None:
    cells = [FakeCell(key="a", ratio=1.05), FakeCell(key="b")]
    confirmed = gate_of(report(tmp_path / "r.json", cells))
    assert (confirmed.suspects, confirmed.slower) == (1, 1)
    peer = gate_of(report(tmp_path / "r.json", [FakeCell(key="a"), FakeCell(key="peer", ratio=1.05, gated=False)]))
    assert (peer.suspects, peer.slower) == (0, 0)
    launches = gate_of(report(tmp_path / "r.json", [FakeCell(key="a", head_null_s=4.2e-6)], rounds=8, stopped="budget"))
    assert (launches.cells, launches.suspects, launches.slower) == (1, 1, 0)
    open_still = gate_of(report(tmp_path / "r.json", cells, rounds=8, stopped="budget"))
    assert (open_still.suspects, open_still.slower) == (1, 0)


@pytest.mark.parametrize("options", [{"base": None}, {"alone": True}])
def test_a_gate_of_two_builds_or_of_head_alone_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    path = report(tmp_path / "r.json", NULL_KERNEL_AND_CELLS, **options)
    with pytest.raises(RequestError, match="its sides are not one build"):
        gate_of(path)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"header": 1}', b"\xff", b"[" * 100_000])
def test_what_is_no_report_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(text)
    with pytest.raises(RequestError, match=r"r\.json: not a report of this solwatch"):
        gate_of(path)


def test_a_report_that_does_not_say_what_was_suspected_is_refused(tmp_path: Path) -> None:
    path = report(tmp_path / "r.json", NULL_KERNEL_AND_CELLS)
    path.write_text(path.read_text().replace('"suspected_at"', '"suspected_before"'))
    with pytest.raises(RequestError, match="make it anew with report FILE"):
        gate_of(path)


def test_gates_are_added_once_and_kept_in_order(tmp_path: Path) -> None:
    listed = tmp_path / "live.json"
    late = gate_of(report(tmp_path / "r.json", NULL_KERNEL_AND_CELLS))
    early = LiveGate(date="2026-01-01", machine="m", card="NVIDIA L4", cells=3, rounds=7, suspects=3, slower=1)
    assert live_gates(listed) == []
    assert (append(listed, [late, late]), append(listed, [late, early]), append(listed, [early])) == (1, 1, 0)
    assert live_gates(listed) == [early, late]
    assert len(listed.read_text().splitlines()) == 4
    assert live_line(live_gates(listed)) == (
        "2 on NVIDIA H200, NVIDIA L4; 1 with a false alarm; suspects a gate 1.500 (95 % bound 3.877)"
    )
    assert live_line([]) == "none recorded"


@pytest.mark.parametrize("text", ["", "{}", '[{"date": "2026"}]', "[1]"])
def test_a_list_that_is_none_is_refused_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    listed = tmp_path / "live.json"
    listed.write_text(text)
    with pytest.raises(RequestError, match="not a list of live gates"):
        append(listed, [])
    assert listed.read_text() == text


def test_the_command_adds_and_says_how_many_there_are(tmp_path: Path) -> None:
    path, listed = report(tmp_path / "r.json", NULL_KERNEL_AND_CELLS), tmp_path / "live.json"
    for added in (1, 0):
        command = [sys.executable, str(SCRIPT), str(path), "--list", str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{added} of 1 added; live A/A gates: 1 on NVIDIA H200; 0 with a false alarm")
    assert len(json.loads(listed.read_text())) == 1
    bad = subprocess.run([sys.executable, str(SCRIPT), str(listed)], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stderr.count("\n")) == (2, 1)
