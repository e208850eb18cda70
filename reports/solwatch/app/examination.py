"""The plot of ``doctor``: where its facts come from on this machine, the op's own check among them."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from solwatch.app.builds import Builds, build, builder_for, packed_builds
from solwatch.app.doctor import Sources, diagnose
from solwatch.app.doctor_facts import cpp_compiler, cuda_compiler, free_bytes, torch_facts
from solwatch.app.processes import CellFailed, ForkServer
from solwatch.app.selection import select
from solwatch.app.sides import Bench
from solwatch.asvio.machine import known_machine
from solwatch.device.gpu_facts import gpu_facts
from solwatch.device.resolving import resolve_device
from solwatch.model.cell import CellSelection
from solwatch.model.config import Config
from solwatch.model.finding import Finding
from solwatch.model.machine import HistoryFacts
from solwatch.model.plain import plain
from solwatch.model.protocol import Prepare, Prepared
from solwatch.model.record import Commit
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

_SMALLEST_SET = "quick"


def examine(
    folder: Path,
    device: str,
    say: Callable[[str], None],
    *,
    commit: str | None = None,
    builds: Path | None = None,
) -> list[Finding]:
    """Return what this machine has and lacks for measuring the repository at ``folder`` on ``device``.

    ``commit``: whose operator is checked; without one the working tree's, or HEAD's where ``builds`` are handed over.
    Raises ``RequestError`` for an unknown commit and for ``builds`` that are no pack.
    """
    repository = Repository.open(folder)
    config = load_config(repository.root, {})
    environment = dict(os.environ)
    if builds is not None:
        packed_builds(repository, config, builds)
        commit = commit or "HEAD"
    checked = repository.working_tree() if commit is None else repository.resolve(commit)

    def history() -> HistoryFacts:
        depth = repository.depth()
        return HistoryFacts(commits=depth.commits, shallow=depth.shallow)

    sources = Sources(
        gpu=gpu_facts,
        torch=torch_facts,
        nvcc=lambda: cuda_compiler(environment),
        compiler=lambda: cpp_compiler(environment),
        history=history,
        asv_machine=known_machine,
        free_bytes=lambda: free_bytes(repository.root / config.results),
        check_op=lambda: check_op(repository, config, device, say, checked, builds),
        builds=None if builds is None else plain(str(builds)),
    )
    return diagnose(device, sources)


def check_op(
    repository: Repository,
    config: Config,
    device_name: str,
    say: Callable[[str], None],
    commit: Commit,
    builds: Path | None,
) -> str:
    """Build a commit's op or take it from ``builds``, call it once in a process of its own and check it.

    Returns which cell it was. Raises ``AssertionError`` for a wrong result and ``SolwatchError`` or ``CellFailed`` for
    anything else.
    """
    device = resolve_device(device_name)
    provider: Builds = (
        builder_for(repository, config, device.split(":")[0], os.environ)
        if builds is None
        else packed_builds(repository, config, builds)
    )
    head = build(repository, provider, commit, "head", config, say)
    with (
        tempfile.TemporaryDirectory(prefix="solwatch-") as scratch,
        ForkServer(dict(os.environ), Path(scratch) / "logs") as server,
    ):
        bench = Bench(
            server=server,
            benchmarks_dir=head.benchmarks_dir,
            device=device,
            seed=0,
            caches_dir=Path(scratch) / "caches",
            hang_s=config.hang_s,
        )
        worker, opened = bench.start(head.side, 0)
        cells = select(opened.cells, CellSelection(_SMALLEST_SET), device_type=device.split(":")[0])
        suite = [cell for cell in cells if cell.kind == "suite"]
        if not suite:
            return f"the suite has no cell with a reference on {device}: nothing to check"
        try:
            worker.ask(Prepare(key=suite[0].key, seed=0, check=True), Prepared, bench.hang_s)
        except CellFailed as error:
            if error.failure.kind == "wrong":
                raise AssertionError(error.failure.message) from None
            raise
        worker.close()
    return f"{suite[0].key} loads on {device} and agrees with its reference"
