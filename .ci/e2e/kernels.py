"""The small repository of the trials: one runner without a GPU, two cells of the operator's CPU build."""

import json
from pathlib import Path

from e2e.world import World

OPERATOR = "kernels/fused_o_proj/op.py"
CALL = "    check_call(attn_output, residual, o_proj_weight, out)\n"
SLOWER = "    for _ in range(4):\n        o_proj_weight = o_proj_weight.clone()\n"
CELL = "o_proj.OProjCpu(1, 'small-1024')"
CPU = {"name": "cpu", "labels": ["ubuntu-latest"], "ephemeral": True, "limit_min": 10}


def small_repository(folder: Path) -> World:
    """Return a world whose main has the sources of this one, with settings that a busy machine decides soon by."""
    made = World(folder)
    suite = '"standard": [(tokens, layer) for tokens in CPU_TOKENS for layer in CPU_LAYERS],'
    made.edit("benchmarks/o_proj.py", suite, '"standard": [(1, "small-1024"), (16, "small-1024")],')
    made.edit("benchmarks/o_proj.py", "[CPU_TOKENS, list(CPU_LAYERS)]", '[[1, 16], ["small-1024"]]')
    made.edit(
        "benchmarks/o_proj.py",
        "for tokens in (1, 16) for layer in CPU_LAYERS]",
        'for tokens in (1, 16) for layer in ["small-1024"]]',
    )
    # a busy machine tells 50 % apart soon; what 'cuda' builds here is never run
    made.edit("pyproject.toml", "[tool.solwatch]\n", "[tool.solwatch]\nmin_effect = 0.5\nbudget_s = 90\n")
    made.edit("pyproject.toml", 'cuda = { FUSED_O_PROJ_CUDA = "1" }', 'cuda = { FUSED_O_PROJ_CUDA = "0" }')
    fleet(made, CPU)
    return made


def fleet(world: World, *entries: dict[str, object]) -> None:
    """Write the fleet of the commit that comes next."""
    (world.clone / ".github" / "fleet.json").write_text(json.dumps({"runners": entries}))


def remark(world: World, text: str) -> str:
    """Commit a change of the operator that costs nothing."""
    world.edit(OPERATOR, CALL, f"    # {text}\n{CALL}")
    return world.commit(f"Remark: {text}")


def results(world: World) -> list[str]:
    """Return what lies on the branch of results."""
    return world.on_origin("ls-tree", "-r", "--name-only", "asv-results").splitlines()
