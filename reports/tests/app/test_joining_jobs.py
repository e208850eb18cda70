"""What became of jobs and of verdicts, in every combination: what may pass, and what only a broken runner may."""

import itertools

import pytest
from fakes.verdicts import PLAN, verdict

from solwatch.app.joining import ends_with, joined
from solwatch.model.entry_verdict import EntryVerdict
from solwatch.model.joint_verdict import JobResult, JointVerdict
from solwatch.workspace.artifacts import Found

WORDS: tuple[JobResult, ...] = ("success", "failure", "cancelled", "skipped")
CODES = (None, 0, 1, 2, 3, 4, 130)
DECIDED = {0, 1, 2}
BUILDS = {"head": 1, "base": 3, "refused": 2, "failure": 3, "cancelled": 3, "skipped": 3}


def join(first: int | None, second: int | None, **jobs: JobResult) -> JointVerdict:
    trials = [verdict(code=code, trial=trial) for trial, code in ((1, first), (2, second)) if code is not None]
    found: list[Found[EntryVerdict]] = [Found(where="h200", value=one) for one in trials]
    return joined(found, entries=["h200"], plan=PLAN, jobs=jobs)


def ends(joint: JointVerdict) -> tuple[int, int]:
    """Return the codes of the check: on a pull request or a push, and in a merge queue."""
    return ends_with(joint, unmeasured="fail"), ends_with(joint, unmeasured="pass")


def decided(first: int | None, second: int | None) -> int | None:
    """Return the verdict that counts: the first one that decided something."""
    return next((code for code in (first, second) if code in DECIDED), None)


EVERYTHING = list(itertools.product(CODES, CODES, WORDS, WORDS, WORDS))


def test_only_a_verdict_of_slower_is_slower() -> None:
    for first, second, gate, again, retry in EVERYTHING:
        strict, queue = ends(join(first, second, gate=gate, again=again, retry=retry))
        assert (strict == 1) == (queue == 1) == (decided(first, second) == 1)


def test_outside_of_a_queue_only_a_verdict_that_nothing_is_slower_passes() -> None:
    for first, second, gate, again, retry in EVERYTHING:
        strict, _ = ends(join(first, second, gate=gate, again=again, retry=retry))
        assert strict != 0 or decided(first, second) == 0


@pytest.mark.parametrize("job", ["gate", "again", "retry"])
def test_what_was_cancelled_never_passes(job: str) -> None:
    for first, second, *words in EVERYTHING:
        jobs = dict(zip(("gate", "again", "retry"), words, strict=True))
        measured_again = job == "gate" and jobs["retry"] == "success" and (first, second) != (None, None)
        if jobs[job] == "cancelled" and not measured_again:
            assert 0 not in ends(join(first, second, **jobs))


def test_a_gate_at_its_time_limit_passes_when_its_retry_does() -> None:
    assert ends(join(None, 0, gate="cancelled", again="success", retry="success")) == (0, 0)
    assert ends(join(130, 0, gate="cancelled", again="success", retry="success")) == (0, 0)
    assert ends(join(None, None, gate="cancelled", again="success", retry="success")) == (3, 3)
    assert ends(join(None, 130, gate="failure", again="success", retry="failure")) == (3, 3)


def test_a_queue_lets_pass_what_runners_failed_to_measure_and_nothing_else() -> None:
    for first, second, gate, again, retry in EVERYTHING:
        strict, queue = ends(join(first, second, gate=gate, again=again, retry=retry))
        if strict in (0, 1, 2):
            assert queue == strict
        elif queue == 0:
            assert "cancelled" not in (again, retry)
            assert "skipped" not in (gate, again)
            assert 130 not in (first if second is None else second,)
            assert gate != "cancelled" or retry == "success"
            assert (first, second) != (None, None) or (gate if retry == "skipped" else retry) == "failure"


@pytest.mark.parametrize(
    ("first", "second", "jobs", "wanted"),
    [
        (3, 3, ("success", "success", "success"), (3, 0)),  # a machine that is not what its label says
        (4, 4, ("success", "success", "success"), (4, 0)),  # noise
        (None, None, ("failure", "success", "failure"), (3, 0)),  # the runner was lost, twice
        (None, 0, ("failure", "success", "success"), (0, 0)),  # once
        (3, None, ("success", "failure", "skipped"), (3, 0)),  # the job between them had no network
        (None, None, ("cancelled", "skipped", "skipped"), (3, 3)),  # somebody cancelled the run
        (0, None, ("cancelled", "skipped", "skipped"), (3, 3)),  # after this entry, before another
        (0, None, ("success", "cancelled", "skipped"), (3, 3)),
        (3, None, ("success", "success", "cancelled"), (3, 3)),
        (3, None, ("success", "success", "skipped"), (3, 3)),
        (None, None, ("skipped", "skipped", "skipped"), (3, 3)),  # never asked to run
        (None, None, ("success", "success", "success"), (3, 3)),  # whose verdicts are gone
        (None, None, ("failure", "success", "success"), (3, 3)),
        (130, None, ("failure", "success", "failure"), (3, 3)),
        (0, None, ("success", "success", "skipped"), (0, 0)),
        (1, None, ("cancelled", "skipped", "skipped"), (1, 1)),
        (2, None, ("success", "success", "skipped"), (2, 2)),
    ],
)
def test_the_rows_of_the_documentation(
    first: int | None, second: int | None, jobs: tuple[JobResult, ...], wanted: tuple[int, int]
) -> None:
    joint = join(first, second, **dict(zip(("gate", "again", "retry"), jobs, strict=True)))
    assert ends(joint) == wanted
    assert "slower" not in joint.text or wanted[0] in (0, 1)


@pytest.mark.parametrize(
    ("h200", "b200", "retry", "queue"),
    [
        (None, 0, "failure", 0),  # one runner was lost, and GitHub's word is its
        (3, None, "failure", 0),
        (None, None, "failure", 3),  # of two, one may have been cancelled behind the other's failure
        (None, None, "success", 3),
        (None, 1, "failure", 1),
    ],
)
def test_one_word_for_two_runners_tells_of_one(
    h200: int | None, b200: int | None, retry: JobResult, queue: int
) -> None:
    said = [verdict(entry, code) for entry, code in (("h200", h200), ("b200", b200)) if code is not None]
    found: list[Found[EntryVerdict]] = [Found(where="x", value=one) for one in said]
    jobs: dict[str, JobResult] = {"gate": "failure", "again": "success", "retry": retry}
    joint = joined(found, entries=["h200", "b200"], plan=PLAN, jobs=jobs)
    assert ends(joint)[1] == queue
    if queue == 3:
        assert joint.problems[-1].startswith("no verdict arrived from h200, b200, and job retry ")


@pytest.mark.parametrize("build", BUILDS)
def test_a_queue_waits_for_a_build_that_was_ended_or_left_out(build: str) -> None:
    joint = joined([], entries=["h200"], plan=PLAN, build=build)  # type: ignore[arg-type]
    strict, queue = ends(joint)
    assert strict == BUILDS[build]
    assert queue == (0 if build in ("base", "failure") else strict)


def test_what_can_not_be_trusted_is_no_broken_runner() -> None:
    foreign = Found(where="x", value=verdict("elsewhere"))
    doubts = [joined([foreign], entries=["h200"], plan=PLAN), joined([], entries=["h200"], doubts=["the plan: no"])]
    assert [ends(joint) for joint in doubts] == [(3, 3), (3, 3)]


def test_where_nothing_was_to_be_measured_nothing_counts() -> None:
    idle = PLAN.__class__(event="push", base=PLAN.base, head=PLAN.head, needed=False, reason="nothing changed")
    for gate, again, retry in itertools.product(WORDS, WORDS, WORDS):
        joint = joined([], plan=idle, build="skipped", jobs={"gate": gate, "again": again, "retry": retry})
        assert ends(joint) == (0, 0)
