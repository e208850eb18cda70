"""One verdict out of many: every order of codes, retries, builds, and files that can't be trusted."""

import itertools
from pathlib import Path

import msgspec
import pytest
from fakes.verdicts import BASE, HEAD, PLAN, verdict
from hypothesis import given
from hypothesis import strategies as st

from solwatch.app.handed_over import jobs_of, matrix_of
from solwatch.app.joining import ORDER, joined, to_retry
from solwatch.model.entry_verdict import EntryVerdict
from solwatch.model.errors import RequestError
from solwatch.model.joint_verdict import JointVerdict
from solwatch.model.verdict import Verdict
from solwatch.workspace.artifacts import Found

codes = st.sampled_from([0, 1, 2, 3, 4, 130])


def files(*verdicts: EntryVerdict) -> list[Found[EntryVerdict]]:
    return [Found(where=f"verdict-{index}", value=one) for index, one in enumerate(verdicts)]


def join(*verdicts: EntryVerdict, entries: list[str] | None = None) -> JointVerdict:
    named = list(dict.fromkeys(one.entry for one in verdicts)) if entries is None else entries
    return joined(files(*verdicts), entries=named, plan=PLAN)


@pytest.mark.parametrize("pair", [*itertools.combinations_with_replacement([2, 1, 3, 4, 0], 2)])
def test_of_two_codes_the_first_in_the_documented_order_counts(pair: tuple[int, int]) -> None:
    for first, second in itertools.permutations(pair):
        assert join(verdict("a", first), verdict("b", second)).code == pair[0]


@given(st.lists(codes, min_size=1, max_size=6), st.randoms())
def test_the_order_of_files_changes_nothing(found: list[int], dice: object) -> None:
    made = [verdict(f"entry-{index}", code) for index, code in enumerate(found)]
    shuffled = list(made)
    dice.shuffle(shuffled)
    assert join(*made).code == join(*shuffled).code
    wanted = [3 if code == 130 else code for code in found]
    assert join(*made).code == min(wanted, key=ORDER.index)
    assert [one.code for one in join(*made).entries] == sorted(
        found, key=lambda code: ORDER.index(3 if code == 130 else code)
    )


def test_the_entries_that_decide_are_named() -> None:
    joint = join(verdict("a", 0), verdict("b", 1), verdict("c", 3))
    assert joint.text == "b: 1 slower; worst: o_proj.OProj(1) +3.14 %"
    assert join(verdict("a"), verdict("b")).text == "nothing is slower"
    assert join(verdict("a", 130)).word == "infrastructure"


@pytest.mark.parametrize(("first", "second"), [*itertools.product([3, 4, 130], [0, 1, 2, 3, 4])])
def test_a_retry_replaces_what_decided_nothing(first: int, second: int) -> None:
    (only,) = join(verdict(code=first), verdict(code=second, trial=2)).entries
    assert (only.code, only.retried) == (second, [first])


@pytest.mark.parametrize(("first", "second"), [*itertools.product([0, 1, 2], [0, 1, 2, 3, 4])])
def test_a_verdict_stands_however_often_it_is_measured_again(first: int, second: int) -> None:
    for again in ({"trial": 2}, {"attempt": 2}):
        (only,) = join(verdict(code=first), verdict(code=second, **again)).entries
        assert (only.code, only.retried) == (first, [])


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({}, {}, True),
        ({"gpus": ["GPU-1"], "machine": "pod-1"}, {"gpus": ["GPU-1"], "machine": "pod-2"}, True),
        ({"gpus": ["GPU-1"]}, {"gpus": ["GPU-2"]}, False),
        ({"gpus": []}, {"machine": "runner-1"}, True),
        ({"gpus": []}, {"machine": "runner-2"}, False),
        ({"gpus": [], "machine": None}, {}, None),
    ],
)
def test_a_retry_says_whether_it_was_the_same_machine(
    before: dict[str, object], after: dict[str, object], same: bool | None
) -> None:
    (only,) = join(verdict(code=3, **before), verdict(code=0, trial=2, **after)).entries
    assert only.same_machine is same


def test_without_a_retry_no_machine_is_compared() -> None:
    assert join(verdict()).entries[0].same_machine is None


def test_an_entry_without_a_verdict_is_infrastructure() -> None:
    joint = join(verdict("a"), entries=["a", "b"])
    assert (joint.code, joint.text.split(":")[0]) == (3, "b")
    assert "the runner was lost" in joint.text
    assert joined([], entries=["a"]).code == 3
    assert joined([]).text == "no verdict arrived from any entry"


@pytest.mark.parametrize(
    "changed",
    [
        {"head": BASE},
        {"base": HEAD},
        {"head": None},
        {"counts": {Verdict.UNCHANGED: 24}},
        {"entry": "not-of-the-fleet"},
    ],
)
def test_a_slower_that_can_not_be_trusted_is_infrastructure_never_slower(changed: dict[str, object]) -> None:
    joint = join(verdict(code=1, **changed), entries=["h200"])
    assert (joint.code, joint.word) == (3, "infrastructure")
    assert joint.problems


def test_a_pass_that_counts_a_slower_cell_does_not_pass() -> None:
    assert join(verdict(counts={Verdict.SLOWER: 1})).code == 3
    assert join(verdict(head=None)).code == 3


def test_a_head_that_does_not_build_on_the_runner_fails_without_any_cell() -> None:
    assert join(verdict(code=1, counts={}, cells=[])).code == 1


def test_a_gate_that_ended_before_it_knew_its_commits_keeps_its_code() -> None:
    for code in (2, 3):
        joint = join(verdict(code=code, base=None, head=None))
        assert (joint.code, joint.problems) == (code, [])


def test_two_verdicts_of_one_trial_are_worth_nothing() -> None:
    for pair in itertools.permutations([verdict(code=1), verdict(code=0)]):
        assert join(*pair).code == 3
    assert join(verdict(), verdict()).code == 0, "one artifact that arrived twice"


def test_a_file_that_can_not_be_read_is_infrastructure_but_does_not_hide_a_slowdown() -> None:
    broken = Found[EntryVerdict](where="verdict-9", problem="larger than 1 MiB")
    assert joined([*files(verdict()), broken], plan=PLAN).code == 3
    joint = joined([*files(verdict(code=1)), broken], plan=PLAN)
    assert (joint.code, joint.problems) == (1, ["verdict-9: larger than 1 MiB"])


def test_nothing_to_measure_is_0_whatever_else_is_missing() -> None:
    plan = msgspec.structs.replace(PLAN, needed=False, reason="nothing changed")
    for build in ("success", "skipped", "failure"):
        joint = joined([], entries=["h200"], plan=plan, build=build)
        assert (joint.code, joint.text) == (0, "nothing to measure: nothing changed")


@pytest.mark.parametrize(
    ("build", "code"), [("head", 1), ("base", 3), ("refused", 2), ("failure", 3), ("cancelled", 3), ("skipped", 3)]
)
def test_a_build_that_failed_decides(build: str, code: int) -> None:
    joint = joined([], entries=["h200"], plan=PLAN, build=build)
    assert (joint.code, joint.entries, joint.build) == (code, [], build)


def test_a_plan_that_can_not_be_read_is_infrastructure() -> None:
    joint = joined(files(verdict()), doubts=["the plan: not a Plan"])
    assert (joint.code, joint.text) == (3, "the plan: not a Plan")


def test_what_a_second_trial_may_help_gets_one_and_no_third() -> None:
    joint = join(
        *(verdict(f"e{code}", code) for code in (0, 1, 2, 3, 4, 130)),
        verdict("again", 3),
        verdict("again", 3, trial=2),
        entries=["e0", "e1", "e2", "e3", "e4", "e130", "again", "lost"],
    )
    assert sorted(to_retry(joint)) == ["e130", "e3", "e4", "lost"]


def test_jobs_of_a_matrix_are_kept_as_they_are() -> None:
    text = '{"include":[{"name":"h200","labels":["gpu"],"limit_min":20},{"name":"cpu"}]}'
    jobs = jobs_of(text)
    assert list(jobs) == ["h200", "cpu"]
    assert matrix_of(list(jobs.values())) == text


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"include": [{}]}', '{"include": [{"name": "a b"}]}', '{"include": [1]}', "[" * 9999]
)
def test_what_is_no_matrix_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="--matrix is not a matrix") as raised:
        jobs_of(text)
    assert "\n" not in str(raised.value)


def test_it_survives_being_written_and_read(tmp_path: Path) -> None:
    joint = join(verdict("a", 3), verdict("a", 1, trial=2), entries=["a", "b"])
    assert msgspec.json.decode(msgspec.json.encode(joint), type=JointVerdict) == joint
