"""Rounds as a corpus keeps them: small, and still what was measured."""

import math
from pathlib import Path

import msgspec
import pytest
from fakes.corpora import corpus, write
from fakes.records import FakeCell, always, record

from solwatch.app.condensing import condensed, expanded, record_of, replayed
from solwatch.judge.series import rounds_by_cell, series
from solwatch.model.cell import CellInfo
from solwatch.model.errors import RequestError
from solwatch.model.record import Block, CellRound, Record, Round, Side, Telemetry

CELLS = [CellInfo(key="a", benchmark="a", params=[], param_names=[], kind="suite")]


def round_of(*blocks: Block, cells: list[CellInfo] = CELLS) -> Round:
    both = CellRound(key="a", head=Side(blocks=list(blocks)), base=Side(blocks=list(blocks)))
    return Round(index=4, head_slot=1, started_at="then", wall_s=1.23456, cells=[both])


def test_a_block_becomes_its_centre_its_spread_and_its_count() -> None:
    samples_s = [1e-6 * value for value in (1, 10, 11, 12, 99)]
    before = Telemetry(power_w=400, temperature_c=50, throttle_reasons=1)
    after = Telemetry(power_w=403, temperature_c=52, throttle_reasons=4)
    block = Block(
        samples_s=samples_s, null_s=[3e-6, 3.3e-6], number=8, timer="held", launches=2, sm_clock_hz=1.755e9,
        before=before, after=after,
    )  # fmt: skip
    kept = condensed(round_of(block), CELLS)
    assert (kept.time_ns, kept.null_ns, kept.samples, kept.unrolled) == (11000, 3150, 5, 8)
    assert (kept.timer, kept.launches, kept.sm_clock_mhz, kept.throttle_reasons) == ("held", 2, 1755, 5)
    assert (kept.power_w, kept.temperature_c, kept.blocks) == (402, 51, 1)
    assert (kept.index, kept.head_slot, kept.started_at, kept.wall_s, kept.order) == (4, 1, "then", 1.235, [0])


def test_a_value_that_is_no_time_keeps_its_unit_and_what_is_not_finite_is_absent() -> None:
    cells = [msgspec.structs.replace(CELLS[0], unit="bytes")]
    blocks = [Block(samples_s=[value], null_s=[], number=1, timer="wall") for value in (4096.0, math.nan, 1e308)]
    kept = condensed(round_of(*blocks), cells)
    assert kept.time_ns == [[[4096, None, 1e308], [4096, None, 1e308]]]
    assert condensed(round_of(*blocks), CELLS).time_ns == [[[4096e9, None, None], [4096e9, None, None]]]
    back = expanded(msgspec.json.decode(msgspec.json.encode(kept), type=type(kept)), cells)
    assert [block.samples_s for block in back.cells[0].head.blocks] == [[4096.0], [], [1e308]]


def judged(one: Record) -> dict[str, list[float | None]]:
    return {key: [fact.log_ratio for fact in series(rounds)] for key, rounds in rounds_by_cell(one).items()}


CELLS_OF_ALL_KINDS = [
    FakeCell(key="plain"),
    FakeCell(key="failed", head_failures=always("hung", "no answer for 4 s")),
    FakeCell(key="failed once", base_failures=always("died", "SIGKILL", rounds=1), launches=None),
    FakeCell(key="void", voided=frozenset({1, 2}), fallback="the call synchronises"),
]


def test_a_replayed_corpus_says_of_every_round_what_the_record_said() -> None:
    made = corpus(CELLS_OF_ALL_KINDS, rounds=5)
    before = record(CELLS_OF_ALL_KINDS, rounds=5, samples=80)
    after = record_of(made)
    assert judged(after).keys() == judged(before).keys()
    for key, ratios in judged(before).items():
        for was, now in zip(ratios, judged(after)[key], strict=True):
            assert (was is None) == (now is None)
            assert now == pytest.approx(was, abs=1e-3)
    for was_round, now_round in zip(before.rounds, after.rounds, strict=True):
        for was_cell, now_cell in zip(was_round.cells, now_round.cells, strict=True):
            assert was_cell.base is not None
            assert now_cell.base is not None
            for was_side, now_side in ((was_cell.head, now_cell.head), (was_cell.base, now_cell.base)):
                assert (was_side.failure, was_side.caches) == (now_side.failure, now_side.caches)
                assert [b.voids for b in was_side.blocks] == [b.voids for b in now_side.blocks]
                assert [b.launches for b in was_side.blocks] == [b.launches for b in now_side.blocks]
                assert [b.fallback for b in was_side.blocks] == [b.fallback for b in now_side.blocks]


def test_a_round_of_12_cells_and_4_blocks_a_side_takes_3_kb() -> None:
    cells = [FakeCell(key=f"o_proj.OProj({tokens}, 'llama-3-8b')", base_s=tokens * 3e-6) for tokens in range(1, 13)]
    made = record(cells, rounds=1, samples=160)
    each = made.rounds[0]
    doubled = [
        CellRound(key=cell.key, head=twice(cell.head), base=twice(cell.base) if cell.base else None)
        for cell in each.cells
    ]
    kept = condensed(msgspec.structs.replace(each, cells=doubled), made.header.cells)
    assert per_round_bytes(kept) <= 3000


def twice(side: Side) -> Side:
    """Return the side with four blocks instead of two, all different."""
    more = [
        msgspec.structs.replace(
            block,
            samples_s=[sample * 1.0003 for sample in block.samples_s],
            null_s=[sample * 1.0003 for sample in block.null_s],
            sm_clock_hz=(block.sm_clock_hz or 0) - 3.1e6,
        )
        for block in side.blocks
    ]
    return msgspec.structs.replace(side, blocks=[*side.blocks, *more])


def per_round_bytes(kept: object) -> int:
    return len(msgspec.json.encode(kept)) + 1


def test_columns_that_do_not_agree_are_one_line(tmp_path: Path) -> None:
    made = corpus([FakeCell(key="a"), FakeCell(key="b")], rounds=2)
    for wrong, message in (({"launches": [1, 2, 3]}, "3 cells, wanted 2"), ({"order": [0, 7]}, "line 3: not a round")):
        bad = msgspec.structs.replace(made.rounds[1], **wrong)
        path = write(tmp_path / "a.jsonl", msgspec.structs.replace(made, rounds=[made.rounds[0], bad]))
        with pytest.raises(RequestError, match=message):
            replayed(path)
        path.unlink()
