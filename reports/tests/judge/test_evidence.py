"""What stands beside a verdict: what a call launches on either side."""

from typing import Any

import msgspec
import pytest
from fakes.records import FakeCell, record

from solwatch.judge.judging import judge
from solwatch.model.record import Record


def with_launches(taken: Record, head: int | None) -> Record:
    """Return ``taken`` with another count of launches in head."""

    def changed(cell: Any) -> Any:
        blocks = [msgspec.structs.replace(block, launches=head) for block in cell.head.blocks]
        return msgspec.structs.replace(cell, head=msgspec.structs.replace(cell.head, blocks=blocks))

    rounds = [msgspec.structs.replace(one, cells=[changed(cell) for cell in one.cells]) for one in taken.rounds]
    return msgspec.structs.replace(taken, rounds=rounds)


@pytest.mark.parametrize(
    ("head", "said"),
    [(3, "one call launches 3 kernels in head, 2 in base (launches_changed)"), (2, None), (None, None)],
)
def test_a_launch_count_that_changes_is_said(head: int | None, said: str | None) -> None:
    taken = with_launches(record([FakeCell(key="a", launches=2)]), head)
    sentences = [line for line in judge(taken).verdicts[0].evidence if "launches" in line]
    assert sentences == ([said] if said else [])
