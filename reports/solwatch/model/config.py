"""``[tool.solwatch]``: every setting, its default, its unit and its domain."""

from typing import Annotated, Literal

import msgspec

Fraction = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class CellOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings for the cells whose key matches ``match`` (a glob); the last match wins, setting by setting."""

    match: str
    min_effect: Fraction | None = None
    margin: Fraction | None = None
    sol_floor: Fraction | None = None
    gated: bool | None = None


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. Fractions are relative (0.01 is 1 %); times are seconds.

    ``min_effect``: the slowdown that the gate must catch (δ1); ``None`` picks the device's default,
    ``min_effect_cuda`` with at least ``min_effect_floor_s``, or ``min_effect_cpu``. ``margin``: δ0; ``None`` is
    ``margin_fraction`` × min effect. ``false_alarm_rate``: per commit, over all cells and looks.
    ``miss_rate``: β of ``unchanged``. ``budget_s``: wall time for measuring. ``rounds``: the looks at which a
    verdict may fall, in completed rounds; measuring stops at the last. ``hang_s``: a worker silent this long
    is ended. ``results``: the folder asv's results lie in; ``records``: solwatch's own. ``build_inputs``: what
    a wheel is built from, paths under the repository root; ``build_command``: how, with ``{python}``,
    ``{source}`` and ``{wheels}`` filled in; ``environment``: the variables that builds and benchmarks may see,
    globs.
    """

    min_effect: Fraction | None = None
    min_effect_cuda: Fraction = 0.01
    min_effect_floor_s: Positive = 50e-9
    min_effect_cpu: Fraction = 0.10
    margin: Fraction | None = None
    margin_fraction: Fraction = 0.3
    false_alarm_rate: Fraction = 0.001
    miss_rate: Fraction = 0.01
    budget_s: Positive = 300.0
    rounds: Annotated[list[Count], msgspec.Meta(min_length=1)] = msgspec.field(default_factory=lambda: [6, 10, 16])
    hang_s: Positive = 60.0
    undecided: Literal["pass", "fail"] = "pass"
    cell_set: str = "standard"
    benchmarks: str = "benchmarks"
    results: str = "build/asv/results"
    records: str = "build/solwatch"
    report: str = "build/report"
    build_inputs: list[str] = msgspec.field(default_factory=lambda: ["setup.py", "pyproject.toml"])
    build_command: list[str] = msgspec.field(
        default_factory=lambda: (
            "{python} -m pip wheel --quiet --no-build-isolation --no-deps --no-index -w {wheels} {source}".split()
        )
    )
    environment: list[str] = msgspec.field(
        default_factory=lambda: (
            "PATH HOME USER LANG LC_* TZ TMPDIR CUDA_* NVIDIA_* LD_LIBRARY_PATH OMP_* MKL_* CC CXX MAX_JOBS "
            "TORCH_* TRITON_* FUSED_O_PROJ_* SOLWATCH_*".split()
        )
    )
    cells: list[CellOverride] = msgspec.field(default_factory=list)
