"""``solwatch fleet``: what a workflow's steps call, from any folder of the repository."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.cuda_driver import fake_driver
from fakes.fleets import CPU_ENTRY, H200_ENTRY, fleet_file

from solwatch.cli.main import outcome


@pytest.fixture
def fleet(tmp_path: Path) -> list[str]:
    return ["--file", str(fleet_file(tmp_path, H200_ENTRY, {**CPU_ENTRY, "ephemeral": False}))]


def test_matrix_and_outputs(
    tmp_path: Path, fleet: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    assert outcome(["fleet", "matrix", "--github-output", *fleet]) == 0
    shown = capsys.readouterr().out
    assert [job["name"] for job in json.loads(shown)["include"]] == ["h200", "cpu"]
    assert (tmp_path / "output").read_text() == f"matrix={shown}architectures=9.0a\ndevices=cuda cpu\n"
    assert outcome(["fleet", "matrix", "--ephemeral", *fleet]) == 0
    assert [job["name"] for job in json.loads(capsys.readouterr().out)["include"]] == ["h200"]


def test_one_entry_alone(
    tmp_path: Path, fleet: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    assert outcome(["fleet", "matrix", "--github-output", "--entry", "cpu", *fleet]) == 0
    assert [job["name"] for job in json.loads(capsys.readouterr().out)["include"]] == ["cpu"]
    assert "architectures=\n" in (tmp_path / "output").read_text()
    assert outcome(["fleet", "matrix", "--entry", "h2000", *fleet]) == 2
    assert "the nearest known one is 'h200'" in capsys.readouterr().err
    assert outcome(["fleet", "matrix", "--ephemeral", "--entry", "cpu", *fleet]) == 2


def test_architectures(fleet: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["fleet", "architectures", *fleet]) == 0
    assert capsys.readouterr().out == "9.0a\n"


def test_the_repositorys_own_file_is_found_from_a_folder_below(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), *identity, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    below = tmp_path / "kernels"
    below.mkdir()
    monkeypatch.chdir(below)
    assert outcome(["fleet", "matrix"]) == 2
    said = "solwatch: ../.github/fleet.json is not there: write it, or name the fleet's file with --file"
    assert capsys.readouterr().err == f"{said}\n"
    (tmp_path / ".github").mkdir()
    fleet_file(tmp_path / ".github", CPU_ENTRY)
    assert outcome(["fleet", "check", "cpu"]) == 0
    assert capsys.readouterr().out == "cpu: a runner that measures the CPU, no GPU is promised\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["matrix", "--github-output"], 2, "GITHUB_OUTPUT is not set"),
        (["check", "h100"], 2, "no runner is named 'h100'"),
        (["check"], 2, "Missing argument 'NAME'"),
        (["chekc"], 2, "No such command 'chekc'"),
    ],
)
def test_a_mistake_is_one_line(
    fleet: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], code: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    assert outcome(["fleet", *arguments, *fleet]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_a_machine_with_another_gpu_is_infrastructure(tmp_path: Path, fleet: list[str]) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(fake_driver(tmp_path)), "FAKE_GPUS": "a"}
    command = [sys.executable, "-m", "solwatch.cli.main", "fleet", "check", "h200", *fleet]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("solwatch: infrastructure: runner h200 promises 1 × 'NVIDIA H200' and this machine")
    assert "it shows 1 × Example (9.0)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_matrix_takes_no_heavy_import(fleet: list[str]) -> None:
    code = (
        "import sys\n"
        "from solwatch.cli.main import outcome\n"
        "assert outcome(['fleet', 'matrix', *sys.argv[1:]]) == 0\n"
        "print([name for name in ('torch', 'numpy', 'scipy', 'asv', 'jinja2', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *fleet], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
