"""Which cells a command measures."""

import pytest

from solwatch.app.selection import require_known_set, select
from solwatch.model.cell import CellInfo, CellSelection
from solwatch.model.errors import RequestError


def cell(key: str, *, sets: tuple[str, ...] = (), device: str | None = "cpu", gated: bool = True) -> CellInfo:
    return CellInfo(
        key=key, benchmark=key.split("(")[0], params=[], param_names=[], kind="suite",
        gated=gated, device=device, sets=list(sets),
    )  # fmt: skip


CELLS = [
    cell("Divided(1)", sets=("quick", "standard")),
    cell("Divided(2)", sets=("standard",)),
    cell("Divided(3)"),
    cell("Whole(1)", device=None),
    cell("OnGpu(1)", device="cuda", sets=("quick",)),
    cell("Peer(1)", gated=False),
]


def keys(selection: CellSelection, device_type: str = "cpu") -> list[str]:
    return [each.key for each in select(CELLS, selection, device_type=device_type)]


def test_a_set_holds_what_a_benchmark_puts_into_it_and_all_of_one_that_has_no_sets() -> None:
    assert keys(CellSelection("quick")) == ["Divided(1)", "Whole(1)"]
    assert keys(CellSelection("standard")) == ["Divided(1)", "Divided(2)", "Whole(1)"]
    assert keys(CellSelection("all")) == ["Divided(1)", "Divided(2)", "Divided(3)", "Whole(1)"]
    assert keys(CellSelection("quick"), "cuda") == ["Whole(1)", "OnGpu(1)"]


def test_patterns_find_cells_of_any_set_and_peers() -> None:
    assert keys(CellSelection("quick", (r"\(3\)", "Peer"))) == ["Divided(3)", "Peer(1)"]


def test_a_bad_pattern_is_refused() -> None:
    with pytest.raises(RequestError, match="no regular expression"):
        keys(CellSelection("quick", ("(",)))


PLAIN = [cell("time_a", device=None), cell("time_b", device=None)]
ONLY_ON_GPU = [cell("OnGpu(1)", device="cuda", sets=("nightly",)), *PLAIN]


@pytest.mark.parametrize(
    ("cells", "name", "message"),
    [
        (CELLS, "nightly", "no cell on cpu is in the set 'nightly'; the sets are quick, standard, all"),
        (CELLS[:3], "quik", "the sets are quick, standard, all"),
        (PLAIN, "nope", "there is no set 'nope': this suite has no sets, -b chooses cells by name"),
        (ONLY_ON_GPU, "nope", "no cell on cpu is in the set 'nope'; the sets are nightly, all"),
        ([], "nope", "this suite has no sets"),
    ],
)
def test_an_unknown_set_is_refused(cells: list[CellInfo], name: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        require_known_set(cells, CellSelection(name), device_type="cpu")


@pytest.mark.parametrize(
    ("cells", "selection"),
    [
        (CELLS, CellSelection("quick")),
        (CELLS, CellSelection("all")),
        (CELLS, CellSelection("nope", ("Whole",))),
        (PLAIN, CellSelection("standard")),
        (PLAIN, CellSelection("quick")),
        (ONLY_ON_GPU, CellSelection("nightly")),
    ],
)
def test_a_set_that_commands_ask_for_or_that_another_device_has_is_not(
    cells: list[CellInfo], selection: CellSelection
) -> None:
    require_known_set(cells, selection, device_type="cpu")
