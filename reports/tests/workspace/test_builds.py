import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fakes.scratch_project import INPUTS, ScratchProject

from solwatch.model.config import Config
from solwatch.model.errors import BuildError, MachineError, RequestError
from solwatch.workspace.builds import Build, Builder
from solwatch.workspace.git import Repository

# A build that costs nothing: zips the sources as a wheel, writes what it saw of the world beside them.
FAKE_BUILD = """
import json, os, sys, time, zipfile
source, wheels = sys.argv[1:3]
print("compiling", flush=True)
exec(open(os.path.join(source, "setup.py")).read())
with zipfile.ZipFile(os.path.join(wheels, "tinyop-1-py3-none-any.whl"), "w") as wheel:
    wheel.write(os.path.join(source, "src", "tinyop", "native.c"), "tinyop/native.c")
    wheel.writestr("tinyop-1.data/platlib/tinyop/lib.so", "binary")
    wheel.writestr("tinyop/environment.json", json.dumps(dict(os.environ)))
"""


def builder(project: ScratchProject, cache: Path, *, variant: dict[str, str] | None = None, keep: int = 50) -> Builder:
    return Builder(
        Repository.open(project.root),
        cache,
        inputs=INPUTS,
        command=["{python}", "-c", FAKE_BUILD, "{source}", "{wheels}"],
        environment_globs=Config().environment,
        variant=variant or {},
        keep=keep,
    )


def commit_of(project: ScratchProject, setup: str, subject: str = "a commit") -> str:
    project.write("setup.py", setup)
    return project.commit(subject)


def built_text(path: Path, name: str) -> str:
    return (path / "tinyop" / name).read_text()


def test_the_default_command_compiles_and_both_commits_lie_beside_each_other(
    project: ScratchProject, tmp_path: Path
) -> None:
    repository = Repository.open(project.root) if project.commit("one") else None
    assert repository is not None
    project.answer(2)
    project.commit("two")
    config = Config()
    real = Builder(
        repository,
        tmp_path / "cache",
        inputs=INPUTS,
        command=config.build_command,
        environment_globs=config.environment,
        variant={},
    )
    paths = [real.provide(repository.resolve(name)).path for name in ("HEAD~1", "HEAD")]
    answers = [
        subprocess.run(
            [sys.executable, "-c", "import tinyop; print(tinyop.answer())"],
            env={"PYTHONPATH": str(path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for path in paths
    ]
    assert answers == ["1\n", "2\n"]


def test_what_is_built_once_is_never_built_again(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "")
    project.write("README.md", "no build input\n")
    project.commit("two")
    repository = Repository.open(project.root)
    first = builder(project, tmp_path / "cache").provide(repository.resolve("HEAD~1"))
    second = builder(project, tmp_path / "cache").provide(repository.resolve("HEAD"))
    assert (first.built, second.built) == (True, False)
    assert first.path == second.path
    assert first.path.name == first.key
    assert (first.path / "tinyop" / "lib.so").read_text() == "binary"
    notes = json.loads((first.path / "solwatch-build.json").read_text())
    assert notes["commit"] == repository.resolve("HEAD~1").sha
    assert not list((tmp_path / "cache" / "scratch").iterdir())


def test_the_working_tree_builds_what_lies_there(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "")
    project.answer(7)
    repository = Repository.open(project.root)
    cache = builder(project, tmp_path / "cache")
    tree = cache.provide(repository.working_tree())
    head = cache.provide(repository.resolve("HEAD"))
    assert "FromLong(7)" in built_text(tree.path, "native.c")
    assert "FromLong(1)" in built_text(head.path, "native.c")
    project.commit("as it lay there")
    assert not cache.provide(repository.resolve("HEAD")).built


def test_kinds_of_build_never_share_a_wheel(
    project: ScratchProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_of(project, "")
    head = Repository.open(project.root).resolve("HEAD")
    keys = [builder(project, tmp_path).key(head)]
    keys += [builder(project, tmp_path, variant={"FUSED_O_PROJ_CUDA": value}).key(head) for value in "01"]
    for name, value in {
        "TORCH_CUDA_ARCH_LIST": "8.0",
        "CUDA_HOME": "/opt/cuda",
        "CXX": "/bin/false",
        "FUSED_O_PROJ_DEBUG": "1",
    }.items():
        monkeypatch.setenv(name, value)
        keys.append(builder(project, tmp_path).key(head))
        monkeypatch.delenv(name)
    assert len(set(keys)) == len(keys)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("SECRET", "nothing to do with a build")
    assert builder(project, tmp_path).key(head) == keys[0]


def test_a_replaced_compiler_is_another_kind_of_build(
    project: ScratchProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_of(project, "")
    head = Repository.open(project.root).resolve("HEAD")
    compiler = tmp_path / "c++"
    monkeypatch.setenv("CXX", str(compiler))
    keys = []
    for version in ("1.0", "2.0"):
        compiler.write_text(f"#!/bin/sh\necho c++ {version}\n")
        compiler.chmod(0o755)
        keys.append(builder(project, tmp_path / "cache").key(head))
    assert keys[0] != keys[1]


def test_a_build_sees_the_allowed_variables_only(
    project: ScratchProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_of(project, "")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("MAX_JOBS", "3")
    made = builder(project, tmp_path / "cache", variant={"FUSED_O_PROJ_CUDA": "0"})
    seen = json.loads(built_text(made.provide(Repository.open(project.root).resolve("HEAD")).path, "environment.json"))
    assert "SECRET_TOKEN" not in seen
    assert "PYTHONPATH" not in seen
    assert (seen["MAX_JOBS"], seen["FUSED_O_PROJ_CUDA"]) == ("3", "0")
    assert seen["SOLWATCH_BUILD_CACHE"] == str(tmp_path / "cache" / "objects")


def test_a_failed_build_carries_the_last_lines_and_leaves_nothing(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "for line in range(100): print('line', line)\nsys.exit('native.c:3: error: no such thing')")
    head = Repository.open(project.root).resolve("HEAD")
    said: list[str] = []
    with pytest.raises(BuildError, match=rf"HEAD \({head.sha[:8]}\) does not build: exit code 1") as raised:
        builder(project, tmp_path / "cache").provide(head, said.append)
    lines = raised.value.output.splitlines()
    assert len(lines) == 60
    assert "native.c:3: error: no such thing" in lines
    assert raised.value.commit == "HEAD"
    assert "\n" not in str(raised.value)
    assert said[0] == f"building HEAD ({head.sha[:8]})"
    assert "line 1" in said
    assert sorted(os.listdir(tmp_path / "cache")) == ["locks", "scratch"]
    assert os.listdir(tmp_path / "cache" / "scratch") == []


def test_a_full_disk_is_the_machine_s_fault(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "sys.exit('ld: final link failed: No space left on device')")
    with pytest.raises(MachineError, match="no space left"):
        builder(project, tmp_path / "cache").provide(Repository.open(project.root).resolve("HEAD"))


def test_a_build_that_leaves_no_wheel_is_a_wrong_request(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "sys.exit(0)")
    with pytest.raises(RequestError, match=r"must leave one wheel in {wheels}, it left none"):
        builder(project, tmp_path / "cache").provide(Repository.open(project.root).resolve("HEAD"))


def test_of_two_that_want_the_same_one_builds(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "time.sleep(0.3)")
    head = Repository.open(project.root).resolve("HEAD")
    builds: list[Build] = []
    said: list[str] = []

    def provide() -> None:
        builds.append(builder(project, tmp_path / "cache").provide(head, said.append))

    threads = [threading.Thread(target=provide) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(build.built for build in builds) == [False, False, True]
    assert said.count("compiling") == 1
    assert f"waiting for the build of HEAD ({head.sha[:8]}) by process {os.getpid()}" in said


PROVIDE = """
import json, sys
from pathlib import Path
from solwatch.workspace.builds import Build, Builder
from solwatch.workspace.git import Repository
root, cache, inputs, command = json.loads(sys.argv[1])
repository = Repository.open(root)
made = Builder(repository, Path(cache), inputs=inputs, command=command, environment_globs=["SOLWATCH_*"], variant={})
print(made.provide(repository.resolve("HEAD")).built)
"""


def test_a_killed_build_leaves_nothing_half(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(
        project,
        "print(os.getpid(), file=open(os.environ['SOLWATCH_PID'], 'w'))\n"
        "time.sleep(float(os.environ['SOLWATCH_PAUSE']))",
    )
    cache, pid_file = tmp_path / "cache", tmp_path / "pid"
    command = ["{python}", "-c", FAKE_BUILD, "{source}", "{wheels}"]
    arguments = [sys.executable, "-c", PROVIDE, json.dumps([str(project.root), str(cache), INPUTS, command])]
    environment = os.environ | {"SOLWATCH_PID": str(pid_file), "SOLWATCH_PAUSE": "60"}
    with subprocess.Popen(arguments, env=environment) as killed:
        while not pid_file.exists() or not pid_file.read_text().strip():
            time.sleep(0.01)
        killed.kill()
    assert not list(cache.glob("*/solwatch-build.json"))

    quick = environment | {"SOLWATCH_PAUSE": "0"}
    with subprocess.Popen(arguments, env=quick, stdout=subprocess.PIPE, text=True) as second:
        time.sleep(0.5)
        assert second.poll() is None, "the orphaned compiler still writes into the place that both would build in"
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
        said, _ = second.communicate(timeout=20)
    assert said == "True\n"
    (built,) = cache.glob("*/tinyop/native.c")
    assert "FromLong(1)" in built.read_text()


def test_old_builds_go_and_used_ones_stay(project: ScratchProject, tmp_path: Path) -> None:
    repository = Repository.open(project.root) if commit_of(project, "# 0") else None
    assert repository is not None
    shas = [repository.resolve("HEAD").sha] + [commit_of(project, f"# {number}") for number in (1, 2)]
    cache = builder(project, tmp_path / "cache", keep=2)
    first, second = (cache.provide(repository.resolve(sha)) for sha in shas[:2])
    os.utime(first.path, (1, 1))
    os.utime(second.path, (2, 2))
    assert not cache.provide(repository.resolve(shas[0])).built  # used again: now the newest
    third = cache.provide(repository.resolve(shas[2]))
    assert [build.path.exists() for build in (first, second, third)] == [True, False, True]


def test_switching_is_fast(project: ScratchProject, tmp_path: Path) -> None:
    commit_of(project, "# one")
    commit_of(project, "# two")
    repository = Repository.open(project.root)
    for name in ("HEAD", "HEAD~1"):
        builder(project, tmp_path / "cache").provide(repository.resolve(name))
    started = time.monotonic()
    build = builder(project, tmp_path / "cache").provide(repository.resolve("HEAD"))
    assert time.monotonic() - started < 0.3
    assert build.wall_s < 0.3
