"""What cells hold, from rounds of equal sides: known noise, two modes, settings, what can't be said."""

import math
from collections.abc import Sequence

import pytest
from fakes.records import FakeCell, always, record

from solwatch.judge.calibration import CAUGHT, STEPS, CalibratedCell, calibrated_cells, matching
from solwatch.model.config import CellOverride, Config

GATES = 100


def calibrated(
    cells: Sequence[FakeCell], *, config: Config | None = None, rounds: int = 20
) -> dict[str, CalibratedCell]:
    taken = record(cells, rounds=rounds, config=config, stopped="rounds")
    return {cell.key: cell for cell in calibrated_cells(taken, gates=GATES)}


def test_more_scatter_holds_less() -> None:
    spreads = {"quiet": 0.0005, "usual": 0.0015, "noisy": 0.005, "wild": 0.02}
    found = calibrated([FakeCell(key=key, base_s=200e-6, spread=spread) for key, spread in spreads.items()])
    holds = [found[key].holds or math.inf for key in spreads]
    assert holds == sorted(holds)
    assert holds[0] < 0.01 < holds[-1]
    for key, spread in spreads.items():
        # a log ratio has the scatter of two sides
        assert found[key].spread == pytest.approx(math.sqrt(2) * spread, rel=0.5)
    assert found["quiet"].honest
    assert found["quiet"].proposed == found["quiet"].min_effect == 0.01
    assert not found["quiet"].changes
    assert not found["wild"].honest
    assert found["wild"].proposed == found["wild"].holds
    assert found["wild"].changes


def test_what_is_proposed_is_honest_when_it_is_configured() -> None:
    cell = FakeCell(key="o_proj.OProj(1, 'llama')", base_s=200e-6, spread=0.008)
    before = calibrated([cell])[cell.key]
    assert before.proposed is not None
    assert before.proposed in STEPS
    override = CellOverride(match=matching(cell.key), min_effect=before.proposed)
    after = calibrated([cell], config=Config(cells=[override]))[cell.key]
    assert after.min_effect == before.proposed
    assert after.caught is not None
    assert after.caught >= CAUGHT
    assert not after.changes


def test_an_override_larger_than_needed_is_taken_back_but_never_below_the_usual_min_effect() -> None:
    config = Config(cells=[CellOverride(match="*", min_effect=0.2)])
    found = calibrated([FakeCell(key="a", base_s=200e-6, spread=0.0005)], config=config)["a"]
    assert found.honest
    assert found.holds is not None
    assert found.holds < 0.01
    assert found.proposed == 0.01


def test_a_margin_that_the_settings_fix_bounds_what_can_be_held() -> None:
    config = Config(margin=0.03, min_effect=0.1)
    found = calibrated([FakeCell(key="a", base_s=200e-6, spread=0.0005)], config=config)["a"]
    assert found.holds is not None
    assert 0.03 < found.holds <= 0.05
    assert found.proposed == 0.1


def test_a_short_call_is_held_to_the_floor_in_seconds() -> None:
    found = calibrated([FakeCell(key="a", base_s=2e-6, spread=0.0005, launches=None)])["a"]
    assert found.min_effect == pytest.approx(0.025, rel=0.02)
    assert found.proposed == found.min_effect


def test_two_modes_are_flagged_and_one_is_not() -> None:
    one = FakeCell(key="one", base_s=200e-6)
    taken = record([one], rounds=20, stopped="rounds")
    (plain, *_) = calibrated_cells(taken, gates=GATES)
    assert not plain.two_modes
    jumping = record([FakeCell(key="one", base_s=200e-6, ratio=1.05, spread=0.0005)], rounds=20, stopped="rounds")
    for index, round_ in enumerate(taken.rounds):
        if index % 3 == 0:
            round_.cells[0] = jumping.rounds[index].cells[0]
    (modes, *_) = calibrated_cells(taken, gates=GATES)
    assert modes.two_modes
    assert not modes.honest


def test_nothing_is_said_of_a_cell_without_enough_rounds() -> None:
    cells = [
        FakeCell(key="fine", base_s=200e-6),
        FakeCell(key="broken", head_failures=always("raised", "no"), base_failures=always("raised", "no")),
        FakeCell(key="peer", gated=False),
    ]
    found = calibrated(cells)
    assert "peer" not in found
    assert found["broken"].problem is not None
    assert found["broken"].problem.startswith("void: ")
    assert found["broken"].holds is None
    assert found["fine"].problem is None
    few = calibrated([FakeCell(key="fine")], rounds=5)["fine"]
    assert few.problem == "5 usable rounds, 8 are needed"


def test_a_cell_that_holds_nothing_has_no_proposal() -> None:
    found = calibrated([FakeCell(key="a", spread=3.0)])["a"]
    assert (found.holds, found.proposed, found.changes) == (None, None, False)
