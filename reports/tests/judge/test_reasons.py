"""Conclusions that the evidence allows, in the direction of the verdict, and silence otherwise."""

from typing import Any

import msgspec
import pytest
from fakes.reasons import NAME, called, code, launch, profiles, why_of, with_calls
from fakes.records import FakeCell, record
from hypothesis import given, settings
from hypothesis import strategies as st

from solwatch.judge.judgement import CellFacts, DeviceState, Judgement
from solwatch.judge.judging import judge
from solwatch.judge.reasons import reasons
from solwatch.model.record import Record
from solwatch.model.verdict import Verdict
from solwatch.model.why import Called, KernelCode, KernelNames, Launch, Profile, Why

KEY = "o_proj.OProj(16, 'llama-3-70b')"
SAME = "the machine code of the kernel is the same: look at the host's side, clocks and placement"


@pytest.fixture(scope="module")
def facts() -> CellFacts:
    return judge(record([FakeCell(key=KEY, ratio=1.05)], rounds=3)).facts[KEY]


def said(
    facts: CellFacts,
    head: Called,
    base: Called,
    why: Why | None = None,
    verdict: Verdict = Verdict.SLOWER,
) -> list[str]:
    return reasons(verdict, facts, head, base, why).sentences


def of_code(facts: CellFacts, head: KernelCode, base: KernelCode, *launches: Launch, faster: bool = False) -> list[str]:
    ours, theirs = launches or (launch(), launch())
    verdict = Verdict.FASTER if faster else Verdict.SLOWER
    return said(facts, called(ours), called(theirs), why_of(KEY, head, base), verdict)


def other(**changed: Any) -> KernelCode:
    return code(digest="c0de", **changed)


def test_spills_that_appeared(facts: CellFacts) -> None:
    spilling = other(local_store_bytes=48, local_load_bytes=40, stack_bytes=48)
    assert of_code(facts, spilling, code()) == ["spills appeared: 0 → 48 bytes a thread"]
    assert of_code(facts, code(), spilling, faster=True) == ["spills gone: 48 → 0 bytes a thread"]


def test_arrays_in_local_memory_are_not_called_spills(facts: CellFacts) -> None:
    assert of_code(facts, other(local_store_bytes=160, indexed=True), code()) == [
        "local memory appeared: 0 → 160 bytes a thread"
    ]


def test_without_a_disassembler_the_stack_is_named(facts: CellFacts) -> None:
    unread: dict[str, Any] = {"instructions": None, "local_store_bytes": None, "local_load_bytes": None}
    assert of_code(facts, other(stack_bytes=16, **unread), code(**unread)) == ["stack appeared: 0 → 16 bytes a thread"]


def test_registers_that_cost_a_block(facts: CellFacts) -> None:
    expected = "registers 128 → 168 a thread, 4 → 3 blocks on an SM: occupancy 25 % → 18.8 %"
    assert of_code(facts, other(registers=168), code()) == [expected]


def test_shared_memory_that_costs_a_block(facts: CellFacts) -> None:
    expected = "shared memory 48 KiB → 96 KiB a block, 4 → 2 blocks on an SM: occupancy 25 % → 12.5 %"
    assert of_code(facts, code(), code(), launch(dynamic_shared_bytes=96 << 10), launch()) == [expected]


def test_registers_that_cost_nothing_are_no_reason(facts: CellFacts) -> None:
    few = (launch(dynamic_shared_bytes=100 << 10), launch(dynamic_shared_bytes=100 << 10))
    assert of_code(facts, other(registers=140), code(), *few) == ["the kernel's machine code has changed"]


def test_the_driver_s_occupancy_is_taken_before_the_computed_one(facts: CellFacts) -> None:
    told = launch(registers=168, blocks_per_sm=2), launch(registers=128, blocks_per_sm=4)
    assert of_code(facts, other(registers=168), code(), *told) == [
        "registers 128 → 168 a thread, 4 → 2 blocks on an SM: occupancy 25 % → 12.5 %"
    ]


def test_another_tile(facts: CellFacts) -> None:
    ours = called(kernel="mma_tile", tile="128×128×64", stages="3")
    theirs = called(kernel="mma_tile", tile="64×128×64", stages="4")
    assert said(facts, ours, theirs) == ["another tile: 64×128×64 → 128×128×64, stages 4 → 3"]
    assert said(facts, ours, theirs, verdict=Verdict.FASTER) == said(facts, ours, theirs)
    assert said(facts, ours, Called()) == []


def test_tensor_instructions_that_gave_way(facts: CellFacts) -> None:
    wgmma = code(instructions={"all": 900, "wgmma": 32})
    mma = other(instructions={"all": 1300, "mma": 128})
    assert of_code(facts, mma, wgmma) == ["other instructions do the work: wgmma 32 → 0, mma 0 → 128"]
    assert of_code(facts, wgmma, mma, faster=True) == ["other instructions do the work: mma 128 → 0, wgmma 0 → 32"]


def test_other_code_of_the_same_kernel(facts: CellFacts) -> None:
    longer = other(instructions={"all": 1260, "mma": 128, "shared loads": 96})
    assert of_code(facts, longer, code()) == ["the kernel's machine code has changed: 1204 → 1260 instructions"]


def test_the_same_code_launched_alike(facts: CellFacts) -> None:
    assert of_code(facts, code(), code()) == [SAME]
    assert of_code(facts, code(), code(), launch(grid=[128, 1, 1]), launch()) == []


def test_the_same_code_is_not_claimed_of_kernels_that_were_not_read(facts: CellFacts) -> None:
    why = why_of(KEY, code(), code())
    two = called(launch(), launch(kernel="cublas"))
    names = KernelNames(head=[NAME, "cublas"], base=[NAME, "cublas"])
    why = msgspec.structs.replace(why, calls={KEY: names})
    assert said(facts, two, two, why) == []


def test_a_launch_more(facts: CellFacts) -> None:
    more = msgspec.structs.replace(facts, head=msgspec.structs.replace(facts.head, launches=2))
    why = msgspec.structs.replace(
        why_of(KEY, code(), code()), calls={KEY: KernelNames(head=[NAME, "copy"], base=[NAME])}
    )
    ours, theirs = called(launch(), launch(kernel="copy")), called(launch())
    assert said(more, ours, theirs, why) == ["one launch more, 1 → 2: copy"]
    assert said(more, ours, theirs, why, Verdict.FASTER) == []


def test_builds_whose_machine_code_is_the_same(facts: CellFacts) -> None:
    files = {"machine code": [], "Python sources": ["fused_o_proj/op.py"]}
    expected = ["no machine code differs between the builds; what does: fused_o_proj/op.py"]
    assert said(facts, Called(), Called(), Why(files=files)) == expected
    assert said(facts, Called(), Called(), Why(files={**files, "machine code": ["libop.so"]})) == []


def test_a_clock_that_was_held_back_on_one_side(facts: CellFacts) -> None:
    hot = DeviceState(throttle_reasons=0x44)
    cool = DeviceState(throttle_reasons=0x4)
    ours = msgspec.structs.replace(
        facts,
        head=msgspec.structs.replace(facts.head, state=hot),
        base=msgspec.structs.replace(facts.base, state=cool),
    )
    assert said(ours, Called(), Called()) == ["head's clock was held back by hardware thermal slowdown, base's was not"]
    assert said(ours, Called(), Called(), verdict=Verdict.FASTER) == []


def test_what_a_profiler_counted(facts: CellFacts) -> None:
    base = Profile(kernel="k", dram_bytes=12e6, stalls={"long scoreboard": 2.0, "wait": 1.0})
    head = Profile(kernel="k", dram_bytes=24e6, stalls={"long scoreboard": 6.0, "wait": 1.1})
    why = why_of(KEY, code(), code(), profiles={KEY: profiles(head, base)})
    assert said(facts, called(launch()), called(launch()), why) == [
        "DRAM traffic 12 MB → 24 MB a call (ncu)",
        "warps wait longer for long scoreboard: 2 → 6 cycles an instruction (ncu)",
    ]


CODES = st.builds(
    code,
    digest=st.sampled_from(["5eed", "c0de"]),
    registers=st.integers(16, 255),
    local_store_bytes=st.integers(0, 64),
    local_load_bytes=st.integers(0, 64),
    indexed=st.booleans(),
    instructions=st.dictionaries(st.sampled_from(["all", "wgmma", "mma", "TMA"]), st.integers(1, 9)).map(
        lambda counts: {"all": 20, **counts}
    ),
)
LAUNCHES = st.builds(launch, dynamic_shared_bytes=st.integers(0, 200 << 10), grid=st.just([8, 1, 1]))


@settings(deadline=None)
@given(code=CODES, one=LAUNCHES, verdict=st.sampled_from([Verdict.SLOWER, Verdict.FASTER]))
def test_equal_sides_leave_nothing_but_the_same_code(
    facts: CellFacts, code: KernelCode, one: Launch, verdict: Verdict
) -> None:
    sentences = said(facts, called(one), called(one), why_of(KEY, code, code), verdict)
    assert sentences == [SAME]


@settings(deadline=None)
@given(head=CODES, base=CODES, ours=LAUNCHES, theirs=LAUNCHES)
def test_what_makes_one_side_slower_makes_the_other_faster(
    facts: CellFacts, head: KernelCode, base: KernelCode, ours: Launch, theirs: Launch
) -> None:
    slower = of_code(facts, head, base, ours, theirs)
    faster = of_code(facts, base, head, theirs, ours, faster=True)
    assert len(slower) == len(faster)


@settings(deadline=None)
@given(verdict=st.sampled_from(sorted(Verdict)), head=CODES, base=CODES)
def test_nothing_is_concluded_from_nothing(
    facts: CellFacts, verdict: Verdict, head: KernelCode, base: KernelCode
) -> None:
    assert said(facts, Called(), Called(), None, verdict) == []
    assert said(facts, Called(), Called(), Why(head={NAME: head}, base={NAME: base}), verdict) == []


def judged(why: Why | None) -> tuple[Record, Judgement]:
    taken = with_calls(record([FakeCell(key=KEY, ratio=1.05)]), KEY, called(launch()), called(launch()))
    taken = msgspec.structs.replace(taken, why=why)
    return taken, judge(taken)


def test_the_reason_stands_right_after_what_was_measured() -> None:
    _, without = judged(None)
    _, judgement = judged(why_of(KEY, other(registers=168), code()))
    sentence = "registers 128 → 168 a thread, 4 → 3 blocks on an SM: occupancy 25 % → 18.8 %"
    plain, explained = without.verdicts[0], judgement.verdicts[0]
    assert explained.evidence == [plain.evidence[0], sentence, *plain.evidence[1:]]
    assert (explained.verdict, judgement.exit_code) == (plain.verdict, without.exit_code)
    assert judgement.reasons[KEY].kernels[0].head.registers == 168
