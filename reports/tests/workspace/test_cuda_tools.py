"""Finding tools and running them: late, missing and failing ones are one line each."""

import os
import time
from pathlib import Path

import pytest

from solwatch.workspace.cuda_tools import ToolFailed, find_tool, run_tool
from solwatch.workspace.demangling import demangled


def script(folder: Path, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ncu"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_tool_on_path_comes_before_that_of_a_toolkit(tmp_path: Path) -> None:
    toolkit, on_path = script(tmp_path / "cuda" / "bin", "true"), script(tmp_path / "bin", "true")
    assert find_tool("ncu", {"CUDA_HOME": str(tmp_path / "cuda")}) == toolkit
    assert find_tool("ncu", {"CUDA_HOME": str(tmp_path / "cuda"), "PATH": str(tmp_path / "bin")}) == on_path
    assert find_tool("no-such-tool", {"PATH": str(tmp_path / "bin")}) is None


def test_what_a_failing_tool_printed_counts(tmp_path: Path) -> None:
    assert run_tool([script(tmp_path, "echo said; exit 3")], limit_s=10, environment={}) == "said\n"
    with pytest.raises(ToolFailed, match="ncu failed with exit code 3: a last word"):
        run_tool([script(tmp_path, "echo a last word >&2; exit 3")], limit_s=10, environment={})
    with pytest.raises(ToolFailed, match="ncu failed with exit code 3: no message"):
        run_tool([script(tmp_path, "exit 3")], limit_s=10, environment={})


def test_a_late_tool_is_ended_with_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    late = script(tmp_path, f"sleep 600 & echo $! > '{pid_file}'; wait")
    started = time.monotonic()
    with pytest.raises(ToolFailed, match="ncu was ended after 1 s"):
        run_tool([late], limit_s=1, environment=dict(os.environ))
    assert time.monotonic() - started < 30
    assert not _runs(int(pid_file.read_text()))


def _runs(pid: int) -> bool:
    """Return whether a process runs; one that nobody has waited for yet doesn't."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state in "ZX":
            return False
        time.sleep(0.1)
    return True


def test_names_are_written_as_people_write_them() -> None:
    assert demangled("_Z4tileILi256EEvPf") == "void tile<256>(float*)"
    assert demangled("_Zwrong") == "_Zwrong"
    assert demangled("sums") == "sums"
