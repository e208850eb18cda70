"""From records to judgements: each verdict once, floors, ceilings, exit codes, coverage."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import pytest
from fakes.gpu_run import gpu_record
from fakes.records import CPU, CPU_CEILINGS, FakeCell, always, o_proj_work, record

from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.rule import ComparedCell, Decision
from solwatch.model.cell import Work
from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import ExitCode, RequestError
from solwatch.model.record import Ceilings
from solwatch.model.verdict import CellVerdict, Reason, Verdict
from solwatch.sol.score import CeilingKind

WORK = o_proj_work(16, 4096, 4096)


TIGHT_NULL = CellOverride(match=NULL_KERNEL, min_effect=1e-4)


def only(judgement: Judgement) -> CellVerdict:
    verdict, *null = judgement.verdicts
    assert [cell.key for cell in null] in ([], [NULL_KERNEL])
    return verdict


@pytest.mark.parametrize(
    ("ratio", "verdict", "code"),
    [(1.05, Verdict.SLOWER, 1), (1.013, Verdict.SLOWER, 1), (0.95, Verdict.FASTER, 0), (1.0, Verdict.UNCHANGED, 0)],
)
def test_times_decide(ratio: float, verdict: Verdict, code: int) -> None:
    judgement = judge(record([FakeCell(key="a", ratio=ratio)]))
    cell = only(judgement)
    assert cell.verdict is verdict
    assert judgement.exit_code == code
    assert judgement.final == ["a"]
    assert cell.slowdown_ratio is not None
    assert cell.slowdown_ratio.point == pytest.approx(ratio, rel=0.004)
    assert f"over {cell.rounds} rounds" in cell.evidence[0]
    if verdict is Verdict.SLOWER:
        assert "suspected after 5 rounds, confirmed by fresh ones up to round 1" in cell.evidence[1]
    assert judgement.coverage.text == "1 of 1 decided"


def test_noise_is_undecided_and_a_run_that_decided_nothing_exits_with_4() -> None:
    judgement = judge(record([FakeCell(key="a", spread=0.1)], rounds=24, stopped="rounds"))
    cell = only(judgement)
    assert (cell.verdict, cell.reason) == (Verdict.UNDECIDED, Reason.NOISE)
    assert cell.mde is not None
    assert "99 % of the time (MDE); wanted" in cell.evidence[1]
    assert judgement.exit_code == ExitCode.UNDECIDED


@pytest.mark.parametrize(
    ("rounds", "stopped", "reason", "said"),
    [
        (24, "rounds", Reason.NOISE, "all 24 rounds were taken: quieten the machine, raise rounds in [tool.solwatch]"),
        (
            7,
            "budget",
            Reason.BUDGET,
            "300 s ended measuring after 7 of at most 44 rounds: raise budget_s (--budget)",
        ),
        (
            7,
            "rounds",
            Reason.ROUNDS,
            "ended measuring after 7 of at most 44 rounds: raise --rounds or leave it out",
        ),
        (7, "interrupted", Reason.INTERRUPTED, "measuring was interrupted after 7 of at most 44 rounds: measure again"),
        (7, None, Reason.INTERRUPTED, "measuring was interrupted after 7 of at most 44 rounds: measure again"),
    ],
)
def test_an_undecided_cell_names_the_limit_that_kept_it_so(
    rounds: int, stopped: str | None, reason: Reason, said: str
) -> None:
    cell = only(judge(record([FakeCell(key="a", spread=0.1)], rounds=rounds, stopped=stopped)))
    assert (cell.verdict, cell.reason) == (Verdict.UNDECIDED, reason)
    assert said in cell.evidence[2]


@pytest.mark.parametrize(
    ("rounds", "stopped", "reason", "said"),
    [
        (9, "budget", Reason.BUDGET, "the budget of 300 s ended measuring after 9 of at most 44 rounds"),
        (5, "rounds", Reason.ROUNDS, "asked for ended measuring after 5 of at most 44 rounds"),
        (9, None, Reason.INTERRUPTED, "measuring was interrupted after 9 of at most 44 rounds"),
    ],
)
def test_a_suspect_that_a_limit_left_unconfirmed_is_not_slower_and_says_so(
    rounds: int, stopped: str | None, reason: Reason, said: str
) -> None:
    judgement = judge(record([FakeCell(key="a", ratio=1.05)], rounds=rounds, stopped=stopped))
    cell = only(judgement)
    assert (cell.verdict, cell.reason, judgement.suspects) == (Verdict.UNDECIDED, reason, ["a"])
    assert "it looked slower after 5 rounds" in cell.evidence[1]
    assert said in cell.evidence[3]


def test_a_suspect_that_fresh_rounds_do_not_confirm_is_given_up() -> None:
    slow, same = (record([FakeCell(key="a", ratio=ratio)], rounds=36, stopped=None) for ratio in (1.03, 1.0))
    taken = msgspec.structs.replace(slow, rounds=[*slow.rounds[:5], *same.rounds[5:]])
    at = next(n for n in range(5, 37) if judge(msgspec.structs.replace(taken, rounds=taken.rounds[:n])).final)
    assert at < 26
    judgement = judge(msgspec.structs.replace(taken, rounds=taken.rounds[:at]))
    cell = only(judgement)
    assert (cell.verdict, cell.reason, judgement.suspects) == (Verdict.UNDECIDED, Reason.UNCONFIRMED, [])
    assert "fresh rounds did not confirm" in cell.evidence[-1]


def test_void_rounds_only_delay_a_suspect() -> None:
    cell = FakeCell(key="a", ratio=1.05, voided=frozenset(range(5, 22)))
    found = only(judge(record([cell], rounds=36, stopped="rounds")))
    assert (found.verdict, found.reason) == (Verdict.SLOWER, Reason.ABOVE_MARGIN)
    cell = FakeCell(key="a", ratio=1.05, voided=frozenset(range(13, 36, 2)))
    found = only(judge(record([cell], rounds=36, stopped="rounds")))
    assert found.verdict is Verdict.SLOWER


def test_a_floor_is_looked_at_only_at_the_looks() -> None:
    config = Config(cells=[CellOverride(match="a", sol_floor=0.36)], rounds=[5])
    good, bad = (FakeCell(key="a", base_s=base_s, work=WORK) for base_s in (19e-6, 30e-6))
    first, later = (record([cell], rounds=12, config=config) for cell in (good, bad))
    taken = msgspec.structs.replace(first, rounds=[*first.rounds[:5], *later.rounds[5:]])
    assert only(judge(taken)).verdict is not Verdict.BELOW_FLOOR
    assert only(judge(later)).verdict is Verdict.BELOW_FLOOR


def test_undecided_cells_fail_only_where_asked() -> None:
    cells = [FakeCell(key="a", spread=0.1), FakeCell(key="b")]
    assert judge(record(cells, rounds=16)).exit_code == ExitCode.OK
    assert judge(record(cells, rounds=16, config=Config(undecided="fail"))).exit_code == ExitCode.UNDECIDED


def test_no_rounds_are_undecided_not_an_error() -> None:
    judgement = judge(record([FakeCell(key="a")], rounds=0, stopped=None))
    assert only(judgement).verdict is Verdict.UNDECIDED
    assert judgement.exit_code == ExitCode.UNDECIDED
    assert judge(record([FakeCell(key="a")], rounds=0, stopped=None)).final == []


def test_a_head_that_is_wrong_is_broken_however_fast() -> None:
    wrong = FakeCell(key="a", ratio=0.1, head_failures=always("wrong", "off by one"))
    judgement = judge(record([wrong, FakeCell(key="b")]))
    assert judgement.verdicts[0].verdict is Verdict.BROKEN
    assert judgement.exit_code == ExitCode.SLOWER
    assert "a" in judgement.final


def test_a_cell_broken_on_both_sides_is_not_the_heads_fault() -> None:
    failures = always("raised", "no kernel image")
    judgement = judge(record([FakeCell(key="a", head_failures=failures, base_failures=failures)]))
    assert only(judgement).verdict is Verdict.VOID
    assert judgement.exit_code == ExitCode.UNTRUSTED


def test_a_new_cell_is_never_slower_and_does_not_fail() -> None:
    new = FakeCell(key="a", ratio=3.0, base_failures=always("missing", "no such benchmark"))
    judgement = judge(record([new, FakeCell(key="b")]))
    assert (judgement.verdicts[0].verdict, judgement.verdicts[0].reason) == (Verdict.NEW, Reason.NOT_IN_BASE)
    assert judgement.exit_code == ExitCode.OK
    assert judgement.coverage.text == "1 of 2 decided, 1 new"


def test_a_skipped_cell_counts_for_nothing() -> None:
    skipped = always("skipped", "needs CUDA")
    judgement = judge(record([FakeCell(key="a", head_failures=skipped, base_failures=skipped), FakeCell(key="b")]))
    assert (judgement.verdicts[0].reason, judgement.verdicts[0].gated) == (Reason.SKIPPED, False)
    assert (judgement.exit_code, judgement.coverage.gated) == (ExitCode.OK, 1)


def test_a_run_that_skipped_everything_is_no_pass() -> None:
    skipped = always("skipped", "needs CUDA")
    assert judge(record([FakeCell(key="a", head_failures=skipped)], alone=True)).exit_code == ExitCode.UNDECIDED


def test_half_of_the_rounds_may_be_void_and_no_more() -> None:
    half = judge(record([FakeCell(key="a", voided=frozenset(range(5)))], rounds=10))
    more = judge(record([FakeCell(key="a", voided=frozenset(range(6)))], rounds=10))
    assert only(half).verdict is Verdict.UNCHANGED
    assert any("5 of 10 rounds not used" in sentence for sentence in only(half).evidence)
    assert (only(more).verdict, only(more).reason) == (Verdict.VOID, Reason.UNTRUSTED)
    assert more.exit_code == ExitCode.UNTRUSTED
    assert any("hardware thermal slowdown" in sentence for sentence in only(more).evidence)
    assert more.final == []


def test_a_base_that_died_in_most_rounds_leaves_nothing_to_trust() -> None:
    judgement = judge(record([FakeCell(key="a", base_failures=always("died", "signal 9", rounds=8))], rounds=10))
    assert (only(judgement).verdict, only(judgement).reason) == (Verdict.VOID, Reason.UNTRUSTED)


def test_a_time_below_the_rated_limit_is_void_and_says_both_numbers() -> None:
    judgement = judge(record([FakeCell(key="a", base_s=5e-6, work=WORK)]))
    cell = only(judgement)
    assert (cell.verdict, cell.reason) == (Verdict.VOID, Reason.CEILING_EXCEEDED)
    assert "is below the rated T_SOL of 7.058 µs" in cell.evidence[0]
    assert judgement.facts["a"].head.score is None


def test_a_time_that_beats_a_measured_ceiling_loses_only_its_score() -> None:
    slow = Ceilings(sustained_flops={"bfloat16": 1e9}, sustained_bandwidth=1e9)
    judgement = judge(
        record([FakeCell(key="a", base_s=1e-3, work=WORK, spread=0.01)], rounds=16, fingerprint=CPU, ceilings=slow)
    )
    score = judgement.facts["a"].head.score
    assert only(judgement).verdict is Verdict.UNCHANGED
    assert score is not None
    assert (score.sol_score, score.kind) == (None, CeilingKind.MEASURED)
    assert any("its score is left out" in sentence for sentence in only(judgement).evidence)


def test_a_cpu_is_held_to_ten_per_cent() -> None:
    work = Work(flops=6e7, traffic_bytes=1e6, dtype="float32")
    cells = [FakeCell(key="a", base_s=2e-3, ratio=1.05, spread=0.01, work=work)]
    judgement = judge(record(cells, rounds=36, fingerprint=CPU, ceilings=CPU_CEILINGS))
    assert only(judgement).min_effect == 0.10
    assert only(judgement).verdict in (Verdict.UNCHANGED, Verdict.SLOWER)


def test_a_floor_fails_a_cell_whatever_base_did() -> None:
    config = Config(cells=[CellOverride(match="a", sol_floor=0.5)])
    judgement = judge(record([FakeCell(key="a", base_s=20e-6, work=WORK)], config=config))
    cell = only(judgement)
    assert (cell.verdict, cell.reason) == (Verdict.BELOW_FLOOR, Reason.UNDER_SOL_FLOOR)
    assert any("is under the floor of 0.500" in sentence for sentence in cell.evidence)
    assert judgement.exit_code == ExitCode.SLOWER


def test_a_floor_within_reach_of_the_noise_is_not_missed() -> None:
    score = 7.058 / 20
    config = Config(cells=[CellOverride(match="a", sol_floor=score * 1.0005)])
    assert only(judge(record([FakeCell(key="a", base_s=20e-6, work=WORK)], config=config))).verdict is not (
        Verdict.BELOW_FLOOR
    )


def test_a_new_cell_is_held_to_its_floor() -> None:
    config = Config(cells=[CellOverride(match="a", sol_floor=0.5)])
    cell = FakeCell(key="a", base_s=20e-6, work=WORK, base_failures=always("missing", "not there"))
    assert only(judge(record([cell], config=config))).verdict is Verdict.BELOW_FLOOR


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    ("work", "rounds", "ceilings", "why"),
    [
        (None, 16, Ceilings(), "does not say what work the cell does"),
        (WORK, 16, Ceilings(), "no ceiling is known for bfloat16"),
        (WORK, 16, Ceilings(sustained_flops={"bfloat16": 1e9}, sustained_bandwidth=1e9), "beats the measured ceiling"),
        (WORK, 2, CPU_CEILINGS, "2 of the 3 rounds that it takes"),
    ],
)
def test_a_floor_that_can_not_be_checked_leaves_the_cell_undecided_and_says_why(
    work: Work | None, rounds: int, ceilings: Ceilings, why: str, alone: bool
) -> None:
    config = Config(cells=[CellOverride(match="a", sol_floor=0.5)])
    taken = record(
        [FakeCell(key="a", base_s=1e-1 if rounds == 2 else 1e-3, work=work)],
        rounds=rounds, config=config, fingerprint=CPU, ceilings=ceilings, alone=alone,
    )  # fmt: skip
    judgement = judge(taken)
    cell = only(judgement)
    assert cell.verdict is Verdict.UNDECIDED
    assert rounds == 2 or cell.reason is Reason.FLOOR_UNCHECKED
    assert cell.evidence[0].startswith("the SOL floor of 0.500 (sol_floor) could not be checked: ")
    assert why in cell.evidence[0]
    assert judgement.exit_code == ExitCode.UNDECIDED


def test_slower_stays_slower_under_a_missed_floor() -> None:
    config = Config(cells=[CellOverride(match="a", sol_floor=0.5)])
    cell = only(judge(record([FakeCell(key="a", base_s=20e-6, ratio=1.1, work=WORK)], config=config)))
    assert cell.verdict is Verdict.SLOWER
    assert any("floor" in sentence for sentence in cell.evidence)


def test_head_alone_is_measured_and_nothing_is_compared() -> None:
    judgement = judge(record([FakeCell(key="a", work=WORK)], rounds=3, alone=True))
    cell, facts = only(judgement), judgement.facts["a"]
    assert (cell.verdict, cell.reason) == (Verdict.NEW, Reason.MEASURED_ALONE)
    assert cell.slowdown_ratio is None
    assert facts.base is None
    assert facts.head.time is not None
    assert facts.head.time.low is not None
    assert judgement.exit_code == ExitCode.OK
    assert judgement.final == ["a"]


def test_peers_are_judged_and_do_not_count() -> None:
    judgement = judge(record([FakeCell(key="a"), FakeCell(key="peer", ratio=1.3, gated=False)]))
    assert judgement.verdicts[1].verdict is Verdict.SLOWER
    assert judgement.exit_code == ExitCode.OK
    assert judgement.thresholds.family == 2  # the cell and the null kernel


def test_an_ordinary_benchmark_in_another_unit_is_judged_too() -> None:
    cell = FakeCell(key="mem.peak", base_s=5e8, ratio=1.2, kind="asv", unit="bytes")
    judgement = judge(record([cell]))
    assert only(judgement).verdict is Verdict.SLOWER
    assert judgement.facts["mem.peak"].unit == "bytes"


def test_what_a_reader_must_know_of_the_measurement_is_said() -> None:
    cell = FakeCell(key="a", fallback="the call synchronises with the host")
    assert any(
        "timed by events, the call synchronises" in sentence for sentence in only(judge(record([cell]))).evidence
    )


def test_a_launch_path_that_differs_by_more_than_the_margin_is_said() -> None:
    def evidence(base_s: float) -> str:
        return " ".join(only(judge(record([FakeCell(key="a", base_s=base_s, head_null_s=3.82e-6)]))).evidence)

    assert "a kernel that does nothing differs between the sides by 2." in evidence(20e-6)
    assert "that is corrected for, once a launch, and is −0.04 % without" in evidence(20e-6)
    assert "does nothing" not in evidence(2e-3)


def test_a_margin_that_is_too_wide_is_a_wrong_request() -> None:
    with pytest.raises(RequestError, match="margin"):
        judge(record([FakeCell(key="a")], config=Config(margin=0.5)))


def test_judging_again_gives_the_same_and_does_not_depend_on_when() -> None:
    assert judge(gpu_record()) == judge(gpu_record())


def test_looks_tell_when_each_verdict_fell() -> None:
    judgement = judge(record([FakeCell(key="a", ratio=1.1), FakeCell(key="b", spread=0.004)], rounds=16))
    fallen = {key: look.completed for look in judgement.looks for key in look.verdicts}
    assert (fallen["b"], fallen[NULL_KERNEL]) == (8, 7)
    # A suspect after the first look, and seven fresh rounds: fewer can't confirm it.
    assert judgement.facts["a"].decided_at == fallen["a"] == 12
    assert judgement.suspects == []


def test_another_rule_can_stand_behind_the_port() -> None:
    class Suspicious:
        name = "suspicious"
        text = "everything is slower"
        looks: ClassVar[list[int]] = [1]
        most_rounds = 1

        def decide(
            self, cells: Sequence[ComparedCell], *, family: int, completed: int, ended: bool
        ) -> dict[str, Decision]:
            return {
                cell.key: Decision(
                    verdict=Verdict.SLOWER,
                    reason=Reason.ABOVE_MARGIN,
                    final=True,
                    decided_at=completed,
                    p_value=0.0,
                    mde=None,
                )
                for cell in cells
            }

    judgement = judge(record([FakeCell(key="a")]), Suspicious())
    assert only(judgement).verdict is Verdict.SLOWER
    assert judgement.thresholds.rule == "suspicious"


def test_every_verdict_of_a_large_run_at_once() -> None:
    judgement = judge(gpu_record())
    assert {cell.verdict for cell in judgement.verdicts} == set(Verdict) - {Verdict.BELOW_FLOOR, Verdict.ACCEPTED}
    assert judgement.exit_code == ExitCode.SLOWER


def test_a_head_that_makes_every_launch_slower_is_slower_though_its_cells_are_corrected() -> None:
    cells = [FakeCell(key=key, base_s=20e-6, ratio=20.5 / 20, head_null_s=3.82e-6) for key in ("a", "b")]
    judgement = judge(record(cells))
    by_key = {cell.key: cell for cell in judgement.verdicts}
    assert by_key["a"].verdict is by_key["b"].verdict is Verdict.UNCHANGED
    assert (by_key[NULL_KERNEL].verdict, by_key[NULL_KERNEL].gated) == (Verdict.SLOWER, True)
    assert judgement.exit_code == ExitCode.SLOWER
    assert judgement.coverage.text == "3 of 3 decided"


def test_a_null_kernel_that_stays_undecided_is_no_cell_that_was_left_open() -> None:
    judgement = judge(record([FakeCell(key="a")], rounds=6, config=Config(cells=[TIGHT_NULL])))
    null = judgement.verdicts[-1]
    assert (null.key, null.verdict, null.gated) == (NULL_KERNEL, Verdict.UNDECIDED, False)
    assert judgement.coverage.text == "1 of 1 decided"
    assert judgement.final == ["a"]
