"""A scratch repository with a toy op and a suite, for gates from end to end on the CPU; one with a remote."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from fakes.forkserver_template import template
from fakes.histories import bare, project
from fakes.rounds import BASE, HEAD, FakeClock
from fakes.workers import FakeServer, bench

from solwatch.app.builds import WHEELS, builder_for
from solwatch.app.clock import SystemClock
from solwatch.app.gate import compare
from solwatch.app.outcome import Outcome
from solwatch.app.reference import against_reference
from solwatch.app.rounds import Known, RoundRunner
from solwatch.app.session import Request, Services
from solwatch.app.sides import Side
from solwatch.model.cell import CellSelection
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

SETUP = "from setuptools import setup\nsetup(name='toy', version='1', packages=['toy'])\n"
OP = """
import time

def double(x, out):
    time.sleep({seconds})
    out.copy_(x * 2)
"""
SUITE = """
import solwatch.suite

class Toy(solwatch.suite.Suite):
    device = "cpu"
    param_names = ["size"]
    params = [[8, 16]]

    def setup_cache(self):
        return self.measure()

    def cell(self, size):
        def make_inputs(device, seed):
            import torch
            return {"x": torch.arange(size, dtype=torch.float32), "out": torch.empty(size)}

        def call(x, out):
            import toy
            toy.double(x, out)

        def check(x, out):
            assert bool((out == x * 2).all()), f"out is not 2 x at size {size}"

        work = solwatch.suite.Work(flops=size, traffic_bytes=8.0 * size, dtype="float32")
        return solwatch.suite.Cell(make_inputs=make_inputs, call=call, work=work, check=check)
"""
CONFIG = 'build_inputs = ["setup.py", "toy"]\nrounds = [5]\nhang_s = 60\n'
"""Patient: on a busy machine a worker may be silent for seconds."""

IMPATIENT = CONFIG.replace("60", "4")
"""For a call that hangs."""

NO_CHART = '<svg xmlns="http://www.w3.org/2000/svg"/>'
"""Stands for every chart of the toy's pages: their text is what gates are asked for here."""

FIRST, SLOWER = (OP.format(seconds=seconds) for seconds in (0.001, 0.003))
"""The ops that most gates compare: their builds are made once and handed to every test."""


@dataclass
class Toy:
    """The scratch repository and what a gate in it said on stderr."""

    root: Path
    said: list[str] = field(default_factory=list)
    op = OP
    suite = SUITE
    patient = CONFIG
    impatient = IMPATIENT

    def progress(self, on_cell: Callable[[str], None]) -> "SilentProgress":
        return SilentProgress(on_cell)

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.root), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, message: str = "change", **files: str) -> str:
        names = {"op": "toy/__init__.py", "suite": "benchmarks/toy_suite.py", "config": "solwatch.toml"}
        for name, text in files.items():
            (self.root / names[name]).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def unbuilt(self) -> None:
        """Forget the builds that were handed over, for a test that counts what is built."""
        shutil.rmtree(self.root / WHEELS)

    def services(self, progress: object, clock: object = None) -> Services:
        return Services(
            repository=Repository.open(self.root),
            clock=clock or SystemClock(),
            environment=dict(os.environ),
            machine="toy-machine",
            say=self.said.append,
            progress=lambda total, budget: progress,
        )

    def compare(
        self,
        base: str | None,
        head: str | None = "HEAD",
        *,
        rounds: int | None = None,
        progress: object = None,
        clock: object = None,
        device: str = "cpu",
        base_env: Path | None = None,
        head_env: Path | None = None,
        selection: CellSelection = CellSelection("all"),  # noqa: B008 - frozen
        measure_all: bool = True,
        builds: Path | None = None,
        pinned: bool = False,
    ) -> Outcome:
        request = Request(
            command="solwatch gate",
            head=head,
            base=base,
            device=device,
            selection=selection,
            config=load_config(self.root, {}),
            seed=1,
            rounds=rounds,
            builds=builds,
            base_env=base_env,
            head_env=head_env,
            measure_all=measure_all,
        )
        services = self.services(progress or SilentProgress(), clock)
        return compare(against_reference(request, services) if pinned else request, services)


class SilentProgress:
    """Shows nothing; ``on_cell`` is called at each cell."""

    def __init__(self, on_cell: Callable[[str], None] = lambda key: None) -> None:
        self._on_cell = on_cell

    def round(self, index: int) -> None:
        """Show nothing."""

    def cell(self, key: str) -> None:
        self._on_cell(key)

    def __enter__(self) -> "SilentProgress":
        return self

    def __exit__(self, *error: object) -> None:
        """Leave nothing behind."""


def made(root: Path) -> Toy:
    """Return a scratch repository of one commit at ``root``."""
    for folder in ("toy", "benchmarks"):
        (root / folder).mkdir(parents=True)
    (root / "setup.py").write_text(SETUP)
    (root / "benchmarks" / "__init__.py").write_text("")
    (root / ".gitignore").write_text("build/\n__pycache__/\n")
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(root)], check=True)
    project = Toy(root)
    project.commit("first", op=FIRST, suite=SUITE, config=CONFIG)
    return project


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the builds of the toy's two ops, as its own command makes them."""
    project = made(tmp_path_factory.mktemp("builds") / "repo")
    project.commit("slower", op=SLOWER)
    repository = Repository.open(project.root)
    builder = builder_for(repository, load_config(project.root, {}), "cpu", dict(os.environ))
    for name in ("HEAD~1", "HEAD"):
        builder.provide(repository.resolve(name))
    return project.root / WHEELS


@pytest.fixture(scope="session")
def ceilings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the ceilings of this machine: the first gate measures them, the others find them."""
    return tmp_path_factory.mktemp("ceilings")


@pytest.fixture(scope="session")
def warm() -> Iterator[Any]:
    """Return what starts fork servers that have imported torch."""
    with template() as started:
        yield started


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: Path, ceilings: Path, warm: Any) -> Toy:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # a lock of their own: these gates time nothing real
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda spec, **options: NO_CHART)
    monkeypatch.setattr("solwatch.app.processes.subprocess", warm)
    (tmp_path / ".solwatch").mkdir()
    (tmp_path / ".solwatch" / "ceilings").symlink_to(ceilings)
    project = made(tmp_path / "toy repo")
    shutil.copytree(builds, project.root / WHEELS)
    return project


@pytest.fixture
def rounds(tmp_path: Path) -> Iterator[Callable[..., RoundRunner]]:
    """Make runners; all are closed, and no worker may be left alive then."""
    made: list[tuple[RoundRunner, FakeServer]] = []

    def make(
        server: FakeServer,
        *,
        device: str = "cuda:0",
        base: Side | None = BASE,
        seed: int = 7,
        clock: Any = None,
        known: Known | None = None,
    ) -> RoundRunner:
        where = bench(server, tmp_path, device=device, seed=seed)
        made.append((RoundRunner(where, HEAD, base, clock=clock or FakeClock(), known=known), server))
        return made[-1][0]

    yield make
    for runner, server in made:
        runner.__exit__(None, None, None)
        assert [worker for worker in server.workers if worker.alive] == []


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a bare repository; home and temporary folders are the test's own."""
    for folder in ("home", "tmp"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return bare(tmp_path / "origin.git")


@pytest.fixture
def clone(tmp_path: Path, origin: Path) -> Path:
    """Return a repository whose remote is ``origin``."""
    return project(tmp_path / "clone", origin)
