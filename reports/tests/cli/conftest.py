"""Small repositories as the current folder: one with an ordinary benchmark, one of the scratch project."""

import subprocess
from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "setup.py").write_text("from setuptools import setup\nsetup(name='toy', version='1', py_modules=[])\n")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    (tmp_path / "benchmarks" / "slow.py").write_text("import time\ndef time_nap():\n    time.sleep(0.002)\n")
    (tmp_path / ".gitignore").write_text("build/\n*.egg-info/\n__pycache__/\n")
    subprocess.run(["git", "-C", str(tmp_path), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(tmp_path), *identity, "commit", "-q", "-m", "first"], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "home"))  # a device lock of their own
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "home").mkdir()
    return tmp_path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = ScratchProject(tmp_path / "project")
    made.commit("one")
    made.commit("two")
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("HOME", str(tmp_path))
    return made.root
