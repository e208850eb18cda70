"""Cells without a time: what is said of them, and that they never make a gate pass by themselves."""

import msgspec
import pytest
from fakes.records import FakeCell, always, record

from solwatch.judge.judging import judge
from solwatch.judge.pacing import pace
from solwatch.model.errors import ExitCode
from solwatch.model.identity import Identity
from solwatch.model.verdict import CellVerdict, Reason, Verdict

SAME = {"machine code": "c0de" * 16, "suite": "5eed" * 16}
KEYS = ["a", "b", "c"]


def identity(*unmeasured: str, compiled: str | None = None, sample: str = "c") -> Identity:
    return Identity(same=SAME, unmeasured=dict.fromkeys(unmeasured, compiled), sample=[sample])


def verdict(found: Identity, key: str, cells: list[FakeCell] | None = None) -> CellVerdict:
    judged = judge(record(cells or [FakeCell(key=each) for each in KEYS], identity=found))
    return next(cell for cell in judged.verdicts if cell.key == key)


def test_an_unmeasured_cell_is_unchanged_and_no_time_is_invented() -> None:
    cell = verdict(identity("a", "b"), "a")
    assert (cell.verdict, cell.reason, cell.rounds) == (Verdict.UNCHANGED, Reason.IDENTICAL, 0)
    assert (cell.slowdown_ratio, cell.mde, cell.p_value, cell.null_ratio) == (None, None, None, None)
    assert cell.evidence[0].startswith("machine code, suite are the same in head and base (digest ")
    assert cell.evidence[1:] == ["it compiles and tunes nothing", "not measured: --measure-all measures it"]


def test_what_it_compiles_is_said() -> None:
    evidence = verdict(identity("a", compiled="0123456789abcdef"), "a").evidence
    assert "what it compiles is the same on both sides (digest 0123456789ab)" in evidence


def test_the_digest_is_of_what_was_compared() -> None:
    one, other = (
        verdict(Identity(same={"suite": digest}, unmeasured={"a": None}), "a").evidence[0] for digest in ("1", "2")
    )
    assert one != other


def test_the_sample_says_that_it_is_one() -> None:
    said = "nothing that it runs has changed: measured as a sample of such cells (identical_sample)"
    assert said in verdict(identity("a", "b"), "c").evidence
    assert said not in verdict(identity("a", sample="b"), "c").evidence


def test_unmeasured_cells_are_decided_and_counted() -> None:
    judged = judge(record([FakeCell(key=key) for key in KEYS], identity=identity("a", "b")))
    assert judged.exit_code == ExitCode.OK
    assert (judged.coverage.decided, judged.coverage.unmeasured, judged.coverage.gated) == (3, 2, 3)
    assert judged.thresholds.family == 2, "the null kernel and c: what isn't measured can't raise a false alarm"


@pytest.mark.parametrize(
    ("sampled", "code"),
    [
        (FakeCell(key="c", ratio=1.2), ExitCode.SLOWER),
        (FakeCell(key="c", voided=frozenset(range(36))), ExitCode.UNTRUSTED),
        (FakeCell(key="c", gated=False), ExitCode.UNDECIDED),
    ],
)
def test_the_measured_cell_speaks_for_all(sampled: FakeCell, code: ExitCode) -> None:
    taken = record([FakeCell(key="a"), FakeCell(key="b"), sampled], rounds=36, identity=identity("a", "b"))
    assert judge(taken).exit_code == code


def test_a_run_that_measured_nothing_does_not_pass() -> None:
    judged = judge(record([FakeCell(key="a"), FakeCell(key="b")], rounds=1, identity=identity("a", "b")))
    assert {cell.verdict for cell in judged.verdicts} == {Verdict.UNCHANGED}
    assert judged.exit_code == ExitCode.UNDECIDED


def test_no_round_is_asked_for() -> None:
    taken = record([FakeCell(key=key) for key in KEYS], rounds=0, stopped=None, identity=identity("a", "b"))
    assert pace(taken, elapsed_s=0.0).open_keys == ["c"]


def test_times_that_are_there_are_judged_all_the_same() -> None:
    timed = record([FakeCell(key="a", ratio=1.2)], rounds=36)
    header = msgspec.structs.replace(timed.header, identity=identity("a"))
    assert judge(msgspec.structs.replace(timed, header=header)).verdicts[0].verdict is Verdict.SLOWER


def test_a_cell_that_vanished_is_broken_beside_unmeasured_ones() -> None:
    gone = FakeCell(key="c", head_failures=always("missing", "gone"))
    assert judge(record([FakeCell(key="a"), gone], identity=identity("a"))).exit_code == ExitCode.SLOWER
