"""Accepted slowdowns from end to end: real git, real wheels, real processes, the CPU as device."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from solwatch.app.acceptances import accepted_between
from solwatch.app.reporting import reported
from solwatch.model.acceptance import Acceptance
from solwatch.model.errors import ExitCode, RequestError
from solwatch.model.verdict import Verdict
from solwatch.workspace.acceptances import FILE, write_acceptance
from solwatch.workspace.git import Repository

TODAY = date(2026, 11, 30)


class Days:
    """A clock that stands at one day; the rounds' own time goes on."""

    def __init__(self, today: date) -> None:
        self._today = today

    def monotonic(self) -> float:
        return 0.0

    def now(self) -> str:
        return f"{self._today}T12:00:00+00:00"


def write(root: Path, cell: str = "toy_suite.*", share: float = 0.8, commit: str = "0" * 40) -> None:
    entry = Acceptance(
        cell=cell, max=share, reason="exact rounding", owner="Ada", commit=commit,
        created=TODAY, expires=TODAY + timedelta(days=90),
    )  # fmt: skip
    write_acceptance(root / FILE, entry, [], TODAY)


def between(toy: Any, base: str | None, head: str | None = "HEAD") -> list[str]:
    repository = Repository.open(toy.root)
    return [
        entry.cell
        for entry in accepted_between(
            repository,
            repository.resolve(head) if head else repository.working_tree(),
            repository.resolve(base) if base else None,
            TODAY,
            toy.said.append,
        )
    ]


def test_an_entry_counts_from_the_commit_that_has_it_to_the_one_whose_base_has_it(toy: Any) -> None:
    write(toy.root, "a")
    assert between(toy, "HEAD", None) == ["a"]
    toy.commit("slower")
    toy.commit("later")
    write(toy.root, "b")
    toy.commit("slower once more")
    assert between(toy, "HEAD~3") == ["a", "b"]
    assert between(toy, "HEAD~3", "HEAD~1") == ["a"]
    assert between(toy, "HEAD~1") == ["b"]
    assert between(toy, "HEAD") == between(toy, None) == []
    # squashed onto the base: another commit without any of that history
    squashed = toy.git("commit-tree", "HEAD^{tree}", "-p", "HEAD~3", "-m", "squashed")
    assert between(toy, "HEAD~3", squashed) == ["a", "b"]
    assert between(toy, "HEAD", squashed) == []


def test_an_entry_that_is_edited_or_renewed_does_not_accept_a_second_slowdown(toy: Any) -> None:
    write(toy.root, share=0.5)
    toy.commit("slower")
    path = toy.root / FILE
    path.write_text(path.read_text().replace("max = 0.5", "max = 0.9").replace("exact rounding", "still"))
    assert between(toy, "HEAD", None) == []
    assert between(toy, "HEAD~1", None) == ["toy_suite.*"]


def test_further_entries_of_one_commit_count_each_for_a_slowdown_of_its_own(toy: Any) -> None:
    def sizes(base: str) -> list[float]:
        repository = Repository.open(toy.root)
        head, old = repository.working_tree(), repository.resolve(base)
        return [entry.max for entry in accepted_between(repository, head, old, TODAY, toy.said.append)]

    write(toy.root, share=0.1)
    toy.commit("slower")
    path = toy.root / FILE
    first = path.read_text()
    write(toy.root, share=0.2)  # of another branch from the same commit, too
    assert sizes("HEAD") == [0.2]
    assert sizes("HEAD~1") == [0.1, 0.2]
    path.write_text(path.read_text().replace("max = 0.1", "max = 0.15"))
    assert sizes("HEAD") == [0.2]
    table = first.partition("\n\n")[2]
    path.write_text(f"{table.replace('max = 0.1', 'max = 0.2')}\n{table}")  # as a merge may put them
    assert sizes("HEAD") == [0.2]


def test_a_file_of_base_that_is_spoilt_lets_nothing_through_and_can_be_repaired(toy: Any) -> None:
    (toy.root / FILE).write_text("[[")
    toy.commit("spoilt")
    with pytest.raises(RequestError, match=f"{FILE} at HEAD is not valid TOML"):
        between(toy, "HEAD~1")
    (toy.root / FILE).unlink()
    write(toy.root)
    toy.commit("repaired")
    assert between(toy, "HEAD~1") == []
    assert toy.said[-1].startswith("no accepted slowdown is taken into account, base may have them all: ")
    assert between(toy, "HEAD~2") == ["toy_suite.*"]


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_at_a_commit_is_refused(toy: Any, kind: str) -> None:
    path = toy.root / FILE
    if kind == "folder":
        path.mkdir()
        (path / "a.toml").write_text("")
    else:
        path.symlink_to("setup.py")
    toy.commit(kind)
    with pytest.raises(RequestError, match=f"{FILE} at HEAD is not a file"):
        between(toy, "HEAD~1")


def test_a_huge_file_at_a_commit_is_refused(toy: Any) -> None:
    (toy.root / FILE).write_text("#" * (1 << 19))
    toy.commit("huge")
    with pytest.raises(RequestError, match=f"{FILE} at HEAD has 524288 bytes"):
        between(toy, "HEAD~1")


@pytest.mark.slow
def test_an_accepted_slowdown_passes_a_larger_one_fails_and_the_reference_forgets(toy: Any) -> None:
    toy.git("tag", "v1")
    config = (toy.root / "solwatch.toml").read_text()
    write(toy.root)
    toy.commit("1.5 times as long", op=toy.op.format(seconds=0.0016), config=f'{config}reference = "last-release"\n')
    accepted = toy.compare("HEAD~1", clock=Days(TODAY))
    assert accepted.judgement.exit_code == ExitCode.OK
    assert {cell.verdict for cell in accepted.judgement.verdicts} == {Verdict.ACCEPTED}
    said = " ".join(accepted.judgement.verdicts[0].evidence)
    assert "accepted up to 80 % by Ada until 2027-02-28: exact rounding" in said
    assert accepted.record.header.reference is None
    assert "exact rounding" in accepted.kept.report.read_text()
    again = reported(accepted.kept.record, toy.root / "build/again")
    assert again.judgement == accepted.judgement

    toy.commit("three times", op=toy.op.format(seconds=0.004))
    larger = toy.compare("HEAD~2", clock=Days(TODAY))
    assert larger.judgement.exit_code == ExitCode.SLOWER
    assert {cell.verdict for cell in larger.judgement.verdicts} == {Verdict.SLOWER}

    toy.commit("back to 1.5 times", op=toy.op.format(seconds=0.0016))
    pinned = toy.compare(None, pinned=True, clock=Days(TODAY))
    assert pinned.judgement.exit_code == ExitCode.OK
    assert pinned.record.header.base is not None
    assert pinned.record.header.base.name == "tags/v1"
    assert pinned.record.header.reference is not None
    late = Days(TODAY + timedelta(days=91))
    assert toy.compare("v1", clock=late).judgement.exit_code == ExitCode.OK
    expired = toy.compare(None, pinned=True, clock=late)
    assert expired.judgement.exit_code == ExitCode.SLOWER
    assert "no longer accepted: the acceptance of up to 80 %" in " ".join(expired.judgement.verdicts[0].evidence)
