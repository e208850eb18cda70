"""Records made of chosen times, for tests of what is concluded from them and how it is shown."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import msgspec

from solwatch.model.acceptance import Acceptance
from solwatch.model.cell import CellInfo, Work
from solwatch.model.config import Config
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.identity import Identity
from solwatch.model.record import (
    Block,
    Ceilings,
    CellRound,
    Commit,
    Failure,
    Record,
    RecordEnd,
    RecordHeader,
    Round,
    Side,
    Telemetry,
)

H200 = Fingerprint(
    device="cuda",
    model="NVIDIA H200",
    driver="580.159.03",
    vbios="96.00.C5.00.01",
    power_limit_w=700.0,
    ecc=True,
    clock_lock=None,
    cuda="13.0",
    torch="2.13.0",
    protocol=1,
    uuid="GPU-0f1e2d3c",
)
H200_CEILINGS = Ceilings(
    rated_flops={"bfloat16": 1070e12, "float16": 1070e12},
    rated_bandwidth=4.81e12,
    rated_clock_hz=1.98e9,
    sustained_flops={"bfloat16": 785e12, "float16": 790e12},
    sustained_bandwidth=4.27e12,
    source="clocks and widths that the driver reports",
    verified=True,
)
CPU = Fingerprint(
    device="cpu",
    model="a processor of two cores",
    driver=None,
    vbios=None,
    power_limit_w=None,
    ecc=None,
    clock_lock=None,
    cuda=None,
    torch="2.13.0",
    protocol=1,
)
CPU_CEILINGS = Ceilings(
    sustained_flops={"bfloat16": 60e9, "float32": 90e9}, sustained_bandwidth=12e9, source="measured: GEMM and copy"
)


@dataclass(frozen=True, kw_only=True)
class FakeCell:
    """A cell whose times are chosen.

    ``ratio``: the true head / base. ``spread``: standard deviation of a side's log time from round to round.
    ``failures``: round index to failure, for each side. ``voided``: rounds in which head's blocks are void.
    """

    key: str
    base_s: float = 20e-6
    ratio: float = 1.0
    spread: float = 0.0015
    work: Work | None = None
    kind: str = "suite"
    unit: str = "seconds"
    gated: bool = True
    head_failures: dict[int, Failure] = field(default_factory=dict)
    base_failures: dict[int, Failure] = field(default_factory=dict)
    voided: frozenset[int] = frozenset()
    fallback: str | None = None
    launches: int | None = 1
    energy_j: float | None = None
    throttle_reasons: int = 0x4
    head_null_s: float = 3.32e-6


def always(kind: str, message: str, rounds: int = 100) -> dict[int, Failure]:
    """Return a failure for every round."""
    return dict.fromkeys(range(rounds), Failure(kind=kind, message=message))


def o_proj_work(tokens: int, k: int, n: int, dtype: str = "bfloat16") -> Work:
    """Return the work of one fused output projection."""
    return Work(flops=2.0 * tokens * k * n, traffic_bytes=2.0 * (n * k + tokens * k + 2 * tokens * n), dtype=dtype)


def record(
    cells: Sequence[FakeCell],
    *,
    rounds: int = 16,
    seed: int = 1,
    config: Config | None = None,
    alone: bool = False,
    fingerprint: Fingerprint = H200,
    ceilings: Ceilings = H200_CEILINGS,
    stopped: str | None = "decided",
    head: Commit | None = None,
    base: Commit | None = None,
    samples: int = 24,
    notes: Sequence[str] = (),
    identity: Identity | None = None,
) -> Record:
    """Return a record of ``rounds`` rounds of ``cells``; the same seed gives the same record.

    The cells that ``identity`` leaves unmeasured have no rounds.
    """
    measured = [cell for cell in cells if identity is None or cell.key not in identity.unmeasured]
    dice = random.Random(seed)
    made = [
        Round(
            index=index,
            head_slot=dice.randrange(2),
            started_at=f"2026-03-04T05:{index:02d}:00Z",
            wall_s=9.5,
            cells=[_cell_round(cell, index, dice, alone=alone, samples=samples) for cell in measured],
        )
        for index in range(rounds)
    ]
    header = RecordHeader(
        schema=1,
        solwatch="0.1.0",
        command="solwatch run" if alone else "solwatch gate main HEAD",
        created_at="2026-03-04T05:00:00Z",
        machine="gpu-runner-3",
        seed=seed,
        head=head or commit("4be1c0ffee", "HEAD", "Split the reduction along K for decode shapes"),
        base=None if alone else (base or commit("9a7e5eed00", "main", "Keep the residual tile in registers")),
        config=config or Config(),
        fingerprint=fingerprint,
        ceilings=ceilings,
        cells=[_info(cell) for cell in cells],
        work={cell.key: cell.work for cell in cells if cell.work is not None},
        notes=list(notes),
        identity=identity,
    )
    end = RecordEnd(stopped=stopped, wall_s=9.5 * rounds) if stopped else None
    return Record(header=header, rounds=made, end=end)


def acceptance(cell: str = "a", share: float = 0.03, expires: date = date(2026, 5, 1)) -> Acceptance:
    """Return an acceptance of 1 February 2026."""
    return Acceptance(
        cell=cell,
        max=share,
        reason="exact rounding",
        owner="Ada",
        commit="0" * 40,
        created=date(2026, 2, 1),
        expires=expires,
    )


def accepting(taken: Record, *entries: Acceptance, **header: Any) -> Record:
    """Return ``taken``, which is of 4 March 2026, with ``entries`` between its base and its head."""
    return msgspec.structs.replace(
        taken, header=msgspec.structs.replace(taken.header, accepted=list(entries), **header)
    )


def commit(start: str, name: str, subject: str) -> Commit:
    """Return a commit whose full name begins with ``start``."""
    return Commit(
        sha=(start * 4)[:40],
        name=name,
        subject=subject,
        committed_at="2026-03-03T12:00:00+01:00",
        build=f"build-{start}",
    )


def _info(cell: FakeCell) -> CellInfo:
    return CellInfo(
        key=cell.key,
        benchmark=cell.key.split("(")[0],
        params=[],
        param_names=[],
        kind=cell.kind,
        gated=cell.gated,
        unit=cell.unit,
    )


def _cell_round(cell: FakeCell, index: int, dice: random.Random, *, alone: bool, samples: int) -> CellRound:
    base = None
    if not alone:
        base = _side(cell, cell.base_s, 3.32e-6, cell.base_failures.get(index), dice, samples, void=False)
    head = _side(
        cell,
        cell.base_s * cell.ratio,
        cell.head_null_s,
        cell.head_failures.get(index),
        dice,
        samples,
        void=index in cell.voided,
    )
    return CellRound(key=cell.key, head=head, base=base)


def _side(
    cell: FakeCell,
    time_s: float,
    null_s: float,
    failure: Failure | None,
    dice: random.Random,
    samples: int,
    *,
    void: bool,
) -> Side:
    if failure is not None:
        return Side(failure=failure)
    centre_s = time_s * math.exp(dice.gauss(0, cell.spread))
    blocks = [_block(cell, centre_s, null_s, dice, samples // 2, void=void) for _ in range(2)]
    energy_j = cell.energy_j * math.exp(dice.gauss(0, 0.01)) if cell.energy_j else None
    return Side(blocks=blocks, energy_j=energy_j, hot_s=0.8 * centre_s if energy_j else None, caches="c0ffee")


def _block(cell: FakeCell, centre_s: float, null_s: float, dice: random.Random, samples: int, *, void: bool) -> Block:
    null_s = dice.gauss(null_s, 0.04e-6)
    reading = Telemetry(
        sm_clock_hz=1.755e9,
        power_w=dice.gauss(480, 20),
        temperature_c=round(dice.gauss(54, 2)),
        throttle_reasons=cell.throttle_reasons,
    )
    return Block(
        samples_s=[centre_s * math.exp(dice.gauss(0, 0.002)) for _ in range(samples)],
        null_s=[null_s] * 4,
        number=1,
        timer="events" if cell.fallback else "held",
        fallback=cell.fallback,
        launches=cell.launches,
        sm_clock_hz=dice.gauss(1.755e9, 1e7),
        before=reading,
        after=reading,
        voids=["the clock fell to 1.2 GHz, under 75 % of 1.98 GHz: hardware thermal slowdown"] if void else [],
    )
