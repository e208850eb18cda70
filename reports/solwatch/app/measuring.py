"""Rounds until everything is decided, the budget is spent or the last look is done; each kept as it ends."""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from solwatch.app.rounds import Plan
from solwatch.app.sides import Bench, Side
from solwatch.app.spread import Spread
from solwatch.app.survey import Survey
from solwatch.judge.pacing import pace
from solwatch.model.cell import CellInfo
from solwatch.model.ports import Clock
from solwatch.model.record import CellRound, Record, RecordEnd, RecordHeader, Round
from solwatch.model.record import Side as SideRecord


class Progress(Protocol):
    """Where the cell, the round and the time left are shown."""

    def round(self, index: int) -> None:
        """Say that a round begins."""

    def cell(self, key: str) -> None:
        """Say that a cell begins."""


class RoundWriter(Protocol):
    """Where completed rounds are kept."""

    def append(self, completed: Round) -> None:
        """Keep one round, durably."""

    def finish(self, end: RecordEnd) -> None:
        """Say why measuring stopped."""


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What a run or a gate hands over to be measured, and on which benches: one for each GPU."""

    benches: Sequence[Bench]
    head: Side
    base: Side | None
    survey: Survey
    header: RecordHeader
    plan: Plan
    most_rounds: int


def measure(job: Measuring, writer: RoundWriter, progress: Progress, *, clock: Clock) -> Record:
    """Measure round after round and return the record; an interruption is recorded and passed on."""
    started_s = clock.monotonic()
    rounds: list[Round] = []

    def record(stopped: str | None = None) -> Record:
        end = RecordEnd(stopped=stopped, wall_s=clock.monotonic() - started_s) if stopped else None
        return Record(header=job.header, rounds=rounds, end=end)

    stopped = "error"
    try:
        with Spread(
            job.benches, job.head, job.base, clock=clock, most_rounds=job.most_rounds, on_cell=progress.cell
        ) as runner:
            while True:
                step = pace(record(), elapsed_s=clock.monotonic() - started_s)
                if step.stop or len(rounds) >= job.most_rounds:
                    stopped = step.stop or "rounds"
                    break
                progress.round(len(rounds))
                plan = functools.partial(_plan, job, retry_until_s=started_s + job.header.config.budget_s)
                for completed in runner.run(_cells(job, step.open_keys), plan):
                    rounds.append(with_vanished(completed, job.survey))
                    writer.append(rounds[-1])
    except KeyboardInterrupt:
        stopped = "interrupted"
        raise
    finally:
        writer.finish(RecordEnd(stopped=stopped, wall_s=clock.monotonic() - started_s))
    return record(stopped)


def _plan(job: Measuring, index: int, *, retry_until_s: float) -> Plan:
    # Energy is read once: its hot loop takes longer than all the rounds of a cell.
    energy_s = job.plan.energy_s if index == 0 else None
    more = index + len(job.benches) < job.most_rounds
    return dataclasses.replace(job.plan, energy_s=energy_s, retry_until_s=retry_until_s, more=more)


def _cells(job: Measuring, keys: Sequence[str]) -> list[CellInfo]:
    wanted = set(keys)
    return [cell for cell in job.survey.cells if cell.key in wanted]


def with_vanished(completed: Round, found: Survey) -> Round:
    """Return the first round with the cells that head lacks as head's failures; any other as it is."""
    if completed.index == 0:
        completed.cells.extend(
            CellRound(key=each.info.key, head=SideRecord(failure=each.failure), base=SideRecord())
            for each in found.vanished
        )
    return completed
