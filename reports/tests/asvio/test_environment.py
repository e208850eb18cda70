import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from asv.config import Config as AsvConfig
from asv.util import ProcessError, UserError

from solwatch.asvio.environment import SESSION_VARIABLE, Provider, SharedEnvironment
from solwatch.model.errors import BuildError, MachineError


class FakeBuilds:
    """Builds that are folders named by their commit; counts what it was asked for."""

    def __init__(self, folder: Path, variant: Mapping[str, str]) -> None:
        self.folder = folder
        self.variant = dict(variant)
        self.asked: list[str] = []
        self.error: Exception | None = None

    def provide(self, commit: str, on_progress: Callable[[str], None]) -> Path:
        self.asked.append(commit)
        if self.error is not None:
            raise self.error
        path = self.folder / commit
        path.mkdir(parents=True, exist_ok=True)
        (path / "which_build.py").write_text(f"commit = {commit!r}\n")
        return path

    def allowed(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environment.items() if name in ("PATH", "HOME")}


class FakeEnvironment(SharedEnvironment):
    tool_name = "fake-shared"

    def make_provider(self, conf: Any, variant: Mapping[str, str]) -> Provider:
        self.builds = FakeBuilds(Path(conf.env_dir) / "builds", variant)
        return self.builds


VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
REPORT = "import os, json, which_build; print(json.dumps([which_build.commit, dict(os.environ)]))"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SESSION_VARIABLE, "one run")
    return AsvConfig.from_json({"repo": ".", "project": "tiny", "env_dir": str(tmp_path / "env")})


def environment(conf: Any, tagged: dict[Any, str] | None = None) -> FakeEnvironment:
    made = FakeEnvironment(conf, VERSION, {}, tagged or {})
    made.create()
    return made


def test_another_python_is_refused(conf: Any) -> None:
    with pytest.raises(UserError, match=r"measures with the Python that runs asv, .*: not with 2.7"):
        FakeEnvironment(conf, "2.7", {}, {})


def test_requirements_are_refused(conf: Any) -> None:
    with pytest.raises(UserError, match="installs nothing beside the builds: take torch out of asv's matrix"):
        FakeEnvironment(conf, VERSION, {"torch": "2.0"}, {})


def test_a_process_imports_the_installed_commit_and_sees_what_is_allowed(
    conf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    env = environment(conf, {("nobuild", "MODE"): "fast", ("build", "FUSED_O_PROJ_CUDA"): "0"})
    assert env.builds.variant == {"FUSED_O_PROJ_CUDA": "0"}
    for commit in ("aaaa", "bbbb", "aaaa"):
        env.install_project(conf, None, commit)
        assert env.installed_commit_hash == commit
        seen_commit, seen = json.loads(env.run(["-c", REPORT], dots=False))
        assert seen_commit == commit
        assert "SECRET_TOKEN" not in seen
        assert (seen["MODE"], seen["FUSED_O_PROJ_CUDA"], seen["ASV_COMMIT"]) == ("fast", "0", commit)
        path = str(env.builds.folder / commit)
        assert (seen["PYTHONPATH"], seen["ASV_PYTHONPATH"]) == (path, path)


def test_installing_what_is_installed_asks_for_nothing(conf: Any) -> None:
    env = environment(conf)
    env.install_project(conf, None, "aaaa")
    env.install_project(conf, None, "aaaa")
    assert env.builds.asked == ["aaaa"]


def test_what_another_run_installed_is_not_taken_for_installed(conf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(conf).install_project(conf, None, "aaaa")
    assert environment(conf).installed_commit_hash == "aaaa"  # another process of this run
    monkeypatch.setenv(SESSION_VARIABLE, "another run")
    later = environment(conf)
    assert later.installed_commit_hash is None
    with pytest.raises(UserError, match="no commit is installed"):
        later.run(["-c", "pass"], dots=False)


def test_a_commit_that_does_not_build_is_asv_s_process_error(conf: Any, caplog: pytest.LogCaptureFixture) -> None:
    env = environment(conf)
    env.install_project(conf, None, "aaaa")
    env.builds.error = BuildError("bbbb does not build", commit="bbbb", output="native.c:3:\x1b[31m error\u202e")
    with pytest.raises(ProcessError) as raised:
        env.install_project(conf, None, "bbbb")
    assert raised.value.stdout == "native.c:3:[31m error"
    assert "native.c:3:[31m error" in caplog.text
    assert env.installed_commit_hash == "aaaa"


def test_a_machine_that_can_t_build_ends_the_run(conf: Any) -> None:
    env = environment(conf)
    env.builds.error = MachineError("no space left for /x: free some")
    with pytest.raises(UserError, match="no space left"):
        env.install_project(conf, None, "aaaa")


def test_nothing_is_installed_anywhere(conf: Any) -> None:
    env = environment(conf)
    env.install_project(conf, None, "aaaa")
    files = [name for _, _, names in os.walk(env._path) for name in names]
    assert files == ["solwatch-install.json"]
