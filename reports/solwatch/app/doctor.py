"""The examination of a machine: everything that measuring needs is looked at, each finding with its fix.

Nothing here looks at the machine itself: facts come through ``Sources``, and one source that fails spoils only
its own finding.
"""

from collections.abc import Callable
from dataclasses import dataclass

from solwatch.app.doctor_gpu import Asked, drivers, gpus, nvml, toolkits, torches
from solwatch.model.errors import SolwatchError
from solwatch.model.finding import Finding, Status
from solwatch.model.machine import CompilerFacts, GpuFacts, HistoryFacts, TorchFacts

MIN_FREE_BYTES = 1e9
"""A build, its objects and a record fit into this; below it a run is likely to meet a full disk."""

EASY_FREE_BYTES = 5e9
"""Fifty kept builds of a CUDA library and a year of results fit into this."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where the facts come from; each is called once, and may raise.

    ``torch``, ``nvcc`` and ``compiler`` return ``None`` for what isn't there. ``asv_machine`` returns asv's name
    for this machine, ``None`` when asv has no machine file. ``free_bytes`` is of the disk that results lie on.
    ``check_op`` runs a small cell of the suite against its reference and says which; it raises what the op
    raises, ``AssertionError`` for a wrong result. ``builds``: the folder that builds are handed over in, ``None``
    where they are compiled here.
    """

    gpu: Callable[[], GpuFacts]
    torch: Callable[[], TorchFacts | None]
    nvcc: Callable[[], CompilerFacts | None]
    compiler: Callable[[], CompilerFacts | None]
    history: Callable[[], HistoryFacts]
    asv_machine: Callable[[], str | None]
    free_bytes: Callable[[], float]
    check_op: Callable[[], str]
    builds: str | None = None


def diagnose(device: str, sources: Sources) -> list[Finding]:
    """Return the findings for measuring on ``device`` (``auto``, ``cpu``, ``cuda``, ``cuda:1``), in reading order.

    Raises nothing that a source raises: a source that fails is a finding of status ``fail``.
    """
    gpu: GpuFacts | None = None

    def ask_gpu() -> list[Finding]:
        nonlocal gpu
        gpu = sources.gpu()
        return gpus(asked, gpu)

    asked = Asked(device)
    findings = _finding("GPU", ask_gpu)
    seen = gpu or GpuFacts(error="not asked")
    used = asked.uses_gpu(seen)
    findings += _finding("driver", lambda: drivers(seen) if used else [])
    findings += _finding("toolkit", lambda: toolkits(seen, sources.nvcc(), sources.builds) if used else [])
    findings += _finding("torch", lambda: torches(used, seen, sources.torch()))
    findings += _finding("NVML", lambda: nvml(seen) if used else [])
    findings += _finding("compiler", lambda: _compilers(sources.compiler(), sources.builds))
    findings += _finding("operator", lambda: _operators(sources.check_op, sources.builds))
    findings += _finding("git history", lambda: _histories(sources.history()))
    findings += _finding("asv machine", lambda: _machines(sources.asv_machine()))
    findings += _finding("disk", lambda: _disks(sources.free_bytes()))
    return findings


def _finding(name: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return look()
    except SolwatchError as error:
        found, fix = str(error), "the message names it"
    except Exception as error:
        found = f"could not be looked at: {type(error).__name__}: {_one_line(error)}"
        fix = "repair what the message names, then run `solwatch doctor` again"
    return [Finding(name=name, status=Status.FAIL, found=found, fix=fix)]


def _compilers(compiler: CompilerFacts | None, builds: str | None) -> list[Finding]:
    if builds is not None:
        return [Finding(name="compiler", status=Status.OK, found=f"not needed: builds come from {builds}")]
    if compiler is None:
        return [
            Finding(
                name="compiler",
                status=Status.FAIL,
                found="no C++ compiler",
                fix="install one (Debian, Ubuntu: apt-get install g++) or name it with CXX",
            )
        ]
    return [
        Finding(name="compiler", status=Status.OK, found=f"{compiler.path}, {compiler.version or 'version not told'}")
    ]


def _operators(check_op: Callable[[], str], builds: str | None) -> list[Finding]:
    try:
        said = check_op()
    except AssertionError as error:
        return [
            Finding(
                name="operator",
                status=Status.FAIL,
                found=f"it loads and its result is wrong: {_one_line(error)}",
                fix="correct the kernel: a wrong result is reported as broken and never timed",
            )
        ]
    except (Exception, SystemExit) as error:
        how = "built, loaded or called" if builds is None else "loaded or called"
        by_hand = "build it by hand to see all of the output: pip wheel --no-build-isolation --no-deps ."
        handed_over = "pack the builds again: `solwatch build`, with this machine's torch, for this machine's GPU"
        return [
            Finding(
                name="operator",
                status=Status.FAIL,
                found=f"it can't be {how}: {_one_line(error)}",
                fix=by_hand if builds is None else handed_over,
            )
        ]
    return [Finding(name="operator", status=Status.OK, found=said)]


def _histories(history: HistoryFacts) -> list[Finding]:
    commits = f"{history.commits} commit{'' if history.commits == 1 else 's'}"
    if history.shallow:
        return [
            Finding(
                name="git history",
                status=Status.WARN,
                found=f"a shallow clone of {commits}: a base further back can't be measured",
                fix="git fetch --unshallow (in GitHub Actions: fetch-depth: 0)",
            )
        ]
    if history.commits < 2:
        return [
            Finding(
                name="git history",
                status=Status.WARN,
                found="a first commit: there is nothing to compare it with",
                fix="commit a change; until then `solwatch run` measures HEAD alone",
            )
        ]
    return [Finding(name="git history", status=Status.OK, found=commits)]


def _machines(name: str | None) -> list[Finding]:
    if name is None:
        return [
            Finding(
                name="asv machine",
                status=Status.WARN,
                found="asv has no machine file, so `asv run` would ask for one",
                fix="asv machine --yes (a gate or a run makes it too)",
            )
        ]
    return [Finding(name="asv machine", status=Status.OK, found=name)]


def _disks(free_bytes: float) -> list[Finding]:
    found = f"{free_bytes / 1e9:.1f} GB free"
    if free_bytes >= EASY_FREE_BYTES:
        return [Finding(name="disk", status=Status.OK, found=found)]
    enough = free_bytes >= MIN_FREE_BYTES
    limit = EASY_FREE_BYTES if enough else MIN_FREE_BYTES
    return [
        Finding(
            name="disk",
            status=Status.WARN if enough else Status.FAIL,
            found=f"{found}, under {limit / 1e9:g} GB",
            fix="free some, for example by `make clean`, which removes kept builds, or move `build` to another disk",
        )
    ]


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
