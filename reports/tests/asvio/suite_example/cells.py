# ruff: noqa: RUF012 - lists as class attributes are how asv wants parameters
from solwatch.model.cell import Cell, Work


class Suite:
    params = [[1, 16], ["llama", "gpt"]]
    param_names = ["tokens", "layer"]
    sets = {"quick": [(1, "llama")], "standard": [(1, "llama"), (16, "gpt")]}
    device = "cpu"
    gated = True
    version = "protocol-1"

    def cell(self, tokens, layer):
        if layer == "gpt" and tokens == 16:
            raise NotImplementedError("gpt is not for batches")
        if layer == "gpt":
            raise RuntimeError("broken cell")
        return Cell(
            make_inputs=lambda device, seed: {"tokens": tokens},
            call=lambda tokens: tokens,
            work=Work(flops=float(tokens), traffic_bytes=8.0, dtype="float32"),
            check=lambda **tensors: None,
        )

    def track_time(self, tokens, layer):
        raise AssertionError("solwatch measures the cell itself")

    track_sol_gap = track_time


class Peer(Suite):
    gated = False
    params = [[1], ["llama"]]
    sets = {}
