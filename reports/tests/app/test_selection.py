"""Which cells a command measures."""

import pytest

from solwatch.app.selection import select
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


def test_an_unknown_set_and_a_bad_pattern_are_refused() -> None:
    with pytest.raises(RequestError, match="'nightly'; the sets are quick, standard, all"):
        keys(CellSelection("nightly"))
    with pytest.raises(RequestError, match="no regular expression"):
        keys(CellSelection("quick", ("(",)))
