"""Steps gathered into places, and ids that outlive later results."""

from hypothesis import given
from hypothesis import strategies as st

from solwatch.app.change_points import as_reported, change_points, direction, joined_reported
from solwatch.model.history import CellStep, ChangePoint, Reported

ORDER = {f"{index:040x}": index for index in range(40)}
SHAS = list(ORDER)


def step(good: int, bad: int, ratio: float = 1.05, cell: str = "a", latest: float | None = None) -> CellStep:
    return CellStep(
        benchmark=f"{cell}.track_time",
        cell=cell,
        environment="solwatch-py3.11",
        unit="seconds",
        good=SHAS[good],
        bad=SHAS[bad],
        before=1.0,
        after=ratio,
        latest=ratio if latest is None else latest,
        results=(5, 5),
    )


def points(*steps: CellStep, reported: list[Reported] | None = None, machine: str = "runner") -> list[ChangePoint]:
    return change_points({machine: list(steps)}, ORDER, reported or [], least_change=0.02)


def remembered(found: list[ChangePoint]) -> list[Reported]:
    return [as_reported(point, "2026-03-04T05:06:07+00:00") for point in found]


def test_cells_that_one_commit_explains_are_one_place_and_narrow_it() -> None:
    (point,) = points(step(3, 9, 1.05, "a"), step(5, 12, 1.5, "b"), step(2, 10, 1.02, "c"))
    assert (point.good, point.bad) == (SHAS[5], SHAS[9])
    assert [one.cell for one in point.cells] == ["b", "a", "c"]


def test_another_direction_another_place_or_another_machine_is_another_point() -> None:
    found = points(step(3, 4), step(3, 4, 0.9, "b"), step(7, 8, cell="c"))
    assert [(point.direction, point.bad) for point in found] == [
        ("faster", SHAS[4]), ("slower", SHAS[4]), ("slower", SHAS[8])
    ]  # fmt: skip
    assert len({point.id for point in found}) == 3
    assert points(step(3, 4), machine="x")[0].id != points(step(3, 4), machine="y")[0].id


def test_a_range_that_results_narrow_keeps_its_id() -> None:
    (first,) = points(step(3, 12))
    for good, bad in ((3, 8), (9, 12), (5, 6)):
        (later,) = points(step(good, bad), reported=remembered([first]))
        assert later.id == first.id
        assert later.bad == SHAS[bad]


def test_a_step_that_moves_by_a_commit_keeps_its_id_only_with_a_cell_in_common() -> None:
    (first,) = points(step(5, 6))
    (moved,) = points(step(7, 8), reported=remembered([first]))
    assert moved.id == first.id
    (far,) = points(step(8, 9), reported=remembered([first]))
    assert far.id != first.id
    (other,) = points(step(7, 8, cell="b"), reported=remembered([first]))
    assert other.id != first.id


def test_two_places_that_are_near_each_other_keep_their_own_ids() -> None:
    first = points(step(5, 6), step(7, 8))
    assert len({point.id for point in first}) == 2
    assert [point.id for point in points(step(5, 6), step(7, 8), reported=remembered(first))] == [
        point.id for point in first
    ]


def test_a_new_place_where_a_known_one_was_first_gets_an_id_of_its_own() -> None:
    (known,) = remembered(points(step(3, 8)))
    assert known.bad == SHAS[8]
    found = points(step(3, 4), step(7, 8), reported=[known])
    assert len({point.id for point in found}) == 2
    assert sum(point.id == known.id for point in found) == 1


def test_a_commit_that_history_has_lost_is_known_by_its_name_alone() -> None:
    (first,) = points(step(5, 6))
    lost = Reported(
        **{**{name: getattr(remembered([first])[0], name) for name in Reported.__struct_fields__}, "good": "f" * 40}
    )
    (again,) = points(step(5, 6), reported=[lost])
    assert again.id == first.id


def test_a_change_that_went_away_does_not_persist() -> None:
    assert points(step(3, 4))[0].persists
    assert not points(step(3, 4, latest=1.0))[0].persists
    assert points(step(3, 4, latest=1.0), step(3, 4, cell="b"))[0].persists
    assert not points(step(3, 4, 0.9, latest=1.0))[0].persists


ranges = st.tuples(st.integers(0, 38), st.integers(1, 6)).map(lambda drawn: (drawn[0], min(drawn[0] + drawn[1], 39)))
steps = st.lists(
    st.builds(
        lambda between, ratio, cell: step(*between, ratio=ratio, cell=cell),
        ranges,
        st.sampled_from([0.9, 1.1]),
        st.sampled_from("abc"),
    ),
    max_size=12,
)


@given(found=steps)
def test_every_step_is_in_one_place_that_explains_it(found: list[CellStep]) -> None:
    made = points(*found)
    assert sum(len(point.cells) for point in made) == len(found)
    assert len({point.id for point in made}) == len(made)
    for point in made:
        for one in point.cells:
            assert direction(one) == point.direction
            assert ORDER[one.good] <= ORDER[point.good] < ORDER[point.bad] <= ORDER[one.bad]


@given(found=steps)
def test_the_same_history_has_the_same_ids_before_and_after_it_was_reported(found: list[CellStep]) -> None:
    made = points(*found)
    again = points(*found, reported=remembered(made))
    assert again == made


@given(first=steps, second=steps)
def test_reports_of_two_machines_are_joined_the_same_way_twice(first: list[CellStep], second: list[CellStep]) -> None:
    one, two = remembered(points(*first)), remembered(points(*second))
    both = joined_reported(one, two)
    assert {row.id for row in both} == {row.id for row in one + two}
    assert joined_reported(both, one) == both == joined_reported(both, two)
