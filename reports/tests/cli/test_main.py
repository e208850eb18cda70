"""The command line: exit codes, one clear line for each mistake, a start that imports nothing heavy."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solwatch.cli.main import outcome
from solwatch.model.errors import BuildError

SOLWATCH = [sys.executable, "-m", "solwatch.cli.main"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["gate"], 2, "Missing argument 'BASE'"),
        (["gate", "--frobnicate", "HEAD"], 2, "No such option"),
        (["gate", "no-such"], 2, "unknown commit 'no-such'"),
        (["gate", "--", "-x"], 2, "'-x' is not the name"),
        (["gate", "HEAD", "-b", "("], 2, "no regular expression"),
        (["gate", "HEAD", "--device", "tpu"], 2, "'tpu' is not known"),
        (["gate", "HEAD", "HEAD", "--working-tree", "--min-effect", "7"], 2, "--min-effect"),
        (["gate", "HEAD", "HEAD~1", "--working-tree"], 2, "goes without a HEAD"),
        (["gate", "HEAD", "--device", "cpu", "-b", "nothing-is-called-so"], 4, "nothing to measure"),
        (["gate", "HEAD", "--device", "cpu", "--set", "nope"], 2, "no set 'nope': this suite has no sets"),
        (["gate", "--reference"], 2, "there is no reference to compare with: set reference in [tool.solwatch]"),
        (["gate", "--reference", "HEAD~1", "HEAD"], 2, "--reference is the base: leave out BASE ('HEAD~1')"),
        (["gate", "--reference", "--base-env", "a", "--head-env", "b"], 2, "leave out --base-env and --head-env"),
        (["gate", "--base-env", "a"], 2, "go together"),
        (["gate", "--base-env", "a", "--head-env", "b", "HEAD~1", "HEAD"], 2, "leave out BASE ('HEAD~1')"),
        (["gate", "--base-env", "a", "--head-env", "b"], 2, "b is no folder"),
        (["gate", "--base-env", "benchmarks", "--head-env", "benchmarks"], 2, "it has no bin/python"),
        (["run", "--env", "benchmarks"], 2, "it has no bin/python"),
        (["record", "HEAD", "--output", "a.jsonl"], 2, "Missing option '--rounds'"),
        (["record", "HEAD", "--rounds", "2"], 2, "Missing option '--output'"),
        (["record", "HEAD", "--measure-all"], 2, "No such option '--measure-all'"),
        (["gate", "HEAD", "--measure-all", "--device", "tpu"], 2, "'tpu' is not known"),
        (["bench", "--measure-all", "--device", "tpu"], 2, "'tpu' is not known"),
        (["record", "HEAD", "--rounds", "0", "--output", "a.jsonl"], 2, "--rounds"),
        (["record", "HEAD", "--rounds", "2", "--output", "benchmarks"], 2, "is a directory"),
        (["record", "HEAD", "--rounds", "2", "--output", "setup.py"], 2, "line 1: not a JSON object"),
        (["record", "--rounds", "2", "--output", "a.jsonl"], 2, "Missing argument 'BASE'"),
        (["record", "HEAD", "HEAD", "--rounds", "2", "--output", "a.jsonl", "-b", "none"], 4, "nothing to measure"),
        (["gate", "HEAD", "--gpus", "all", "--device", "cuda:1"], 2, "give one of them"),
        (["run", "--gpus", "first"], 2, "give all, or indices like 0,1"),
        (["bisect", "HEAD"], 2, "Missing argument 'BAD'"),
        (["bisect", "HEAD", "HEAD"], 2, "HEAD and HEAD are one commit"),
        (["bisect", "no-such", "HEAD"], 2, "unknown commit 'no-such'"),
        (["bisect", "HEAD", "HEAD", "-b", "("], 2, "no regular expression"),
        (["bisect", "HEAD", "HEAD", "--skips", "0"], 2, "--skips"),
        (["bisect", "HEAD", "HEAD", "--json", "benchmarks"], 2, "is a directory"),
        (["report"], 2, "no record in"),
        (["report", "absent.jsonl"], 2, "absent.jsonl"),
        (["ceilings", "--dtype", "int3"], 2, "'int3'"),
        (["selftest", "--device", "tpu"], 2, "'tpu' is not known"),
        (["selftest", "--device", "cpu", "--budget", "0"], 2, "--budget"),
        (["selftest", "--device", "cpu", "--output", "benchmarks"], 2, "benchmarks is not empty"),
        (["selftest", "--device", "cpu", "--output", "setup.py/below"], 2, "can't be written: Not a directory"),
        (["calibrate", "--rounds", "7"], 2, "--rounds"),
        (["calibrate", "no-such"], 2, "unknown commit 'no-such'"),
        (["calibrate", "--rounds-of", "absent.jsonl"], 2, "absent.jsonl"),
        (["calibrate", "--rounds-of", "setup.py"], 2, "line 1: not a JSON object"),
        (["calibrate", "HEAD~1", "--rounds-of", "a.jsonl"], 2, "goes without a COMMIT ('HEAD~1')"),
        (["calibrate", "--device", "cpu", "-b", "nothing-is-called-so"], 4, "nothing to measure"),
    ],
)
def test_a_mistake_is_one_line_and_its_exit_code(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert outcome(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = [line for line in captured.err.splitlines() if line.startswith("solwatch: ")]
    assert said in line
    assert "Traceback" not in captured.err


def test_without_a_gpu_asking_for_one_is_the_machines_fault(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for asked in (["--device", "cuda"], ["--gpus", "all"], ["--gpus", "0,1"]):
        assert outcome(["gate", "HEAD", *asked]) == 3
        assert "no GPU is visible" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min_efect = 0.1\n", "min_effect"),
        ("min_effect = 7\n", "min_effect"),
        ("rounds = []\n", "rounds"),
        ("budget_s = 'soon'\n", "budget_s"),
        ("min_effect =\n", "solwatch.toml"),
        ("hang_s = 1e10\n", "hang_s"),
        ("report = 'setup.py'\n", "setup.py is not a folder"),
        ("benchmarks = 'nowhere'\n", "has no folder 'nowhere'"),
    ],
)
def test_a_nonsense_configuration_is_refused_by_name(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (repository / "solwatch.toml").write_text(text)
    assert outcome(["gate", "HEAD", "--working-tree", "--device", "cpu"]) == 2
    assert said in capsys.readouterr().err


def test_outside_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(["gate", "HEAD"]) == 2
    assert "not in a git repository" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["run"], ["report", "a.jsonl", "--output", "b"], ["ceilings"]])
def test_in_a_folder_that_has_been_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert outcome(command) == 2
    said = "solwatch: the current folder has been deleted: change to a clone of the project\n"
    assert capsys.readouterr() == ("", said)


def test_an_internal_error_is_three_and_never_one(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solwatch.workspace.git.Repository.open", lambda path: 1 / 0)
    assert outcome(["gate", "HEAD"]) == 3
    said = capsys.readouterr().err
    assert "internal error: ZeroDivisionError" in said
    trace = Path(said.rsplit(" ", 1)[1].strip())
    assert "1 / 0" in trace.read_text()
    trace.unlink()


def test_an_error_shows_what_it_quotes_harmlessly(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(directory: Path) -> None:
        raise BuildError("head is at fault:\n\x1b[1mcc\u202e:\n    ^", commit="a", output="")

    monkeypatch.setattr("solwatch.workspace.git.Repository.open", fails)
    assert outcome(["run"]) == 3
    assert capsys.readouterr().err == "solwatch: head is at fault:\n[1mcc:\n    ^\n"


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    code = (
        "import sys, solwatch.cli.main as m\n"
        "try: m.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('torch', 'numpy', 'scipy', 'asv', 'jinja2', 'rich') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "Exit codes:" in said
    assert said.splitlines()[-1] == "[]"
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([*SOLWATCH, "--help"], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.25


@pytest.mark.parametrize("module", ["solwatch.cli.main", "click", "solwatch.cli.options"])
def test_control_c_during_the_imports_is_an_interruption_too(module: str) -> None:
    code = (
        "import os, signal, sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from solwatch.cli.entry import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "solwatch: interrupted\n")


def test_an_installation_that_is_broken_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import absent\n")
    code = "from solwatch.cli.entry import main\nmain()"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("solwatch: this installation is broken (ModuleNotFoundError: No module named")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_an_ordinary_asv_suite_runs_under_the_gate_without_a_terminal(repository: Path) -> None:
    done = subprocess.run(
        [*SOLWATCH, "gate", "HEAD", "--device", "cpu", "--set", "all", "--rounds", "3"],
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode in (0, 4), done.stderr
    assert "slow.time_nap" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    document = json.loads((repository / "build/report/report.json").read_text())
    assert document["judgement"]["verdicts"][0]["key"] == "slow.time_nap"


@pytest.mark.slow
def test_control_c_in_a_terminal_gives_it_back_sane_and_keeps_the_rounds(repository: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [*SOLWATCH, "gate", "HEAD", "--device", "cpu", "--set", "all"])
    said, sent = b"", False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            said += part
        if not sent and b"round 3" in said:
            os.write(terminal, b"\x03")
            sent = True
    else:
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert said.rfind(b"\x1b[?25h") > said.rfind(b"\x1b[?25l")
    assert b"Traceback" not in said
    (record,) = (repository / "build/solwatch/records").glob("*.jsonl")
    lines = record.read_text().splitlines()
    assert json.loads(lines[-1])["stopped"] == "interrupted"
    assert len(lines) >= 4
    assert outcome(["report", str(record), "--png", "--output", str(repository / "again")]) in (0, 4)
    assert {path.name for path in (repository / "again").iterdir()} >= {"index.html", "junit.xml", "forest.png"}


@pytest.mark.slow
def test_a_recording_says_what_it_holds_and_goes_on_after_being_ended(repository: Path) -> None:
    asked = ["record", "HEAD", "--device", "cpu", "--set", "all", "--output", "out/a.jsonl", "--rounds"]
    recording = subprocess.Popen([*SOLWATCH, *asked, "100"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path, deadline = repository / "out" / "a.jsonl", time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") >= 3):
        time.sleep(0.1)
    recording.terminate()
    _, said = recording.communicate()
    rounds = path.read_bytes().count(b"\n") - 1
    assert recording.returncode == 130, said
    assert f"out/a.jsonl keeps {rounds} rounds: the same command measures the others" in said
    done = subprocess.run([*SOLWATCH, *asked, str(rounds + 1)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{rounds + 1} of {rounds + 1} rounds of 1 cell in out/a.jsonl, ")
    assert path.read_bytes().count(b"\n") == rounds + 2
    asked[-2] = "setup.py/a.jsonl"
    done = subprocess.run([*SOLWATCH, *asked, "1"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "solwatch: setup.py/a.jsonl can't be written: " in done.stderr
    assert "Traceback" not in done.stderr


NASTY = """
import os, subprocess
def time_ok():
    sum(range(1000))
def time_forks():
    if os.fork() == 0:
        return
def track_infinite():
    return float("inf")
def time_prints():
    print("x" * 100000)
class Leaves:
    number = 1
    def setup(self):
        subprocess.Popen(["sleep", "6543"])
        subprocess.Popen(["sleep", "6543"], start_new_session=True)
    def time_nothing(self):
        pass
"""


@pytest.mark.slow
def test_a_nasty_suite_costs_its_own_cells_and_leaves_nothing_behind(repository: Path) -> None:
    suite = repository / "benchmarks" / "slow.py"
    suite.write_text(suite.read_text() + NASTY)
    command = [*SOLWATCH, "gate", "HEAD", "--working-tree", "--device", "cpu", "--set", "all", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "internal error" not in done.stderr
    verdicts = {
        cell["key"]: cell["verdict"]
        for cell in json.loads((repository / "build/report/report.json").read_text())["judgement"]["verdicts"]
    }
    assert verdicts["slow.time_ok"] == "undecided"
    assert verdicts["slow.time_prints"] == "undecided"
    assert verdicts["slow.track_infinite"] == "void"
    assert done.returncode == 3, done.stdout + done.stderr
    logs = sum(path.stat().st_size for path in (repository / "build/solwatch/logs").iterdir())
    assert logs < 4 << 20
    sleepers = subprocess.run(["pgrep", "-f", "sleep 6543"], capture_output=True, text=True).stdout
    assert sleepers == ""
    again = subprocess.run([*SOLWATCH, "report"], capture_output=True, text=True)
    assert again.returncode == 3
    assert "slow.time_ok" in again.stdout
    # a reader that goes away and streams that are closed change no verdict
    piped = subprocess.run(
        ["bash", "-c", '"$@" | head -n 1; exit "${PIPESTATUS[0]}"', "-", *SOLWATCH, "report"], capture_output=True
    )
    assert piped.returncode == 3
    closed = subprocess.run(["bash", "-c", '"$@" >&- 2>&-', "-", *SOLWATCH, "report"], capture_output=True)
    assert closed.returncode == 3
