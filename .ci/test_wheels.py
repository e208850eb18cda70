"""Runs the tests on the built wheels: an environment of their own, in which the source tree can't be imported.

Both wheels are built from a copy of the sources and installed into build/test/venv. The packages of the
environment that runs this are visible there, but not its editable install of solwatch. When the tests end, a
module of ours that came from anywhere else fails the run. Further arguments go to pytest. Without any, everything is
tested in parts, four at once: most of the time tests wait for processes of their own, and each measuring toy project
has a lock of its own.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from wheels import DISTRIBUTIONS, ROOT, WheelError, build_wheels

WORK = ROOT / "build" / "test"
AT_ONCE = 4
APP, CLI = "reports/tests/app", "reports/tests/cli"
"""Where tests take longest: gates from end to end, every third file of which is a part, and commands."""

SESSION = """
import sys
from pathlib import Path
import pytest

class FromWheels:
    # Fails the run when one of our modules was not imported from the environment's own site-packages.
    def __init__(self, names, home):
        self.names, self.home = names, Path(home).resolve()

    def strangers(self):
        for name in self.names:
            file = getattr(sys.modules.get(name), "__file__", None)
            if file and self.home not in Path(file).resolve().parents:
                yield f"{name} was imported from {file}, not from the wheel in {self.home}"

    def pytest_terminal_summary(self, terminalreporter):
        for line in self.strangers():
            terminalreporter.write_line("ERROR: " + line, red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if any(self.strangers()) and exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

names, home, *arguments = sys.argv[1:]
sys.exit(pytest.main(arguments, plugins=[FromWheels(names.split(","), home)]))
"""


def make_environment(folder: Path, wheels: list[Path]) -> Path:
    """Make a virtual environment with the wheels installed and this environment's packages visible behind them.

    Returns its interpreter. The packages come by a path line in a .pth file: the .pth files among them, an
    editable install's too, are not read then.
    """
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    purelib = site_packages(python)
    (purelib / "driver.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", *map(str, wheels)], check=True)
    return python


def site_packages(python: Path) -> Path:
    """Return the folder that an interpreter installs packages to."""
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return Path(subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def main() -> int:
    """Build, install, test; returns pytest's exit code."""
    try:
        built = build_wheels(WORK, WORK / "wheels")
    except WheelError as error:
        print(f"test: {error}", file=sys.stderr)
        return 1
    python = make_environment(WORK / "venv", list(built.values()))
    print("testing " + ", ".join(wheel.name for wheel in built.values()), flush=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "SOLWATCH_TEST_WHEELS": str(WORK / "wheels"),
    }
    command = [str(python), "-c", SESSION, ",".join(DISTRIBUTIONS), str(site_packages(python))]
    if sys.argv[1:]:
        return subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, env=environment, check=False).returncode
    return in_parts(command, environment)


def parts() -> list[list[str]]:
    """Return what to test in parts, the longest first; cells measure the op that its own tests have imported."""
    gates = sorted(str(path.relative_to(ROOT)) for path in (ROOT / APP).glob("test_*.py"))
    rest = ["reports/tests", f"--ignore={APP}", f"--ignore={CLI}"]
    return [[CLI], gates[::3], gates[1::3], gates[2::3], rest, ["kernels/tests", "benchmarks"]]


def in_parts(command: list[str], environment: dict[str, str]) -> int:
    """Run all tests in parts, show the output of each when it ends; returns the worst exit code."""
    waiting = list(enumerate(parts()))
    running: list[tuple[subprocess.Popen[bytes], Path]] = []
    worst = 0
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                number, part = waiting.pop(0)
                path = WORK / f"part-{number}.log"
                asked = [*command, *part, "-o", f"cache_dir=build/pytest/part-{number}"]
                with path.open("wb") as log:
                    running.append((subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=log, stderr=log), path))
            time.sleep(0.2)
            for process, path in [each for each in running if each[0].poll() is not None]:
                print(path.read_text(encoding="utf-8", errors="replace"), flush=True)
                running.remove((process, path))
                worst = max(worst, abs(process.returncode))
    finally:
        for process, _ in running:
            process.terminate()
            process.wait()
    return worst


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
