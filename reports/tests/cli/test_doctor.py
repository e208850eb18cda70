"""``doctor`` on a machine whose builds are handed over: no compiler, and the op that was packed."""

from pathlib import Path

import pytest

from solwatch.cli.main import outcome

pytestmark = pytest.mark.slow


def pack(folder: Path) -> None:
    assert outcome(["build", "HEAD", "--device", "cpu", "--output", str(folder)]) == 0


def test_a_machine_without_a_compiler_is_ready_when_builds_are_handed_over(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(repository / "build/pack")
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr("solwatch.workspace.builds.Builder.provide", lambda *_: pytest.fail("compiled"))
    capsys.readouterr()
    assert outcome(["doctor", "--device", "cpu", "--builds", "build/pack"]) == 0
    assert "not needed: builds come from build/pack" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.chdir(repository)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert outcome(["doctor", "--device", "cpu"]) == 3
    assert "no C++ compiler" in capsys.readouterr().out


def test_a_commit_that_was_not_packed_is_no_machine_to_measure_on(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(repository / "build/pack")
    (repository / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='toy', version='2', py_modules=[])\n"
    )
    import subprocess

    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *identity, "commit", "-qam", "second"], check=True)
    capsys.readouterr()
    assert outcome(["doctor", "--device", "cpu", "--builds", "build/pack"]) == 3
    assert "build/pack has no build of HEAD" in capsys.readouterr().out
    assert outcome(["doctor", "HEAD~1", "--device", "cpu", "--builds", "build/pack"]) == 0


def test_a_folder_that_is_no_pack_is_a_wrong_request(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["doctor", "--device", "cpu", "--builds", "absent"]) == 2
    assert "absent is no folder of builds" in capsys.readouterr().err
