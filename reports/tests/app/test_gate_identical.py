"""Gates of commits in which nothing that runs has changed, from end to end: real builds, real processes."""

import json
from pathlib import Path
from typing import Any

import pytest

from solwatch.app.outcome import Outcome
from solwatch.app.reporting import reported
from solwatch.model.errors import ExitCode
from solwatch.model.verdict import Reason
from solwatch.render.terminal import render_terminal

pytestmark = pytest.mark.slow

COMPILING = """
import os, uuid
from pathlib import Path

def double(x, out):
    kernel = Path(os.environ["TRITON_CACHE_DIR"], "kernel")
    if not kernel.exists():
        kernel.parent.mkdir(parents=True, exist_ok=True)
        kernel.write_text({text})
    out.copy_(x * 2)
"""

READING = """
import json
from pathlib import Path

SIZES = json.loads((Path(__file__).parents[1] / "sizes.json").read_text())
"""


def gate(toy: Any, rounds: int = 1) -> Outcome:
    outcome: Outcome = toy.compare("HEAD~1", rounds=rounds, measure_all=False)
    return outcome


def unmeasured(outcome: Outcome) -> list[str]:
    return [cell.key for cell in outcome.judgement.verdicts if cell.reason is Reason.IDENTICAL]


def timed(outcome: Outcome) -> set[str]:
    return {cell.key for round_ in outcome.record.rounds for cell in round_.cells}


def test_a_build_with_another_key_and_nothing_else_is_measured_in_one_cell(toy: Any, tmp_path: Path) -> None:
    setup = toy.root / "setup.py"
    setup.write_text(setup.read_text() + "# a comment that is built from, and leaves nothing in the wheel\n")
    toy.commit("comment")
    outcome = gate(toy, rounds=5)
    head, base = outcome.record.header.head, outcome.record.header.base
    assert base is not None
    assert head.build != base.build
    (left,) = unmeasured(outcome)
    assert timed(outcome) == {"toy_suite.Toy(8)", "toy_suite.Toy(16)"} - {left}
    assert outcome.judgement.exit_code == ExitCode.OK
    said = "1 of 2 cells are not measured: nothing that they run has changed (--measure-all measures them)"
    assert said in toy.said
    again = reported(outcome.kept.record, tmp_path / "again")
    assert again.judgement == outcome.judgement
    assert "1 of 2 not measured" in render_terminal(again.record, again.judgement)
    document = json.loads((tmp_path / "again/report.json").read_text())
    assert list(document["header"]["identity"]["unmeasured"]) == [left]
    (results, _) = (toy.root / "build/asv/results").glob("*/*-*.json")
    assert left not in results.read_text()


def test_measure_all_measures_all(toy: Any) -> None:
    toy.commit("docs only")
    outcome = toy.compare("HEAD~1", rounds=1)
    assert len(timed(outcome)) == 2
    assert outcome.record.header.identity is None


@pytest.mark.parametrize(("text", "same"), [("'always the same'", True), ("uuid.uuid4().hex", False)])
def test_what_a_cell_compiles_decides(toy: Any, text: str, same: bool) -> None:
    toy.commit("compiles", op=COMPILING.format(text=text))
    toy.commit("docs only")
    outcome = gate(toy)
    identity = outcome.record.header.identity
    assert identity is not None
    assert identity.differences == []
    assert [digest is not None for digest in identity.unmeasured.values()] == [True] * same
    assert len(timed(outcome)) == 2 - same


def test_data_that_the_suite_reads_beside_itself_counts_and_other_files_do_not(toy: Any) -> None:
    (toy.root / "sizes.json").write_text("[8, 16]")
    toy.commit("reads", suite=READING + toy.suite.replace("[[8, 16]]", "[SIZES]"))
    (toy.root / "README.md").write_text("nothing reads this")
    toy.commit("docs only")
    assert len(unmeasured(gate(toy))) == 1
    (toy.root / "sizes.json").write_text("[8,  16]")
    toy.commit("other data")
    outcome = gate(toy)
    identity = outcome.record.header.identity
    assert identity is not None
    assert identity.differences == ["files that the suite reads: sizes.json"]
    assert len(timed(outcome)) == 2


def test_a_changed_suite_and_changed_sources_are_measured(toy: Any) -> None:
    toy.commit("suite", suite=toy.suite + "# a comment\n")
    suite = gate(toy)
    toy.commit("op", op=toy.op.format(seconds=0.001) + "# a comment\n")
    op = gate(toy)
    for outcome, difference in ((suite, "suite: toy_suite.py"), (op, "Python sources: toy/__init__.py")):
        assert outcome.record.header.identity.differences == [difference]  # type: ignore[union-attr]
        assert unmeasured(outcome) == []
        assert len(timed(outcome)) == 2


def test_the_working_tree_as_it_was_committed_is_identical_too(toy: Any) -> None:
    outcome = toy.compare("HEAD", None, rounds=1, measure_all=False)
    assert len(unmeasured(outcome)) == 1
