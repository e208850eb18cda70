"""Whether another round follows."""

from fakes.records import FakeCell, always, record

from solwatch.judge.pacing import pace
from solwatch.model.config import Config
from solwatch.model.record import Record

NOISY = FakeCell(key="noisy", spread=0.05)
CLEAR = FakeCell(key="clear", ratio=1.2)


def live(*cells: FakeCell, rounds: int, config: Config | None = None) -> Record:
    return record(cells, rounds=rounds, stopped=None, config=config)


def test_the_first_round_is_always_taken() -> None:
    found = pace(live(NOISY, CLEAR, rounds=0), elapsed_s=1e9)
    assert (found.stop, found.open_keys) == (None, ["noisy", "clear"])


def test_what_is_decided_is_not_measured_again() -> None:
    taken = live(NOISY, CLEAR, rounds=12)
    found = pace(taken, elapsed_s=60.0)
    assert (found.stop, found.open_keys) == (None, ["noisy"])


def test_half_of_a_round_is_its_processes_and_half_its_cells() -> None:
    taken = live(NOISY, CLEAR, rounds=12, config=Config(budget_s=100.0))  # one of two cells is left
    last_s = 100.0 - 9.5 * 0.75
    assert pace(taken, elapsed_s=last_s - 0.01).stop is None
    assert pace(taken, elapsed_s=last_s + 0.01).stop == "budget"


def test_it_ends_when_everything_is_decided() -> None:
    found = pace(live(CLEAR, rounds=12), elapsed_s=60.0)
    assert (found.stop, found.open_keys) == ("decided", [])


def test_a_suspect_goes_on_alone_until_fresh_rounds_have_decided() -> None:
    slow, same = FakeCell(key="slow", ratio=1.05), FakeCell(key="same", spread=1e-4)
    assert pace(live(slow, same, rounds=5), elapsed_s=60.0).open_keys == ["slow", "same"]
    for rounds in (7, 11):
        assert pace(live(slow, same, rounds=rounds), elapsed_s=60.0).open_keys == ["slow"]
    assert pace(live(slow, same, rounds=12), elapsed_s=60.0).stop == "decided"


def test_a_suspected_null_kernel_is_carried_on_by_the_shortest_cells() -> None:
    cells = [FakeCell(key=str(n), base_s=n * 1e-4, spread=1e-4, head_null_s=4.2e-6) for n in (3, 9, 2, 1, 4)]
    taken = live(*cells, rounds=8, config=Config(budget_s=100.0))
    found = pace(taken, elapsed_s=100.0 - 9.5 * 0.9 - 0.01)  # four of five cells
    assert (found.stop, found.open_keys) == (None, ["3", "2", "1", "4"])
    assert pace(taken, elapsed_s=100.0 - 9.5 * 0.9 + 0.01).stop == "budget"
    assert pace(live(*cells, rounds=12), elapsed_s=60.0).stop == "decided"


def test_open_cells_that_the_null_kernel_is_timed_with_carry_it_on() -> None:
    quiet, noisy = FakeCell(key="quiet", spread=1e-4, head_null_s=4.2e-6), FakeCell(key="noisy", spread=0.05)
    assert pace(live(quiet, noisy, rounds=8), elapsed_s=60.0).open_keys == ["noisy"]
    other = FakeCell(key="noisy", spread=0.05, fallback="the call synchronises")
    assert pace(live(quiet, other, rounds=8), elapsed_s=60.0).open_keys == ["quiet", "noisy"]


def test_it_ends_at_the_last_look_with_cells_still_undecided() -> None:
    found = pace(live(NOISY, rounds=24), elapsed_s=60.0)
    assert (found.stop, found.open_keys) == ("rounds", [])


def test_a_round_that_would_overrun_the_budget_is_not_begun() -> None:
    config = Config(budget_s=100.0)
    assert pace(live(NOISY, rounds=7, config=config), elapsed_s=90.0).stop is None
    assert pace(live(NOISY, rounds=7, config=config), elapsed_s=91.0).stop == "budget"


def test_broken_cells_are_not_waited_for() -> None:
    broken = FakeCell(key="broken", head_failures=always("hung", "silent for 60 s"))
    assert pace(live(broken, rounds=1), elapsed_s=1.0).stop == "decided"


def test_a_new_cell_is_measured_a_few_times() -> None:
    new = FakeCell(key="new", base_failures=always("missing", "not there"))
    assert pace(live(new, rounds=2), elapsed_s=1.0).open_keys == ["new"]
    assert pace(live(new, rounds=3), elapsed_s=1.0).open_keys == []
