"""Gates whose head breaks the suite before anything is timed, and processes that are ended from outside."""

import os
import signal
import statistics
from typing import Any

import pytest

from solwatch.app.processes import ForkServer
from solwatch.model.errors import ExitCode, MachineError
from solwatch.model.verdict import Reason, Verdict

pytestmark = pytest.mark.slow

PLAIN = "import toy\n\ndef time_double():\n    sum(range(1000))\n\ndef time_other():\n    sum(range(2000))\n"


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(
    ("op", "reason", "said"),
    [
        ("import os\nos.kill(os.getpid(), 11)\n", Reason.DIED, "SIGSEGV"),
        ("raise RuntimeError('no symbol')\n", Reason.RAISED, "RuntimeError: no symbol"),
        ("raise SystemExit('no symbol')\n", Reason.RAISED, "SystemExit: no symbol"),
        ("import time\ntime.sleep(600)\n", Reason.HUNG, "no answer for 4 s"),
    ],
)
def test_a_head_that_breaks_at_import_what_base_opens_is_broken(
    toy: Any, op: str, reason: Reason, said: str, plain: bool
) -> None:
    good = toy.commit("imported at top level", suite=PLAIN if plain else "import toy\n" + toy.suite)
    bad = toy.commit("breaks at import", op=op, config=toy.impatient if reason is Reason.HUNG else toy.patient)
    outcome = toy.compare(good, bad)
    assert {(cell.verdict, cell.reason) for cell in outcome.judgement.verdicts} == {(Verdict.BROKEN, reason)}
    assert len(outcome.judgement.verdicts) == 2
    assert all(said in cell.evidence[0] for cell in outcome.judgement.verdicts)
    assert outcome.judgement.exit_code == ExitCode.SLOWER


def test_a_suite_that_opens_on_neither_side_is_not_the_heads_fault(toy: Any) -> None:
    toy.commit("breaks at import", op="import os\nos._exit(3)\n", suite="import toy\n" + toy.suite)
    toy.commit("still")
    with pytest.raises(MachineError, match=r"the suite of head does not open on cpu: died: .* code 3"):
        toy.compare("HEAD~1")


@pytest.mark.parametrize(
    "op", ["import os\nos._exit(3)\n", "raise SystemExit('no')\n", "import time\ntime.sleep(60)\n"]
)
def test_a_head_that_breaks_when_its_cells_are_described_is_broken(toy: Any, op: str) -> None:
    suite = toy.suite.replace("def make_inputs", "import toy\n\n        def make_inputs")
    good = toy.commit("imported when described", suite=suite)
    bad = toy.commit("breaks at import", op=op, config=toy.impatient if "sleep" in op else toy.patient)
    outcome = toy.compare(good, bad, rounds=1)
    assert {cell.verdict for cell in outcome.judgement.verdicts} == {Verdict.BROKEN}
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    assert set(outcome.record.header.work) == {"toy_suite.Toy(8)", "toy_suite.Toy(16)"}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_worker_killed_once_from_outside_during_the_survey_is_asked_again(
    toy: Any, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    toy.commit("same")
    forked: list[int] = []
    fork = ForkServer.fork

    def fork_and_kill_one(server: ForkServer, *arguments: Any, **options: Any) -> Any:
        worker = fork(server, *arguments, **options)
        forked.append(worker.pid)
        if len(forked) == number:
            os.kill(worker.pid, signal.SIGKILL)
        return worker

    monkeypatch.setattr(ForkServer, "fork", fork_and_kill_one)
    outcome = toy.compare("HEAD~1", rounds=1)
    assert not {cell.verdict for cell in outcome.judgement.verdicts} & {Verdict.BROKEN, Verdict.VOID}
    assert outcome.record.header.ceilings.sustained_flops


LEAK = """
import threading, time

def spin():
    while True:
        pass

class Clean:
    def time_clean(self):
        time.sleep(1e-4)

class Leaks:
    def time_leaks(self):
        pass
    def setup(self):
        for _ in range(2):
            threading.Thread(target=spin, daemon={daemon}).start()
"""


@pytest.mark.parametrize("daemon", [True, False])
def test_threads_that_a_cell_leaves_running_do_not_reach_the_next_one(toy: Any, daemon: bool) -> None:
    toy.commit("leaks", suite=LEAK.format(daemon=daemon))
    outcome = toy.compare("HEAD", rounds=1)
    leaks, clean = outcome.record.rounds[0].cells
    assert [leaks.key, clean.key] == ["toy_suite.Leaks.time_leaks", "toy_suite.Clean.time_clean"]
    assert clean.base is not None
    for side in (clean.head, clean.base):
        assert side.failure is None
        assert statistics.median(sample for block in side.blocks for sample in block.samples_s) < 2e-3
