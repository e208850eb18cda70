"""Which peers there are, which cells they meet on, and who can't take part."""

import re
from collections.abc import Sequence

from benchmarks.layers import FULL_TOKENS, LAYERS
from benchmarks.peers.comparison.cublaslt import CublasLtPeer
from benchmarks.peers.comparison.cutlass import CutlassPeer
from benchmarks.peers.comparison.framework import Addmm, AddmmInPlace, Compiled, Op
from benchmarks.peers.comparison.peer import Case, Gpu, Peer
from benchmarks.peers.comparison.split_k import SplitKPeer
from solwatch.model.errors import RequestError

DTYPES = ("bfloat16", "float16")


def all_peers() -> list[Peer]:
    """Return everybody, the op first, in the table's order; nothing is loaded yet."""
    return [Op(), Addmm(), AddmmInPlace(), CublasLtPeer(), CutlassPeer(), SplitKPeer(), Compiled()]


def chosen_peers(names: str | None) -> list[Peer]:
    """Return the op and the peers that ``names`` lists (``addmm,cublasLt``), all of them for ``None``.

    Raises ``RequestError`` for a name that there is none of.
    """
    everybody = all_peers()
    if names is None:
        return everybody
    wanted = set(_listed(names))
    known = [peer.name for peer in everybody]
    for name in sorted(wanted - set(known)):
        raise RequestError(f"--peers {name}: there are {', '.join(known[1:])}")
    return [peer for peer in everybody if peer.name in wanted or isinstance(peer, Op)]


def chosen_cases(tokens: str | None, layers: str | None, dtype: str) -> list[Case]:
    """Return the cells: ``tokens`` (``1,16``; all of ``FULL_TOKENS`` for ``None``) × ``layers`` (all for ``None``).

    Raises ``RequestError`` for a number or a layer that makes no sense.
    """
    counts = [_positive(text) for text in _listed(tokens)] if tokens is not None else FULL_TOKENS
    names = _listed(layers) if layers is not None else list(LAYERS)
    for name in names:
        if name not in LAYERS:
            raise RequestError(f"--layers {name}: there are {', '.join(LAYERS)}")
    if not counts or not names:
        raise RequestError("no cell is chosen: give numbers to --tokens and names to --layers, or leave them out")
    return [Case(count, name, dtype) for name in names for count in counts]


def able(peers: Sequence[Peer], gpu: Gpu) -> tuple[list[Peer], dict[str, str]]:
    """Return the peers that can run on ``gpu``, and why each of the others can't."""
    obstacles = {peer.name: peer.obstacle(gpu) for peer in peers}
    left_out = {name: why for name, why in obstacles.items() if why is not None}
    return [peer for peer in peers if peer.name not in left_out], left_out


def _listed(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _positive(text: str) -> int:
    if not re.fullmatch(r"\d{1,6}", text) or int(text) == 0:
        raise RequestError(f"--tokens {text}: give numbers from 1 to 999999, separated by commas")
    return int(text)
