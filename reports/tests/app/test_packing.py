"""Builds packed on one machine and measured on another one without a compiler."""

from pathlib import Path
from typing import Any

import pytest

from solwatch.app.packing import packed
from solwatch.model.errors import ExitCode, HeadBuildError, RequestError
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

pytestmark = pytest.mark.slow


def pack(toy: Any, folder: Path, *commits: str) -> None:
    config = load_config(toy.root, {})
    packed(Repository.open(toy.root), config, commits, "cpu", folder, environment={}, say=lambda text: None)


def test_a_gate_takes_both_builds_from_a_pack(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    pack(toy, tmp_path / "pack", "HEAD~1", "HEAD")
    monkeypatch.setattr("solwatch.workspace.builds.Builder.provide", lambda *_: pytest.fail("compiled"))
    outcome = toy.compare("HEAD~1", builds=tmp_path / "pack")
    assert outcome.judgement.exit_code == ExitCode.SLOWER
    assert outcome.record.header.head.build != outcome.record.header.base.build


def test_a_gate_of_what_is_not_in_the_pack_measures_nothing(toy: Any, tmp_path: Path) -> None:
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    pack(toy, tmp_path / "pack", "HEAD")
    with pytest.raises(RequestError, match="has no build of HEAD~1"):
        toy.compare("HEAD~1", builds=tmp_path / "pack")


def test_a_head_that_does_not_compile_is_heads_fault_and_leaves_no_pack(toy: Any, tmp_path: Path) -> None:
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler likes this')")
    toy.git("commit", "-qam", "broken")
    with pytest.raises(HeadBuildError, match="head is at fault"):
        pack(toy, tmp_path / "pack", "HEAD~1", "HEAD")
    assert not (tmp_path / "pack").exists()
