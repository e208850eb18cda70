"""Small repositories as the current folder: one with an ordinary benchmark, one of the scratch project.

A chart that one command has drawn is not drawn again.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from fakes.scratch_project import ScratchProject


@pytest.fixture(scope="package", autouse=True)
def drawn_once() -> Iterator[None]:
    """Keep what Vega makes of each specification: hundreds of reports here differ in anything but their charts."""
    draw, pictures = vl_convert.vegalite_to_svg, dict[str, str]()

    def drawn(spec: dict[str, Any], **options: Any) -> str:
        key = json.dumps([spec, options])
        if key not in pictures:
            pictures[key] = draw(spec, **options)
        return pictures[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", drawn)
        yield


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
