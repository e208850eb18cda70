"""Gates on a real GPU: a cell that goes wrong there is that cell's business and nobody else's."""

from typing import Any

import pytest

from solwatch.device.resolving import visible_gpus
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import Reason, Verdict

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(visible_gpus() == 0, reason="no GPU"),
]

SUITE = """
import solwatch.suite

class Toy(solwatch.suite.GpuSuite):
    param_names = ["kind"]
    params = [["fine", "too_large", "hangs", "crashes", "elsewhere", "waits"]]

    def setup_cache(self):
        return self.measure()

    def cell(self, kind):
        def make_inputs(device, seed):
            import torch
            x = torch.ones(1 << 20, device=device)
            return {"x": x, "out": torch.empty_like(x)}

        def call(x, out):
            import toy
            toy.double(x, out, kind)

        def check(x, out):
            import torch
            torch.cuda.synchronize()
            assert bool((out == x * 2).all()), "out is not 2 x"

        work = solwatch.suite.Work(flops=1 << 20, traffic_bytes=8.0 * (1 << 20), dtype="float32")
        return solwatch.suite.Cell(make_inputs=make_inputs, call=call, work=work, check=check)
"""
WELL_BEHAVED = """
import torch

def double(x, out, kind):
    torch.mul(x, 2, out=out)
"""
MISBEHAVING = """
import torch

SIDE = []

def double(x, out, kind):
    if kind == "too_large":
        torch.empty(1 << 42, dtype=torch.uint8, device=x.device)
    if kind == "hangs":
        torch.cuda._sleep(1 << 50)
    if kind == "crashes":
        x[torch.tensor([x.numel()], device=x.device)]
        torch.cuda.synchronize()
    if kind == "elsewhere":
        if not SIDE:
            SIDE.append(torch.cuda.Stream())
        with torch.cuda.stream(SIDE[0]):
            torch.mul(x, 2, out=out)
        return
    torch.mul(x, 2, out=out)
    if kind == "waits":
        torch.cuda.synchronize()
"""
CONFIG = 'build_inputs = ["setup.py", "toy"]\nrounds = [5]\nhang_s = 25\n'


def test_each_misbehaving_cell_is_named_and_the_others_are_measured(toy: Any) -> None:
    toy.commit("well behaved", op=WELL_BEHAVED, suite=SUITE, config=CONFIG)
    toy.commit("misbehaving", op=MISBEHAVING)
    outcome = toy.compare("HEAD~1", device="cuda", rounds=2)
    by_kind = {cell.key.split("'")[1]: cell for cell in outcome.judgement.verdicts if "'" in cell.key}
    assert by_kind["too_large"].reason is Reason.OUT_OF_MEMORY
    assert by_kind["hangs"].reason is Reason.HUNG
    assert by_kind["crashes"].verdict is Verdict.BROKEN
    assert by_kind["fine"].verdict is not Verdict.BROKEN
    last = {cell.key.split("'")[1]: cell.head for cell in outcome.record.rounds[-1].cells}
    assert last["fine"].blocks[0].timer == "held"
    assert last["fine"].blocks[0].launches == 1
    assert last["elsewhere"].blocks[0].timer == "wall"
    assert "another stream" in (last["elsewhere"].blocks[0].fallback or "")
    assert last["waits"].blocks[0].timer == "events"
    assert "synchronises" in (last["waits"].blocks[0].fallback or "")
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    assert outcome.record.header.fingerprint.device == "cuda"
