"""Who takes part, where, and what importing the comparison costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.layers import FULL_TOKENS, LAYERS
from benchmarks.peers.comparison import field, framework
from benchmarks.peers.comparison.peer import Case, Gpu
from solwatch.model.errors import RequestError

ROOT = Path(__file__).parents[3]
HOPPER = Gpu(0, (9, 0), 132)

DISCOVERING = """
import sys
from pathlib import Path
from solwatch.asvio.discovery import discover
found = discover(str(Path.cwd() / "benchmarks"))
assert not found.import_failures, found.import_failures
assert not {"torch", "triton", "pytest"} & set(sys.modules), "the suite imports too much"
assert not [name for name in sys.modules if name.startswith("benchmarks.peers.comparison")], "and its own tools"
print(*sorted({cell.benchmark for cell in found.infos if cell.benchmark.startswith("peers")}))
"""


def test_discovery_finds_the_suites_peers_alone_and_imports_no_torch() -> None:
    found = subprocess.run(
        [sys.executable, "-c", DISCOVERING], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["peers.Addmm", "peers.AddmmCpu", "peers.Unfused", "peers.UnfusedCpu"]


def test_every_layer_meets_every_number_of_tokens() -> None:
    cases = field.chosen_cases(None, None, "bfloat16")
    assert {(case.tokens, case.layer) for case in cases} == {(t, layer) for t in FULL_TOKENS for layer in LAYERS}
    assert field.chosen_cases("16,1,16", "gpt-oss", "float16") == [
        Case(16, "gpt-oss", "float16"),
        Case(1, "gpt-oss", "float16"),
    ]


@pytest.mark.parametrize(
    ("tokens", "layers", "said"),
    [
        ("0", None, "--tokens 0"),
        ("1,x", None, "--tokens x"),
        ("9999999", None, "999999"),
        (",", None, "no cell"),
        (None, "llama-9", "llama-3-8b"),
    ],
)
def test_cells_that_make_no_sense_are_refused(tokens: str | None, layers: str | None, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        field.chosen_cases(tokens, layers, "bfloat16")


def test_the_op_always_takes_part() -> None:
    assert [peer.name for peer in field.chosen_peers("Triton,addmm")] == ["op", "addmm", "Triton"]
    with pytest.raises(RequestError, match=r"--peers nobody: there are addmm, "):
        field.chosen_peers("addmm,nobody")


def test_who_lacks_something_is_left_out_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framework.importlib.util, "find_spec", lambda name: None)
    able, left_out = field.able([framework.Op(), framework.Addmm(), framework.Compiled()], HOPPER)
    assert [peer.name for peer in able] == ["addmm"]
    assert left_out.keys() == {"op", "compile"}
    assert all("pip install" in why for why in left_out.values())


def test_torch_compile_is_asked_for_twelve_cells_of_the_grid() -> None:
    assert len(set(framework.COMPILED)) == 12
    assert {layer for _, layer in framework.COMPILED} <= LAYERS.keys()
    assert {tokens for tokens, _ in framework.COMPILED} <= set(FULL_TOKENS)
    assert framework.Compiled().candidates(Case(2, "llama-3-8b")) == []
