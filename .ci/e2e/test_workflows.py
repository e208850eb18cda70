"""What a team sees: commits are pushed, proposed and queued; the workflows answer as they must.

One small repository for all tests, in this order: each goes on where the one before it ended. Its fleet has one runner
without a GPU, its suite two cells of the operator's CPU build.
"""

import json

import pytest

from e2e.kernels import CALL, CELL, CPU, OPERATOR, SLOWER, fleet, remark, results, small_repository
from e2e.world import World
from wheels import ROOT

KEPT = {"name": "kept", "labels": ["mine"], "ephemeral": False, "limit_min": 10}
H200 = {"name": "h200", "labels": ["gpu-h200"], "gpu": "NVIDIA H200", "architectures": ["9.0a"], "ephemeral": True}
ALL = {"plan", "build", "cpu", "again", "verdict", "publish", "site", "deploy"}
REVIEWED = {"gpu-fork": {"protection_rules": [{"type": "required_reviewers"}]}}


@pytest.fixture(scope="module")
def world() -> World:
    made = small_repository(ROOT / "build" / "e2e" / "days")
    made.commit("Begin")
    made.begin()
    return made


def test_a_push_that_touches_nothing_is_green_and_says_so(world: World) -> None:
    (world.clone / "README.md").write_text("Another sentence.\n")
    world.commit("Say more")
    run = world.push()
    assert (run.code, run.results) == (0, {"plan": "success", "verdict": "success"})
    assert run["verdict"].summary.startswith("### PASS\n\n`nothing to measure: nothing changed in the build inputs")


def test_a_neutral_push_is_green_kept_and_on_the_site(world: World) -> None:
    head = remark(world, "as before")
    run = world.push()
    assert (run.code, run.results) == (0, dict.fromkeys(ALL, "success"))
    assert run["cpu"].summary.startswith("### PASS")
    assert run["verdict"].summary.startswith("### PASS")
    assert f"cpu/{head[:8]}-" in " ".join(results(world))
    site = world.store / "pages"
    assert head in (site / "index.json").read_text()
    assert list(site.glob("graphs/**/o_proj.OProjCpu.track_time.json"))


def test_a_run_that_is_repeated_changes_nothing_twice(world: World) -> None:
    before = world.on_origin("rev-parse", "asv-results")
    run = world.push(attempt=2, run=world.runs)
    assert (run.code, run.results) == (0, dict.fromkeys(ALL, "success"))
    assert any("nothing is measured: run" in line for line in run["cpu"].log)
    assert any("has all of it already: nothing was pushed" in line for line in run["publish"].log)
    assert world.on_origin("rev-parse", "asv-results") == before


def test_a_slowdown_is_red_named_and_commented_on_once(world: World) -> None:
    main = world.git("rev-parse", "HEAD")
    world.start("careful", main)
    world.edit(OPERATOR, CALL, CALL + SLOWER)
    world.commit("Keep a copy of the weight")
    run, told = world.pull_request(7)
    assert run.results == {
        "plan": "success",
        "build": "success",
        "cpu": "success",
        "again": "success",
        "verdict": "failure",
    }
    assert run["verdict"].log.count("exit status 1") == 1
    assert run["verdict"].summary.startswith("### FAIL")
    for job in ("cpu", "verdict"):
        assert CELL in run[job].summary
    assert any("o_proj.OProjCpu(" in line and "slower" in line for line in run["cpu"].annotations)
    assert any("slower" in line for line in run["verdict"].annotations)
    assert "asv-results" in world.on_origin("branch", "--list", "asv-results")
    assert not any(world.git("rev-parse", "careful")[:8] in name for name in results(world))

    assert world.comment(told).code == 0
    (comment,) = world.known("comments", [])
    assert comment["pull"] == "7"
    assert comment["body"].startswith("<!-- solwatch:comment -->\n### FAIL")
    assert CELL in comment["body"]
    assert told["html_url"] in comment["body"]
    world.keep("comments", [{**comment, "body": "<!-- solwatch:comment --> older"}])
    assert world.comment(told).code == 0
    assert world.known("comments", []) == [comment]
    told["head_sha"] = main
    world.comment(told)
    assert world.known("comments", []) == [comment]


def test_a_head_that_does_not_compile_ends_with_its_code(world: World) -> None:
    world.start("broken", "pushed")
    source = next((world.clone / "kernels/fused_o_proj/csrc").rglob("*.cpp")).relative_to(world.clone)
    (world.clone / source).write_text("this is no C++\n")
    world.commit("Break the build")
    run, told = world.pull_request(8)
    assert run.results == {"plan": "success", "build": "failure", "verdict": "failure"}
    assert "exit status 1" in run["build"].log
    assert "exit status 1" in run["verdict"].log
    assert "the head does not build" in run["verdict"].summary
    assert world.comment(told).code == 0
    assert "the head does not build" in world.known("comments", [])[-1]["body"]


def test_a_fork_is_measured_after_approval_on_ephemeral_runners_of_mains_fleet(world: World) -> None:
    world.start("from-outside", "pushed")
    remark(world, "from outside")
    fleet(world, CPU, KEPT)
    world.commit("Use your other machine too")
    run, _ = world.pull_request(9, fork=True)
    assert run.results == {"plan": "failure", "verdict": "failure"}
    assert "exit status 3" in run["verdict"].log
    assert any("gpu-fork has no required reviewers" in line for line in run["plan"].annotations)

    world.keep("environments", {"gpu-fork": {"protection_rules": [{"type": "branch_policy"}]}})
    run, _ = world.pull_request(9, fork=True)
    assert run.results == {"plan": "failure", "verdict": "failure"}

    world.keep("environments", REVIEWED)
    run, _ = world.pull_request(9, fork=True)
    assert (run.code, run.results) == (0, dict.fromkeys(("plan", "build", "cpu", "again", "verdict"), "success"))
    assert "environment: gpu-fork" in run["plan"].log
    assert not list((world.store / "caches").glob("refs+pull*"))


def test_the_merge_queue_measures_once_and_main_takes_its_verdict(world: World) -> None:
    world.start("queued", "pushed")
    before = set(results(world))
    brought_along(world)
    head = remark(world, "queued")
    run = world.merge_group()
    assert (run.code, run.results) == (0, dict.fromkeys(("plan", "build", "cpu", "again", "verdict"), "success"))
    run = world.push()
    assert (run.code, run.results) == (0, dict.fromkeys(ALL, "success"))
    assert f"reused from run {world.runs - 1}" in run["verdict"].summary
    new = set(results(world)) - before
    assert new, "results of the queue's gate are kept"
    assert all(name.startswith(f"cpu/{head[:8]}-") for name in new), "and nothing that the commit brought along is"


def brought_along(world: World) -> None:
    """Have git track what a run's products would be: results of a commit that nobody measured, a wheel, a verdict."""
    name = next(name for name in results(world) if name.startswith("cpu/") and name != "cpu/machine.json")
    measured = world.on_origin("show", f"asv-results:{name}")
    of = json.loads(measured)["commit_hash"]
    forged = {
        f"build/{place}/cpu/{'f' * 8}{name.removeprefix('cpu/')[8:]}": measured.replace(of, "f" * 40)
        for place in ("asv/results", "handed-over/measured-cpu-9-9/asv/results", "earlier/asv/results")
    }
    forged |= {f"build/{place}/solwatch-99-py3-none-any.whl": "" for place in ("ruler", "handed-over/ruler")}
    forged |= {"build/verdict.json": "{}", "build/earlier/measured-cpu-1-1/verdict.json": "{}"}
    for path, text in forged.items():
        (world.clone / path).parent.mkdir(parents=True, exist_ok=True)
        (world.clone / path).write_text(text)
    world.git("add", "--force", "build")


def test_a_machine_that_is_not_what_its_label_says_is_infrastructure(world: World) -> None:
    world.start("new-card", "pushed")
    remark(world, "for a new card")
    fleet(world, H200)
    world.commit("Measure on an H200")
    run, told = world.pull_request(10)
    assert run.results == {**dict.fromkeys(("plan", "build", "h200", "again"), "success"), "verdict": "failure"}
    assert "exit status 3" in run["verdict"].log
    assert run["verdict"].summary.startswith("### INFRASTRUCTURE: no verdict on this change")
    assert "runner h200 promises 1 × 'NVIDIA H200' and this machine is not that" in run["verdict"].summary
    assert "slower" not in run["verdict"].summary
    assert "measured again on the same machine" in run["verdict"].summary
    assert world.comment(told).code == 0
    assert "INFRASTRUCTURE" in world.known("comments", [])[-1]["body"]

    run = world.merge_group()
    assert (run.code, run["verdict"].result) == (0, "success")
    assert run["verdict"].summary.startswith("### INFRASTRUCTURE")
    assert any("it passes unmeasured" in line for line in run["verdict"].log)
