"""The gate of one entry: what it hands on, and when a verdict that is there already is taken instead."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from fakes.records import CPU, H200, FakeCell, always, record
from fakes.scratch_project import ScratchProject
from fakes.verdicts import kept
from fakes.verdicts import verdict as made

from solwatch.app.clock import SystemClock
from solwatch.app.entry_gate import Place, ended, judged, located, opened, reused
from solwatch.app.outcome import Kept, Outcome
from solwatch.app.policies import policy_digest
from solwatch.app.session import Request, Services
from solwatch.judge.judging import judge
from solwatch.model.cell import CellSelection
from solwatch.model.config import Config
from solwatch.model.entry_verdict import MOST_CELLS, EntryVerdict
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.record import GpuIdentity, Record
from solwatch.model.verdict import Verdict
from solwatch.workspace.git import Repository

PLACE = Place(entry="h200", host="runner-2", run="4712", attempt=2, trial=1)
BEGUN = opened(PLACE, "2026-03-05T05:00:00+00:00")


def request(**changed: object) -> Request:
    fields = {"config": Config(), "seed": None, "rounds": None} | changed
    return Request(
        command="solwatch ci gate",
        head="HEAD",
        base="HEAD~1",
        device="auto",
        selection=CellSelection("standard"),
        **fields,
    )


class Pipeline:
    """A repository of two commits, and what was said; ``asked`` counts how often the card was asked."""

    def __init__(self, root: Path) -> None:
        self.project = ScratchProject(root)
        self.project.commit("first")
        self.project.answer(2)
        self.project.commit("second")
        self.said: list[str] = []
        self.asked = 0
        self.fingerprint = H200

    @property
    def services(self) -> Services:
        return Services(
            repository=Repository.open(self.project.root),
            clock=SystemClock(),
            environment=dict(os.environ),
            machine="h200",
            say=self.said.append,
            progress=lambda rounds, budget_s: contextlib.nullcontext(),
        )

    @contextlib.contextmanager
    def session(self, request: Request, services: Services) -> Iterator[SimpleNamespace]:
        self.asked += 1
        yield SimpleNamespace(header=SimpleNamespace(fingerprint=self.fingerprint))

    def begun(self, **changed: object) -> EntryVerdict:
        return located(BEGUN, request(**changed), self.services)

    def reused(self, *earlier: EntryVerdict, **changed: object) -> EntryVerdict | None:
        folder = kept(self.project.root.parent / f"earlier-{len(self.said)}-{self.asked}", *earlier)
        return reused(self.begun(**changed), request(**changed), self.services, [folder])


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    there = Pipeline(tmp_path / "project")
    monkeypatch.setattr("solwatch.app.entry_gate.session", there.session)
    return there


def outcome(taken: Record, warnings: list[str] | None = None) -> Outcome:
    report = None if warnings else Path("index.html")
    return Outcome(
        record=taken, judgement=judge(taken), kept=Kept(report=report, record=Path("r"), warnings=warnings or [])
    )


def test_what_is_known_before_measuring_is_added(pipeline: Pipeline) -> None:
    found = pipeline.begun()
    assert found.base.sha == pipeline.project.git("rev-parse", "HEAD~1")
    assert found.head.tree == pipeline.project.git("rev-parse", "HEAD^{tree}")
    assert (found.machine, found.code, found.word) == ("runner-2", 130, "interrupted")


def test_a_judgement_is_handed_on_with_its_worst_cells() -> None:
    cells = [FakeCell(key=f"cell {index}", ratio=1.1 + index / 100) for index in range(30)]
    cells += [FakeCell(key="same"), FakeCell(key="fails", head_failures=always("raised", "no"))]
    taken = record(cells)
    header = msgspec.structs.replace(taken.header, gpus=[GpuIdentity(index=0, uuid="GPU-7")])
    found = judged(BEGUN, outcome(msgspec.structs.replace(taken, header=header)), 1)
    assert (found.code, found.word, found.coverage) == (1, "fail", "32 of 32 decided")
    assert found.counts == {Verdict.SLOWER: 30, Verdict.BROKEN: 1, Verdict.UNCHANGED: 1}
    assert len(found.cells) == MOST_CELLS
    assert [cell.key for cell in found.cells[:2]] == ["cell 29", "cell 28"]
    assert (found.fingerprint, found.gpus) == (H200, ["GPU-7"])
    assert msgspec.json.decode(msgspec.json.encode(found), type=EntryVerdict) == found


def test_a_pass_whose_page_is_missing_is_infrastructure() -> None:
    found = judged(BEGUN, outcome(record([FakeCell(key="a")]), ["the report was not written: disk full"]), 3)
    assert (found.code, found.word) == (3, "infrastructure")
    assert found.text == "the report was not written: disk full"


@pytest.mark.parametrize(("code", "word"), [(2, "refused"), (3, "infrastructure"), (130, "interrupted"), (77, "infra")])
def test_an_end_without_a_judgement_has_its_code_and_one_line(code: int, word: str) -> None:
    found = ended(BEGUN, code, "went\nwrong\x1b[31m")
    assert found.word.startswith(word)
    assert found.code == (code if code != 77 else 3)
    assert found.text == "went wrong[31m"


@pytest.mark.parametrize("code", [0, 1])
def test_the_same_trees_policy_and_card_need_no_measuring(pipeline: Pipeline, code: int) -> None:
    there = pipeline.begun()
    found = pipeline.reused(made(code=code, base=there.base, head=there.head, policy=there.policy, entry="h200-spot"))
    assert found is not None
    assert (found.code, found.entry, found.run, found.attempt, found.base) == (code, "h200", "4712", 2, there.base)
    assert (found.reused.run, found.reused.machine) == ("4711", "runner-1")
    assert pipeline.said == ["nothing is measured: run 4711 had these trees, policy and card"]


def test_commits_of_the_same_content_are_the_same_and_the_run_that_measured_is_named(pipeline: Pipeline) -> None:
    there = pipeline.begun()
    first = pipeline.reused(made(base=there.base, head=there.head, policy=there.policy))
    pipeline.project.git("commit", "--amend", "--quiet", "--no-edit", "--message", "another message")
    found = pipeline.reused(first)
    assert found.reused == first.reused
    assert found.head.sha != first.head.sha


@pytest.mark.parametrize("code", [2, 3, 4, 130])
def test_what_decided_nothing_is_measured(pipeline: Pipeline, code: int) -> None:
    there = pipeline.begun()
    assert pipeline.reused(made(code=code, base=there.base, head=there.head, policy=there.policy)) is None
    assert pipeline.asked == 0, "a card is not opened for nothing"


@pytest.mark.parametrize("changed", [{"head": None}, {"policy": "00" * 32}, {"base": made().head}, {"policy": None}])
def test_other_trees_and_policies_are_measured(pipeline: Pipeline, changed: dict[str, object]) -> None:
    there = pipeline.begun()
    fields = {"base": there.base, "head": there.head, "policy": there.policy} | changed
    assert pipeline.reused(made(**fields)) is None
    assert pipeline.asked == 0


@pytest.mark.parametrize("fingerprint", [CPU, msgspec.structs.replace(H200, driver="other"), None])
def test_another_card_and_other_software_are_measured(pipeline: Pipeline, fingerprint: Fingerprint | None) -> None:
    there = pipeline.begun()
    earlier = made(base=there.base, head=there.head, policy=there.policy, fingerprint=fingerprint)
    assert pipeline.reused(earlier) is None
    assert pipeline.said == ["the verdict on these trees is of another card or another software: measuring"]


def test_another_card_of_the_model_is_the_same(pipeline: Pipeline) -> None:
    there = pipeline.begun()
    pipeline.fingerprint = msgspec.structs.replace(H200, uuid="GPU-other")
    assert pipeline.reused(made(base=there.base, head=there.head, policy=there.policy)) is not None


def test_what_can_not_be_read_is_said_and_not_reused(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "verdict.json").write_text("{")
    assert reused(pipeline.begun(), request(), pipeline.services, [tmp_path / "earlier"]) is None
    assert pipeline.said[0].startswith("not reused: verdict.json: not an EntryVerdict")


def test_a_policy_is_what_decides_and_nothing_else() -> None:
    same = policy_digest(request())
    assert policy_digest(request(seed=7, config=Config(report="elsewhere"))) == same
    others = [
        request(config=Config(min_effect=0.02)),
        request(config=Config(undecided="fail")),
        request(rounds=12),
        request(gpus="all"),
        request(measure_all=True),
    ]
    assert len({same, *map(policy_digest, others)}) == 1 + len(others)
