"""``[tool.solwatch]``: every setting, its default, its unit and its domain."""

from typing import Annotated, Literal

import msgspec

Fraction = Annotated[float, msgspec.Meta(gt=0, lt=1)]
# A socket's timeout ends at 2^31 ms and a thread's at 2^63 ns; no worker is worth waiting for as long as a day.
Patience = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
Budget = Annotated[float, msgspec.Meta(gt=0, le=604_800)]
Floor = Annotated[float, msgspec.Meta(gt=0, le=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]
# What the system takes as a path, an argument or the value of a variable.
Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$", description="text without NUL")]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[^=\x00]+$", description="a variable's name, without = and NUL")]
DeviceType = Annotated[str, msgspec.Meta(pattern=r"^(cpu|cuda)$", description="cpu or cuda")]


class CellOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings for the cells whose key matches a glob; the last match wins, setting by setting.

    ``match``: glob on the cell's key
    ``min_effect``: as above, for these cells
    ``margin``: as above, for these cells
    ``sol_floor``: SOL score below which the commit fails, whatever its base did; without a score the cell is undecided
    ``most_rounds``: budget of each of these cells: measured so many rounds at most, then undecided (budget)
    ``gated``: whether these cells count for the exit code
    """

    match: Text
    min_effect: Fraction | None = None
    margin: Fraction | None = None
    sol_floor: Fraction | None = None
    most_rounds: Count | None = None
    gated: bool | None = None


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings; fractions are relative (0.01 is 1 %), times are seconds, paths lie under the repository's root.

    ``min_effect``: slowdown that the gate must catch (δ1); none picks the default of the device
    ``min_effect_cuda``: default on a GPU
    ``min_effect_floor_s``: on a GPU the min effect is at least this many seconds of the base's time
    ``min_effect_cpu``: default on a CPU
    ``margin``: slowdown below which a report would be a false alarm (δ0); none is ``margin_fraction`` × min effect
    ``margin_fraction``: margin as a share of the min effect
    ``false_alarm_rate``: of a commit, over all its cells and looks together
    ``miss_rate``: of `unchanged`, for each cell (β)
    ``budget_s``: wall time for measuring
    ``rounds``: looks at which a cell may be decided or become a suspect, in completed rounds; fresh ones confirm
    ``hang_s``: a worker silent for this long is ended
    ``identical_sample``: share of the cells with nothing changed that is measured all the same, at least one
    ``undecided``: whether a gate with undecided cells passes or fails
    ``reference``: what `gate --reference` compares with: a tag or commit, `last-release`, or `best` (of asv's history)
    ``release_tags``: tags that are releases, a glob
    ``cell_set``: named set of cells that is measured unless the command line names another
    ``benchmarks``: folder of the suite
    ``results``: folder of asv's results
    ``records``: folder of solwatch's own records
    ``report``: folder that pages are written to
    ``build_inputs``: files and folders that a wheel is built from; built once, `[tool.solwatch]` aside
    ``build_command``: how it is built, with ``{python}``, ``{source}`` and ``{wheels}`` filled in
    ``build_environment``: variables for the build by device type (``cpu``, ``cuda``); those already set win
    ``environment``: variables that builds and benchmarks may see, globs
    ``cells``: settings for the cells that a glob matches, see below
    """

    min_effect: Fraction | None = None
    min_effect_cuda: Fraction = 0.01
    min_effect_floor_s: Floor = 50e-9
    min_effect_cpu: Fraction = 0.10
    margin: Fraction | None = None
    margin_fraction: Fraction = 0.3
    false_alarm_rate: Fraction = 0.001
    miss_rate: Fraction = 0.01
    budget_s: Budget = 300.0
    rounds: Annotated[list[Count], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: [5, 6, 7, 8, 10, 12, 14, 16, 20, 24]
    )
    hang_s: Patience = 120.0
    identical_sample: Share = 0.1
    undecided: Literal["pass", "fail"] = "pass"
    reference: Text | None = None
    release_tags: Text = "v*"
    cell_set: Text = "standard"
    benchmarks: Text = "benchmarks"
    results: Text = "build/asv/results"
    records: Text = "build/solwatch"
    report: Text = "build/report"
    build_inputs: list[Text] = msgspec.field(default_factory=lambda: ["setup.py", "pyproject.toml"])
    build_command: Annotated[list[Text], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: (
            "{python} -m pip wheel --quiet --no-build-isolation --no-deps --no-index -w {wheels} {source}".split()
        )
    )
    build_environment: dict[DeviceType, dict[Variable, Text]] = msgspec.field(default_factory=dict)
    environment: list[Text] = msgspec.field(
        default_factory=lambda: (
            "PATH HOME USER LANG LC_* TZ TMPDIR CUDA_* NVIDIA_* LD_LIBRARY_PATH OMP_* MKL_* CC CXX MAX_JOBS "
            "TORCH_* TRITON_* FUSED_O_PROJ_* SOLWATCH_*".split()
        )
    )
    cells: list[CellOverride] = msgspec.field(default_factory=list)
