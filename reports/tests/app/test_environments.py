"""Gates of two real virtual environments, on the CPU."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.environments import answer, answering_environment, install, real_environment, renumber_torch

from solwatch.app.environments import activated, in_environments
from solwatch.app.reporting import reported
from solwatch.model.errors import ExitCode, MachineError, RequestError
from solwatch.model.record import Environment
from solwatch.model.verdict import Verdict
from solwatch.render.terminal import render_terminal

pytestmark = pytest.mark.slow


def verdicts(outcome: Any) -> set[Verdict]:
    return {cell.verdict for cell in outcome.judgement.verdicts}


def test_one_build_in_two_environments(toy: Any, tmp_path: Path) -> None:
    toy.unbuilt()
    base, head = (real_environment(tmp_path / f"{name} env") for name in ("base", "head"))
    install(head, "triton", "9.9")
    outcome = toy.compare(None, base_env=base, head_env=head)
    assert outcome.judgement.exit_code == ExitCode.OK
    assert not verdicts(outcome) & {Verdict.SLOWER, Verdict.BROKEN, Verdict.NEW}
    header = outcome.record.header
    assert header.base is not None
    assert header.base.build == header.head.build
    assert header.base_env.path == str(base)
    assert header.head_env.packages == {"triton": "9.9"}
    assert header.base_fingerprint == header.fingerprint
    assert sum(line.startswith("building") for line in toy.said) == 1
    assert "commits" in outcome.kept.warnings[0]
    assert not list((toy.root / "build/asv/results").glob("*/*.json"))
    again = reported(outcome.kept.record, tmp_path / "again")
    assert "base: triton none; head: triton 9.9" in render_terminal(again.record, again.judgement)
    assert "base env (Python" in again.kept.report.read_text()
    assert json.loads((tmp_path / "again/report.json").read_text())["header"]["head_env"]["path"] == str(head)


def test_another_torch_is_the_subject_and_said(toy: Any, tmp_path: Path) -> None:
    base, head = (real_environment(tmp_path / name) for name in ("base", "head"))
    renumber_torch(base, "2.11.0")
    outcome = toy.compare(None, base_env=base, head_env=head, rounds=2)
    header = outcome.record.header
    assert header.base_fingerprint is not None
    assert header.base_fingerprint.torch == "2.11.0"
    assert header.fingerprint.torch not in (None, "2.11.0")
    said = f"base: torch 2.11.0; head: torch {header.fingerprint.torch}"
    assert said in render_terminal(outcome.record, outcome.judgement, width=200)
    page = outcome.kept.report.read_text()
    assert said in page
    assert f"2.11.0 → {header.fingerprint.torch}" in page
    document = json.loads((toy.root / "build/report/report.json").read_text())
    assert document["header"]["base_fingerprint"]["torch"] == "2.11.0"


def test_a_vendor_build_is_measured_in_the_commits_place(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, head = (real_environment(tmp_path / name) for name in ("base", "head"))
    install(head, "toy", "2", toy.op.format(seconds=0.003))
    monkeypatch.chdir(toy.root)  # where another toy lies, which is no side's
    outcome = toy.compare(None, base_env=base, head_env=head)
    assert verdicts(outcome) == {Verdict.SLOWER}
    assert outcome.record.header.head_env.own == ["toy"]
    assert any(line.startswith("head measures the environment's own toy") for line in toy.said)
    assert "head measured its environment's own toy" in render_terminal(outcome.record, outcome.judgement)


def test_a_run_in_one_environment(toy: Any, tmp_path: Path) -> None:
    outcome = toy.compare(None, head_env=real_environment(tmp_path / "env"), rounds=1)
    assert outcome.judgement.exit_code == ExitCode.OK
    assert outcome.record.header.head_env.packages["torch"]
    assert outcome.record.header.base_fingerprint is None


def test_a_commit_that_does_not_build_is_no_environments_fault(toy: Any, tmp_path: Path) -> None:
    (toy.root / "setup.py").write_text("raise SystemExit('no compiler for you')\n")
    toy.commit("does not build")
    env = real_environment(tmp_path / "env")
    with pytest.raises(MachineError, match="no compiler for you"):
        toy.compare(None, base_env=env, head_env=env)


def test_a_suite_that_dies_in_base_is_an_error_not_a_set_of_new_cells(toy: Any, tmp_path: Path) -> None:
    base, head = (real_environment(tmp_path / name) for name in ("base", "head"))
    toy.commit("needs the newer stack", suite=toy.suite + "\nimport os\nos.environ['PATH'].startswith("
               f"{str(base)!r}) and os._exit(9)\n")  # fmt: skip
    with pytest.raises(MachineError, match=rf"does not open on cpu in {base}: died"):
        toy.compare(None, base_env=base, head_env=head)


def test_an_ordinary_gate_refuses_sides_with_different_software(toy: Any) -> None:
    set_up = "\nimport torch, toy\ntorch.__version__ = toy.TORCH\n"
    toy.commit("two", op=toy.op.format(seconds=0.001) + "\nTORCH = '2.11.0'\n", suite=toy.suite + set_up)
    toy.commit("one", op=toy.op.format(seconds=0.001) + "\nTORCH = '2.13.0'\n")
    with pytest.raises(MachineError, match=r"\(torch: 2\.1[13]\.0 != 2\.1[13]\.0\).*--base-env"):
        toy.compare("HEAD~1")


def test_a_build_for_another_python_is_refused_before_it_fails_to_import(tmp_path: Path) -> None:
    build = tmp_path / "build"
    (build / "op").mkdir(parents=True)
    (build / "solwatch-build.json").write_text(json.dumps({"wheel": "op-1-cp301-cp301-linux_x86_64.whl"}))
    env = real_environment(tmp_path / "env")

    class Wheel:
        class side:
            path = (str(build),)

    with pytest.raises(RequestError, match="the commit's build is for cp301 alone: install op in the environment"):
        in_environments({"head": env}, lambda: Wheel, {}, on_gpu=False, say=print)  # type: ignore[arg-type,return-value]


def test_an_environment_is_looked_at_before_anything_is_built(tmp_path: Path) -> None:
    env = answering_environment(tmp_path / "env", answer({"torch": "2.13.0"}))
    with pytest.raises(MachineError, match="lacks msgspec"):
        in_environments({"head": env}, lambda: pytest.fail("built"), {}, on_gpu=False, say=print)


def test_both_sides_are_measured_by_the_solwatch_that_runs(tmp_path: Path) -> None:
    environment = Environment(path="/env", python="3.12.0")
    for _ in range(2):
        seen = activated(environment, {"PATH": "/bin", "HOME": "/home"}, tmp_path)
    assert seen["PATH"] == "/env/bin:/bin"
    assert seen["HOME"] == "/home"
    (link,) = Path(seen["PYTHONPATH"]).iterdir()
    assert link.name == "solwatch"
    assert (link / "__init__.py").is_file()


def test_a_record_of_different_drivers_is_not_judged_again(toy: Any, tmp_path: Path) -> None:
    env = real_environment(tmp_path / "env")
    kept = toy.compare(None, base_env=env, head_env=env, rounds=1).kept.record
    first, *others = kept.read_bytes().splitlines(keepends=True)
    header = msgspec.json.decode(first)
    header["base_fingerprint"]["driver"] = "570"
    kept.write_bytes(msgspec.json.encode(header) + b"\n" + b"".join(others))
    with pytest.raises(MachineError, match="base and head were measured on different"):
        reported(kept, tmp_path / "again")
