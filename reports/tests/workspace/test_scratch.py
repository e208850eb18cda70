"""Scratch repositories: nothing of the user's decides what is in them."""

import subprocess
from pathlib import Path

import pytest

from solwatch.model.errors import MachineError, RequestError
from solwatch.workspace.export import export
from solwatch.workspace.scratch import Scratch


def test_commits_on_top_of_each_other(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "a b")
    first = scratch.commit({"one.py": "1\n", "below/two.py": "2\n"}, "First")
    second = scratch.commit({"one.py": "3\r\n"}, "Second")
    repository = scratch.opened()
    assert [repository.resolve(name).subject for name in (first, second)] == ["First", "Second"]
    assert not repository.is_dirty()
    export(repository, repository.resolve(second), tmp_path / "out")
    assert (tmp_path / "out" / "one.py").read_bytes() == b"3\r\n"
    assert (tmp_path / "out" / "below" / "two.py").read_text() == "2\n"
    with pytest.raises(MachineError, match="git commit failed"):
        scratch.commit({"one.py": "3\r\n"}, "Nothing new")


def test_the_users_settings_and_hooks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    hook = hooks / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (home / ".gitignore").write_text("*.py\n")
    settings = f"[core]\n hooksPath = {hooks}\n excludesFile = {home}/.gitignore\n[commit]\n gpgsign = true\n"
    (home / ".gitconfig").write_text(f"{settings}[init]\n templateDir = {home}\n")
    monkeypatch.setenv("HOME", str(home))
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))  # as inside a git hook
    scratch = Scratch(tmp_path / "scratch")
    scratch.commit({"one.py": "1\n"}, "First")
    assert not list((other / ".git" / "objects").glob("??"))
    assert list((tmp_path / "scratch" / ".git" / "objects").glob("??"))


def test_what_stands_in_the_way_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="can't be written"):
        Scratch(tmp_path / "file")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RequestError, match="git is not installed"):
        Scratch(tmp_path / "new")
