"""What a team finds in the morning: the nightly run tells where main became slower, and which commit did it."""

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.kernels import CALL, CELL, OPERATOR, SLOWER, remark, results, small_repository
from e2e.world import World
from solwatch import PROTOCOL
from solwatch.asvio.resultfiles import Description, Measured, Samples, Value, write_results
from solwatch.workspace.files import write_atomically
from wheels import ROOT

COMMITS = 12
SLOWER_AT = 6
LEVELS_S = (100e-6, 700e-6)  # as four copies of the weight cost it
PARAMS = ("1", "'small-1024'")
NIGHTLY = {"plan", "build (cpu)", "measure (cpu)", "changes", "issues"}
BISECTION = {"build", "cpu", "tell"}


@pytest.fixture(scope="module")
def shas() -> list[str]:
    """Return the commits of main that have results, oldest first; filled by ``world``."""
    return []


@pytest.fixture(scope="module")
def world(shas: list[str]) -> World:
    made = small_repository(ROOT / "build" / "e2e" / "nights")
    made.edit(".github/workflows/nightly.yml", 'selftest --device "$DEVICE"', 'selftest --budget 20 --device "$DEVICE"')
    made.commit("Begin")
    for index in range(COMMITS):
        if index == SLOWER_AT:
            made.edit(OPERATOR, CALL, CALL + SLOWER)
            shas.append(made.commit("Keep a copy of the weight"))
        else:
            shas.append(remark(made, f"number {index}"))
    made.begin()
    keep_results(made, shas)
    return made


def keep_results(world: World, shas: list[str]) -> None:
    """Put results of all commits on the branch, as main's pushes would have."""
    folder = world.folder / "results"
    described = Description(
        name="o_proj.OProjCpu.track_time",
        params=[[one] for one in PARAMS],
        param_names=["tokens", "layer"],
        type="time",
        unit="seconds",
        version=f"solwatch-protocol-{PROTOCOL}",
    )
    for index, sha in enumerate(shas):
        level = LEVELS_S[index >= SLOWER_AT]
        cells: dict[tuple[str, ...], Value] = {PARAMS: Samples([level * factor for factor in (0.99, 1.0, 1.01)])}
        # of a Python that nobody has: what the night measures itself is another series
        about = Measured(machine={"machine": "cpu"}, commit=sha, date_ms=0, python="3.0")
        write_results(folder, about, [described], {described.name: cells}, write=write_atomically)
    command = [str(Path(sys.executable).with_name("solwatch")), "history", "push", "--results", str(folder)]
    subprocess.run(command, cwd=world.clone, check=True)


def test_a_night_opens_one_issue_with_the_commit_that_did_it(world: World, shas: list[str]) -> None:
    good, bad = shas[SLOWER_AT - 1], shas[SLOWER_AT]
    run = world.by_hand("nightly.yml")
    assert set(run.results) == NIGHTLY | BISECTION
    # a busy machine may fail its own selftest, which ends the job red, and nothing else
    told = {name: result for name, result in run.results.items() if name != "measure (cpu)"}
    assert told == dict.fromkeys(told, "success")
    kept = results(world)
    assert any(name.startswith(f"cpu/{shas[-1][:8]}-") for name in kept)
    assert {"noise.jsonl", "changes.jsonl"} <= set(kept)

    (issue,) = world.known("issues", [])
    assert issue["state"] == "OPEN"
    assert CELL in issue["title"]
    assert f"solwatch bisect {good} {bad}" in issue["body"].replace("\n", " ")
    (comment,) = world.known("comments", [])
    assert comment["pull"] == str(issue["number"])
    assert comment["body"].splitlines()[0] == f"<!-- solwatch:bisection {good} {bad} -->"
    assert f"**first slower commit**: {bad[:8]}" in comment["body"]


def test_a_range_by_hand_is_told_in_the_issue_that_was_named(world: World, shas: list[str]) -> None:
    good, bad = shas[SLOWER_AT - 2], shas[SLOWER_AT + 1]
    run = world.by_hand("bisect.yml", good=good, bad=bad, entry="cpu", bench="OProjCpu", issue="1", every_cell="false")
    assert run.results == dict.fromkeys(BISECTION, "success")
    (_, comment) = world.known("comments", [])
    assert comment["pull"] == "1"
    assert f"**first slower commit**: {shas[SLOWER_AT][:8]}" in comment["body"]


def test_a_range_the_wrong_way_round_is_refused_before_anything_is_built(world: World, shas: list[str]) -> None:
    run = world.by_hand("bisect.yml", good=shas[-1], bad=shas[0], entry="cpu", bench="", issue="1", every_cell="false")
    assert run.results == {"build": "failure"}
    assert "it is the other way round" in " ".join(run["build"].log)
