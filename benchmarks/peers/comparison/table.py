"""The comparison as one table of text, and the means below it."""

import math
from collections.abc import Iterable

from benchmarks.peers.comparison.result import CellResult, Comparison, Contender
from solwatch.render.tables import text_table
from solwatch.render.units import ABSENT

OP = "op"
BEST = "best peer"
ADDMM = "addmm"
CLOSE = 0.97
"""A peer that is faster than the op by more than this leaves room for is named."""

_WIDTH = 240


def speed(cell: CellResult, peer: str) -> float | None:
    """Return the op's speed over the peer's: the peer's time / the op's, above 1 where the op is faster."""
    op_s, peer_s = cell.seconds(OP), best_s(cell) if peer == BEST else cell.seconds(peer)
    return peer_s / op_s if op_s and peer_s else None


def best_s(cell: CellResult) -> float | None:
    """Return the least time of all peers."""
    return min((one.time_s for one in cell.contenders if one.peer != OP and one.time_s), default=None)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of those that are there."""
    known = [value for value in values if value]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known else None


def render(comparison: Comparison) -> str:
    """Return the cells' table, the means over layers for each number of tokens, and the scores over the grid."""
    parts = [
        f"{comparison.fingerprint.model}, {comparison.dtype}, cold L2, {comparison.rounds} rounds; each contender: "
        "µs (SOL score), and the op's speed over the peer's (above 1: the op is faster)",
        _cells(comparison),
        "Speed of the op, geometric means over the layers",
        _means(comparison),
        "SOL score, geometric means over the grid",
        _scores(comparison),
    ]
    slower = [line for cell in comparison.cells if (line := _behind(cell))]
    if slower:
        parts.append("\n".join([f"Cells where a peer is ahead: op's speed below {CLOSE}", *slower]))
    parts += [f"{peer}: left out: {why}" for peer, why in comparison.left_out.items()]
    parts += [_failed(cell, one) for cell in comparison.cells for one in cell.contenders if one.failure]
    if comparison.stopped is not None:
        parts.append(f"stopped after {len(comparison.cells)} cells: {comparison.stopped}")
    return "\n\n".join(parts)


def _cells(comparison: Comparison) -> str:
    others = [peer for peer in comparison.peers if peer != OP]
    titles = ["layer", "tokens", OP, *(title for peer in others for title in (peer, "×"))]
    rows = [
        [
            cell.layer,
            str(cell.tokens),
            _timed(cell.of(OP)),
            *(text for peer in others for text in (_timed(cell.of(peer)), _ratio(speed(cell, peer)))),
        ]
        for cell in comparison.cells
    ]
    return text_table(titles, rows, width=_WIDTH)


def _means(comparison: Comparison) -> str:
    peers = [peer for peer in comparison.peers if peer != OP]
    rows = []
    for tokens in sorted({cell.tokens for cell in comparison.cells}):
        cells = [cell for cell in comparison.cells if cell.tokens == tokens]
        speeds = [geometric_mean(speed(cell, peer) for cell in cells) for peer in (*peers, BEST)]
        least = min((found for cell in cells if (found := speed(cell, BEST))), default=None)
        rows.append([str(tokens), str(len(cells)), *map(_ratio, speeds), _ratio(least)])
    return text_table(["tokens", "cells", *(f"÷ {peer}" for peer in (*peers, BEST)), "least"], rows, width=_WIDTH)


def _scores(comparison: Comparison) -> str:
    rows = []
    for peer in comparison.peers:
        cells = [cell for cell in comparison.cells if _score(cell, peer)]
        means = [geometric_mean(_score(cell, name) for cell in cells) for name in (peer, OP)]
        rows.append([peer, *map(_ratio, means), str(len(cells))])
    return text_table(["", "score", "the op's there", "cells"], rows, width=_WIDTH)


def _score(cell: CellResult, peer: str) -> float | None:
    found = cell.of(peer)
    return found.sol_score if found else None


def _behind(cell: CellResult) -> str | None:
    found = speed(cell, BEST)
    if found is None or found >= CLOSE:
        return None
    best = min((one for one in cell.contenders if one.peer != OP and one.time_s), key=_time_s)
    return f"  {cell.tokens} × {cell.layer}: {found:.3f} of {best.peer} ({best.candidate})"


def _time_s(contender: Contender) -> float:
    return contender.time_s or math.inf


def _timed(contender: Contender | None) -> str:
    if contender is None or contender.time_s is None:
        return ABSENT
    score = "" if contender.sol_score is None else f" ({contender.sol_score:.2f})"
    return f"{contender.time_s * 1e6:.2f}{score}"


def _failed(cell: CellResult, contender: Contender) -> str:
    return f"{cell.tokens} × {cell.layer}, {contender.peer}: {contender.failure}"


def _ratio(value: float | None, digits: int = 3) -> str:
    return ABSENT if value is None else f"{value:.{digits}f}"
