"""Finds a peer's best candidate: all are timed briefly, the fastest again at length; the first right one wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch

from benchmarks.peers.comparison.peer import Candidate, Case, Peer
from benchmarks.peers.comparison.result import Contender, Screened
from benchmarks.peers.comparison.watchdog import Watchdog
from benchmarks.projection import check_projection
from solwatch.device.detection import detect
from solwatch.device.events import event_samples
from solwatch.device.placement import Placement
from solwatch.device.preparing import poison
from solwatch.device.sampler import GATE_OPENED, Pace, Samples, gated_samples, plain_shots
from solwatch.device.stage import Stage
from solwatch.model.cell import Timer
from solwatch.model.errors import MachineError
from solwatch.model.raised import said
from solwatch.stats.centre import trimmed_mean

IN_PLACE = "inout"
"""The tensor that candidates in place overwrite: a copy of the residual."""

FINALISTS = 4
FINAL_BLOCKS = 3

LAUNCHES_GUESSED = 3
"""Launches of a candidate that nobody has looked at yet: slots are then met at random instead of in turn."""

_SAMPLE_S = 5e-6
"""What the sampler reckons a sample takes beside its call and two flushes."""

_CHUNKS = 6
"""Chunks that the sampler cuts its time into."""


@dataclass
class Turn:
    """A candidate ready to be timed: what a call takes and launches, and which timer can hold it."""

    peer: str
    candidate: Candidate
    call_s: float
    launches: int = LAUNCHES_GUESSED
    timer: str = Timer.HELD
    swept: list[Screened] = field(default_factory=list)


def block(stage: Stage, turn: Turn, sets: Sequence[Mapping[str, Any]]) -> Samples:
    """Take one block of cold samples; no set is called twice in it, so that what is in place starts from a residual.

    The sampler takes two chunks, four where one chunk is one sample, and calls the last set once before them.
    """
    if turn.candidate.in_place:
        torch._foreach_copy_([each[IN_PLACE] for each in sets], [each["residual"] for each in sets])
    shots = plain_shots(turn.candidate.call, sets)
    if turn.timer == Timer.EVENTS:
        return event_samples(stage, shots, 1, deadline=stage.clock())
    pace = Pace(number=1, launches=turn.launches, call_s=turn.call_s)
    chunk = max(1, (len(sets) - 1) // 3)
    target_s = (chunk + 0.01) * _CHUNKS * (2 * stage.flush_s + turn.call_s + _SAMPLE_S)
    return gated_samples(stage, shots, pace, deadline=stage.clock(), target_s=target_s)


def choose(stage: Stage, peer: Peer, case: Case, placement: Placement, watchdog: Watchdog) -> Turn | Contender | None:
    """Return the peer's best right candidate, the failure that took its place, or ``None`` if it does not take part.

    Raises ``MachineError`` when a candidate has broken the CUDA context.
    """
    try:
        candidates = peer.candidates(case)
    except Exception as error:  # a peer's trouble is a finding about the peer; the others go on
        _require_working(stage, f"{peer.name}, {case}", error)
        return Contender(peer=peer.name, failure=said(error))
    if not candidates:
        return None
    sets = placement.draw()
    screened = []
    for each in candidates:
        with watchdog.watching(f"{peer.name}, {each.name}, {case}", peer.limit_s):
            screened.append(_screened(stage, peer, each, sets))
    swept = {one.name: told for one, (told, _) in zip(candidates, screened, strict=True)}
    ready = sorted((turn for _, turn in screened if turn is not None), key=_call_s)
    finalists = ready[:FINALISTS]
    if len(finalists) > 1:
        _retime(stage, finalists, placement)
        finalists.sort(key=_call_s)
        sets = placement.draw()
    for turn in [*finalists, *ready[FINALISTS:]]:
        failure = _wrong(turn, sets) or _unheld(stage, turn, sets)
        if failure is None:
            turn.swept = list(swept.values()) if len(swept) > 1 else []
            return turn
        swept[turn.candidate.name] = msgspec.structs.replace(swept[turn.candidate.name], failure=failure)
    failures = [told.failure for told in swept.values() if told.failure]
    return Contender(peer=peer.name, swept=list(swept.values()), failure=f"no candidate works: {failures[0]}")


def _screened(
    stage: Stage, peer: Peer, candidate: Candidate, sets: Sequence[Mapping[str, Any]]
) -> tuple[Screened, Turn | None]:
    """Call a candidate so that all it needs is compiled and loaded, then time one block of it."""
    try:
        for _ in range(2):
            candidate.call(**sets[0])
        stage.synchronize()
        started = stage.mark()
        candidate.call(**sets[1])
        ended = stage.mark()
        stage.synchronize()
        stage.recycle(started, ended)
        turn = Turn(peer.name, candidate, stage.seconds(started, ended))
        taken = block(stage, turn, sets)
    except Exception as error:
        _require_working(stage, f"{peer.name}, {candidate.name}", error)
        return Screened(name=candidate.name, time_s=None, failure=said(error)), None
    if GATE_OPENED in taken.voids:
        waits = "the call waits for the stream that it runs on"
        return Screened(name=candidate.name, time_s=None, failure=waits), None
    turn.call_s = trimmed_mean(taken.samples_s) or turn.call_s
    return Screened(name=candidate.name, time_s=turn.call_s), turn


def _retime(stage: Stage, turns: Sequence[Turn], placement: Placement) -> None:
    """Time ``turns`` again, taking turns, from buffers at new places."""
    samples: dict[str, list[float]] = {turn.candidate.name: [] for turn in turns}
    for _ in range(FINAL_BLOCKS):
        sets = placement.draw()
        for turn in turns:
            samples[turn.candidate.name] += block(stage, turn, sets).samples_s
    for turn in turns:
        turn.call_s = trimmed_mean(samples[turn.candidate.name]) or turn.call_s


def _wrong(turn: Turn, sets: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the result of a call is wrong; its output is poisoned before."""
    tensors = sets[0]
    poison(tensors)
    tensors[IN_PLACE].copy_(tensors["residual"])
    result = turn.candidate.call(**tensors)
    try:
        check_projection(tensors["attn_output"], tensors["residual"], tensors["o_proj_weight"], result)
    except AssertionError as error:
        return said(error)
    return None


def _unheld(stage: Stage, turn: Turn, sets: Sequence[Mapping[str, Any]]) -> str | None:
    """Count the call's launches and see whether a closed gate can hold it; return why nothing can time it."""
    source = {name: tensor.clone() for name, tensor in sets[0].items()}
    found = detect(stage, turn.candidate.call, sets[0], source)
    if found.escapes:
        return found.obstacle
    if found.obstacle is not None:
        turn.timer = Timer.EVENTS
    turn.launches = found.launches or LAUNCHES_GUESSED
    return None


def _require_working(stage: Stage, what: str, error: Exception) -> None:
    """Raise ``MachineError`` when ``error`` has left the device unusable."""
    try:
        stage.synchronize()
    except Exception as broken:
        raise MachineError(
            f"{what} has broken the CUDA context ({said(error)}): leave it out with --peers; cells before it are kept"
        ) from broken


def _call_s(turn: Turn) -> float:
    return turn.call_s
