"""A run as it could come from a GPU: real layers and times near those of real kernels, every verdict among them."""

import ast
from dataclasses import replace
from typing import Any

import msgspec
from fakes.records import FakeCell, always, o_proj_work, record

from solwatch.model.cell import CellInfo
from solwatch.model.config import CellOverride, Config
from solwatch.model.record import Record

LAYERS = {
    "llama-3-8b": (4096, 4096),
    "llama-3-70b": (8192, 8192),
    "qwen2.5-7b": (3584, 3584),
    "deepseek-v3": (16384, 7168),
    "gpt-oss": (4096, 2880),
    "jamba-3b": (2560, 2560),
    "qwen2.5-32b": (5120, 5120),
    "mixtral-8x22b": (6144, 6144),
}
TOKENS = (1, 16, 64, 256, 1024, 4096)

CONFIG = Config(cells=[CellOverride(match="*OProj(4096, 'gpt-oss')", sol_floor=0.9)])


def gpu_record(layers: int = 4, rounds: int = 16, *, alone: bool = False, config: Config = CONFIG) -> Record:
    """Return a record of ``layers`` × 6 cells and one peer."""
    cells = [_cell(tokens, name) for name in list(LAYERS)[:layers] for tokens in TOKENS]
    cells = [_special(index, cell) for index, cell in enumerate(cells)]
    peer = _cell(16, "llama-3-8b", suite="peers.AddMM")
    cells.append(FakeCell(key=peer.key, base_s=18.4e-6, work=peer.work, gated=False, launches=3, energy_j=5e-3))
    taken = record(cells, rounds=rounds, seed=20260304, alone=alone, config=config, stopped="budget")
    header = msgspec.structs.replace(taken.header, cells=[_with_params(info) for info in taken.header.cells])
    return msgspec.structs.replace(taken, header=header)


def _with_params(info: CellInfo) -> CellInfo:
    tokens, layer = ast.literal_eval(info.key[info.key.index("(") :])
    return msgspec.structs.replace(info, params=[repr(tokens), repr(layer)], param_names=["tokens", "layer"])


def _cell(tokens: int, layer: str, suite: str = "o_proj.OProj") -> FakeCell:
    k, n = LAYERS[layer]
    work = o_proj_work(tokens, k, n)
    compute_s, memory_s = work.flops / 800e12, work.traffic_bytes / 4.3e12
    base_s = 1.12 * max(compute_s, memory_s) + 3.4e-6
    return FakeCell(key=f"{suite}({tokens}, '{layer}')", base_s=base_s, work=work, energy_j=450 * base_s, spread=0.0012)


def _special(index: int, cell: FakeCell) -> FakeCell:
    changed: dict[int, dict[str, Any]] = {
        0: {"ratio": 1.031},
        2: {"ratio": 0.956},
        4: {"spread": 0.02},
        7: {"head_failures": always("wrong", "y[3, 17] is 0.4375, wanted 0.412 ± 0.011 (float64 reference)")},
        8: {"base_failures": always("missing", "fused_o_proj has no o_proj_residual")},
        9: {"voided": frozenset(range(9))},
        10: {"voided": frozenset({3})},
        13: {"fallback": "the call synchronises with the host", "launches": 2},
    }
    return replace(cell, **changed.get(index, {}))
