"""Gates of one build against itself that really ran: one entry a gate, kept beside the corpus."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from replays.bounds import upper_rate
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.model.errors import RequestError
from solwatch.model.verdict import Verdict
from solwatch.workspace.files import read_whole, write_atomically


class LiveGate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One gate whose sides were one build. ``date``: when it began, UTC; with ``machine`` it tells gates apart.

    ``cells``: gated ones, the null kernel left out; ``rounds``: completed; ``suspects``: cells that the screen sent to
    fresh rounds, the null kernel among them; ``slower``: those that these confirmed, each of them a false alarm.
    """

    date: str
    machine: str
    card: str
    cells: int
    rounds: int
    suspects: int
    slower: int


class _Build(msgspec.Struct):
    build: str | None = None


class _Fingerprint(msgspec.Struct):
    model: str


class _Header(msgspec.Struct):
    created_at: str
    machine: str
    fingerprint: _Fingerprint
    head: _Build
    base: _Build | None


class _Cell(msgspec.Struct):
    key: str
    verdict: Verdict
    gated: bool


class _Thresholds(msgspec.Struct):
    gated: bool


class _Facts(msgspec.Struct):
    suspected_at: int | None
    thresholds: _Thresholds


class _Judgement(msgspec.Struct):
    verdicts: list[_Cell]
    facts: dict[str, _Facts]
    completed: int


class _Report(msgspec.Struct):
    header: _Header
    judgement: _Judgement


def live_gates(path: Path) -> list[LiveGate]:
    """Return the gates that ``path`` lists, none where there is no file; raises ``RequestError`` for anything else."""
    if not path.exists():
        return []
    try:
        return msgspec.json.decode(read_whole(path), type=list[LiveGate])
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError(f"{path}: not a list of live gates ({error})") from error


def gate_of(path: Path) -> LiveGate:
    """Return the entry of one report.json; raises ``RequestError`` when it is no report of an A/A gate."""
    try:
        report = msgspec.json.decode(read_whole(path), type=_Report)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestError(f"{path}: not a report of this solwatch ({error}): make it anew with report FILE") from error
    header, judgement = report.header, report.judgement
    if header.base is None or header.head.build is None or header.head.build != header.base.build:
        raise RequestError(f"{path}: its sides are not one build: gate a commit against itself")
    gated = [cell for cell in judgement.verdicts if cell.gated]
    return LiveGate(
        date=header.created_at,
        machine=header.machine,
        card=header.fingerprint.model,
        cells=sum(cell.key != NULL_KERNEL for cell in gated),
        rounds=judgement.completed,
        # The null kernel is one of the family, though its verdict is gated only when it is slower; peers are not.
        suspects=sum(facts.thresholds.gated and facts.suspected_at is not None for facts in judgement.facts.values()),
        slower=sum(cell.verdict is Verdict.SLOWER for cell in gated),
    )


def append(path: Path, found: Sequence[LiveGate]) -> int:
    """Add the gates that ``path`` lacks, in order of their dates; return how many there were."""
    listed = live_gates(path)
    known = {(gate.date, gate.machine) for gate in listed}
    new = {(gate.date, gate.machine): gate for gate in found if (gate.date, gate.machine) not in known}
    if new:
        gates = sorted([*listed, *new.values()], key=lambda gate: (gate.date, gate.machine))
        write_atomically(path, b"[\n " + b",\n ".join(map(msgspec.json.encode, gates)) + b"\n]\n")
    return len(new)


def live_line(gates: Sequence[LiveGate]) -> str:
    """Return how many gates there were and what they came to, in one line."""
    if not gates:
        return "none recorded"
    count, suspects = len(gates), sum(gate.suspects for gate in gates)
    return (
        f"{count} on {', '.join(sorted({gate.card for gate in gates}))}; "
        f"{sum(gate.slower > 0 for gate in gates)} with a false alarm; suspects a gate {suspects / count:.3f} "
        f"(95 % bound {upper_rate(suspects, count):.3f})"
    )
