"""Builds packed on one machine and measured on another one without a compiler."""

from pathlib import Path
from typing import Any

import pytest

from solwatch.app.packing import Packed, packed
from solwatch.model.errors import ExitCode, HeadBuildError, RequestError
from solwatch.workspace.builds import Builder
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config

PRUNE = Builder._prune
pytestmark = pytest.mark.slow


def pack(toy: Any, folder: Path, *commits: str, between: bool = False) -> Packed:
    config = load_config(toy.root, {})
    return packed(
        Repository.open(toy.root), config, commits, "cpu", folder, between=between, environment={}, say=toy.said.append
    )


def prune_to_two(builder: Any, current: Path) -> None:
    """Stand for a cache of builds that is smaller than the range."""
    builder._keep = 2
    PRUNE(builder, current)


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


def test_a_range_is_packed_without_what_does_not_build(toy: Any, tmp_path: Path) -> None:
    setup = (toy.root / "setup.py").read_text()
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler likes this')")
    broken = toy.commit("broken")
    documents = toy.commit("a document beside it")
    (toy.root / "setup.py").write_text(setup)
    toy.git("mv", "benchmarks", "elsewhere")
    bare = toy.commit("no suite")
    toy.git("mv", "elsewhere", "benchmarks")
    toy.commit("the suite again")
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    toy.unbuilt()
    done = pack(toy, tmp_path / "pack", "HEAD~5", "HEAD", between=True)
    assert list(done.left_out) == [broken, documents, bare]
    assert done.left_out[documents] == "does not build: exit code 1"
    assert "has no folder" in done.left_out[bare]
    assert sum(line.startswith("building ") for line in toy.said) == 3, "what is the same is built once, or fails once"
    assert [one.commit.subject for one in done.builds] == ["first", "the suite again", "slower"]
    assert len(list((tmp_path / "pack").glob("*.zip"))) == 2


def test_a_range_may_have_more_builds_than_are_kept(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        toy.commit(str(number), op=toy.op.format(seconds=0.001) + f"# {number}\n")
    monkeypatch.setattr("solwatch.workspace.builds.Builder._prune", prune_to_two)
    pack(toy, tmp_path / "pack", "HEAD~4", "HEAD", between=True)
    assert len(list((tmp_path / "pack").glob("*.zip"))) == 5


@pytest.mark.parametrize(
    ("commits", "said"),
    [(("HEAD",), "two commits, GOOD and BAD, and not 1"), (("HEAD", "HEAD~1"), "the other way round")],
)
def test_what_is_no_range_is_refused(toy: Any, tmp_path: Path, commits: tuple[str, ...], said: str) -> None:
    toy.commit("slower", op=toy.op.format(seconds=0.003))
    with pytest.raises(RequestError, match=said):
        pack(toy, tmp_path / "pack", *commits, between=True)
    assert not (tmp_path / "pack").exists()
