"""What each override by glob does to a judgement, beside a cell that it does not match."""

import msgspec
import pytest
from fakes.records import FakeCell, o_proj_work, record

from solwatch.judge.judgement import Judgement
from solwatch.judge.judging import judge
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.pacing import pace
from solwatch.model.config import CellOverride, Config
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import CellVerdict, Reason, Verdict

TWO = [FakeCell(key="o.P(1)", ratio=1.02), FakeCell(key="o.P(16)", ratio=1.02)]


def judged(cells: list[FakeCell], *overrides: CellOverride, rounds: int = 16, stopped: str = "rounds") -> Judgement:
    return judge(record(cells, rounds=rounds, config=Config(cells=list(overrides)), stopped=stopped))


def by_key(judgement: Judgement) -> dict[str, CellVerdict]:
    return {cell.key: cell for cell in judgement.verdicts}


def test_a_min_effect_of_its_own_lets_a_cell_pass() -> None:
    found = by_key(judged(TWO, CellOverride(match="*(1)", min_effect=0.1)))
    assert (found["o.P(1)"].verdict, found["o.P(16)"].verdict) == (Verdict.UNCHANGED, Verdict.SLOWER)
    assert found["o.P(1)"].margin == pytest.approx(0.03)


def test_a_cells_own_min_effect_stands_above_that_of_the_run() -> None:
    config = Config(min_effect=0.2, cells=[CellOverride(match="*(16)", min_effect=0.01)])
    found = by_key(judge(record(TWO, config=config)))
    assert (found["o.P(1)"].verdict, found["o.P(16)"].verdict) == (Verdict.UNCHANGED, Verdict.SLOWER)


def test_a_margin_of_its_own_lets_a_cell_off() -> None:
    found = by_key(judged(TWO, CellOverride(match="*(1)", min_effect=0.1, margin=0.05)))
    assert (found["o.P(1)"].verdict, found["o.P(1)"].margin) == (Verdict.UNCHANGED, 0.05)
    # A margin alone is enough to keep what lies below it from being reported.
    cells = [with_ratio(cell, 1.008) for cell in TWO]
    alarmed = by_key(judged(cells, CellOverride(match="*(1)", margin=0.0099), rounds=36))
    assert alarmed["o.P(1)"].verdict is not Verdict.SLOWER
    assert alarmed["o.P(16)"].verdict is Verdict.SLOWER


def with_ratio(cell: FakeCell, ratio: float) -> FakeCell:
    return FakeCell(key=cell.key, ratio=ratio, spread=0.0005)


def test_a_floor_is_held_by_the_cells_it_matches() -> None:
    cells = [FakeCell(key=key, work=o_proj_work(16, 4096, 4096)) for key in ("o.P(1)", "o.P(16)")]
    found = by_key(judged(cells, CellOverride(match="o.P(1)", sol_floor=0.9)))
    assert (found["o.P(1)"].verdict, found["o.P(16)"].verdict) == (Verdict.BELOW_FLOOR, Verdict.UNCHANGED)


def test_a_cell_that_is_not_gated_does_not_fail_the_commit() -> None:
    judgement = judged([TWO[0], FakeCell(key="o.P(16)")], CellOverride(match="*(1)", gated=False))
    assert by_key(judgement)["o.P(1)"].verdict is Verdict.SLOWER
    assert judgement.exit_code == ExitCode.OK


NOISY = FakeCell(key="noisy", spread=0.05)
LIMITED = Config(cells=[CellOverride(match="noisy", most_rounds=8)])


def test_a_cell_is_measured_no_more_than_its_own_rounds_and_is_then_undecided_for_its_budget() -> None:
    other = FakeCell(key="other", spread=0.05)
    for rounds, open_keys in ((7, ["noisy", "other"]), (8, ["other"])):
        taken = record([NOISY, other], rounds=rounds, config=LIMITED, stopped=None)
        assert pace(taken, elapsed_s=60.0).open_keys == open_keys
    whole = record([NOISY, other], rounds=24, config=LIMITED, stopped=None)
    rounds = [
        msgspec.structs.replace(each, cells=[cell for cell in each.cells if cell.key == "other" or each.index < 8])
        for each in whole.rounds
    ]
    for count in (8, 12, 24):
        judgement = judge(msgspec.structs.replace(whole, rounds=rounds[:count]))
        cell = by_key(judgement)["noisy"]
        assert (cell.verdict, cell.reason, cell.rounds) == (Verdict.UNDECIDED, Reason.BUDGET, 8)
        assert cell.evidence[-1].startswith("its own limit of 8 rounds is too low to decide: raise most_rounds")
        assert "noisy" in judgement.final
        assert by_key(judgement)["other"].reason is not Reason.BUDGET


@pytest.mark.parametrize(
    ("ratio", "limit", "verdict", "reason"),
    [
        (1.0, 7, Verdict.UNCHANGED, Reason.WITHIN_MIN_EFFECT),
        (1.0, 6, Verdict.UNCHANGED, Reason.WITHIN_MIN_EFFECT),  # its last look is taken though seven are none yet
        (0.95, 5, Verdict.FASTER, Reason.BELOW_MARGIN),
        (1.05, 12, Verdict.SLOWER, Reason.ABOVE_MARGIN),
        (1.05, 11, Verdict.UNDECIDED, Reason.BUDGET),
        (1.05, 2, Verdict.UNDECIDED, Reason.BUDGET),
        (1.05, 30, Verdict.SLOWER, Reason.ABOVE_MARGIN),
    ],
)
def test_what_can_be_decided_within_its_own_rounds_is(
    ratio: float, limit: int, verdict: Verdict, reason: Reason
) -> None:
    config = Config(cells=[CellOverride(match="a", most_rounds=limit)])
    cell = FakeCell(key="a", ratio=ratio, spread=0.0005)
    taken = record([cell], rounds=12, config=config, stopped=None)
    while pace(msgspec.structs.replace(taken, rounds=taken.rounds[:-1]), elapsed_s=1.0).stop:
        taken = msgspec.structs.replace(taken, rounds=taken.rounds[:-1])
    assert len(taken.rounds) <= limit
    found = by_key(judge(taken))["a"]
    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_suspect_that_its_own_rounds_could_not_confirm_is_given_up_at_once() -> None:
    config = Config(cells=[CellOverride(match="a", most_rounds=11)])
    taken = record([FakeCell(key="a", ratio=1.05)], rounds=5, config=config, stopped=None)
    assert pace(taken, elapsed_s=1.0).stop is not None
    sentence = by_key(judge(taken))["a"].evidence
    assert "it looked slower after 5 rounds" in sentence[1]
    assert "its own limit of 11 rounds" in sentence[-1]


def test_an_untrusted_cell_is_waited_for_no_longer_than_its_own_rounds() -> None:
    cell = FakeCell(key="noisy", voided=frozenset(range(20)))
    for rounds, final in ((7, []), (8, ["noisy"])):
        assert judge(record([cell], rounds=rounds, config=LIMITED, stopped=None)).final == final


def test_a_suspected_null_kernel_does_not_carry_cells_past_their_own_rounds() -> None:
    cells = [FakeCell(key=str(n), base_s=n * 1e-4, spread=1e-4, head_null_s=4.2e-6) for n in (1, 2)]
    config = Config(cells=[CellOverride(match="1", most_rounds=8)])
    for rounds, carried in ((7, ["1", "2"]), (8, ["2"])):
        taken = record(cells, rounds=rounds, config=config, stopped=None)
        assert NULL_KERNEL in judge(taken).suspects
        assert pace(taken, elapsed_s=1.0).open_keys == carried
