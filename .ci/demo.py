"""Shows the gate at work: three commits in a scratch clone, of which it must pass, fail and pass.

The scratch clone lies under build/demo; nothing outside it is touched. The commits are real ones on top of the
clone's HEAD: a change of the README, one line that makes the operator copy its weight at every call, and the
revert of that line. Each is gated against its parent, exactly as a team's runner would do it. Exits 0 when the
gate answered 0, 1, 0, and 1 otherwise. ``--only-commits`` makes the commits and stops; arguments after ``--`` take
the place of those that the gate is given here.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from solwatch.device.resolving import visible_gpus

ROOT = Path(__file__).resolve().parent.parent
OPERATOR = Path("kernels/fused_o_proj/op.py")
ANCHOR = "    check_call(attn_output, residual, o_proj_weight, out)\n"
SLOWER_LINE = "    o_proj_weight = o_proj_weight.clone()\n"
START = "start"
GPU_GATE = ["--set", "quick"]
# Copying these layers' weight costs 60 % to 260 % on a CPU. Looking for less, or in smaller layers, would only make a
# busy machine take longer to tell the same.
CPU_GATE = ["-b", r"OProjCpu\((1|16), .(small|llama)", "--min-effect", "0.3"]
# Nothing that runs differs in the first of the commits: all its cells are timed here, to show that times agree too.
GATE = ["--budget", "120", "--measure-all"]
CODES = {
    0: "passed",
    1: "failed",
    2: "refused: the request is wrong",
    3: "refused: the machine or the build can't be trusted",
    4: "nothing was decided",
}


class DemoError(Exception):
    """The demonstration can't be made: one line that says why."""


@dataclass(frozen=True)
class Step:
    """One commit of the story, by the name of its tag, and the exit code that the gate must give it."""

    base: str
    head: str
    title: str
    says: str
    expected: int


class Scratch:
    """A clone of the repository that may be committed to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, path: Path) -> "Scratch":
        """Clone the repository's HEAD to ``path``, over whatever an earlier demonstration left there."""
        dirty = _git(ROOT, "status", "--porcelain", "--untracked-files=no")
        if dirty:
            _say("Note: uncommitted changes are not part of this; the scratch clone starts from HEAD.")
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        _git(ROOT, "clone", "--quiet", "--no-tags", "--", str(ROOT), str(path))
        scratch = cls(path)
        # a clone of a detached HEAD, or of a branch of any name, ends on one branch of the demonstration's own
        scratch.git("checkout", "--quiet", "-B", "demo", _git(ROOT, "rev-parse", "HEAD"))
        scratch.git("config", "user.name", "solwatch demo")
        scratch.git("config", "user.email", "demo@solwatch.invalid")
        scratch.git("config", "commit.gpgsign", "false")
        scratch.git("config", "core.hooksPath", os.devnull)
        return scratch

    def git(self, *arguments: str) -> str:
        """Run git in the clone and return its output."""
        return _git(self.path, *arguments)

    def commit(self, subject: str, tag: str) -> None:
        """Commit every change of tracked files and tag the commit."""
        if not self.git("status", "--porcelain", "--untracked-files=no"):
            raise DemoError(f"nothing changed for the commit '{subject}'")
        self.git("commit", "--quiet", "--all", "--message", subject)
        self.tag(tag)

    def tag(self, name: str) -> None:
        """Give HEAD a name; written as a reference, which no setting of git can turn into a signed tag."""
        self.git("update-ref", f"refs/tags/{name}", "HEAD")


def make_commits(scratch: Scratch) -> list[Step]:
    """Write the three commits of the story; DemoError when the operator no longer has the line to change."""
    scratch.tag(START)
    readme = scratch.path / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8") + "\nA sentence that no kernel reads.\n", encoding="utf-8")
    scratch.commit("Add a sentence to the README", "unchanged")

    operator = scratch.path / OPERATOR
    source = operator.read_text(encoding="utf-8")
    if source.count(ANCHOR) != 1:
        raise DemoError(
            f"{OPERATOR} has {source.count(ANCHOR)} lines that read '{ANCHOR.strip()}', 1 is needed: "
            "the demonstration adds its slow line after it; correct ANCHOR in .ci/demo.py"
        )
    operator.write_text(source.replace(ANCHOR, ANCHOR + SLOWER_LINE), encoding="utf-8")
    scratch.commit("Keep a copy of the weight, to be safe", "slower")

    scratch.git("revert", "--no-edit", "HEAD")
    scratch.tag("repaired")
    slower = f"It reads '{SLOWER_LINE.strip()}'. Results stay right, no test fails; the gate must."
    return [
        Step(START, "unchanged", "a sentence more in the README", "Nothing that runs has changed: it must pass.", 0),
        Step("unchanged", "slower", "one line more in the operator", slower, 1),
        Step("slower", "repaired", "that line taken out again", "The operator is what it was: it must pass.", 0),
    ]


def gate(scratch: Scratch, step: Step, arguments: Sequence[str]) -> int:
    """Gate one commit against its parent, its output going straight to the reader; returns the exit code."""
    solwatch = Path(sys.executable).with_name("solwatch")
    if not solwatch.exists():
        raise DemoError(f"{solwatch} is missing: run it through `make demo`, which installs solwatch first")
    command = [str(solwatch), "gate", step.base, step.head, *arguments]
    _say(f"$ {shlex.join(['solwatch', *command[1:]])}")
    return subprocess.run(command, cwd=scratch.path, check=False).returncode


def gate_arguments() -> list[str]:
    """Return the options that the gate is given on this machine."""
    return [*(GPU_GATE if visible_gpus() else CPU_GATE), *GATE]


def main() -> int:
    """Tell the story; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only-commits", action="store_true", help="make the three commits and stop")
    parser.add_argument("--path", type=Path, default=ROOT / "build" / "demo" / "clone", help="where the clone goes")
    parser.add_argument("gate", nargs="*", help="further arguments of solwatch gate, after --")
    options = parser.parse_args()
    arguments = options.gate or gate_arguments()
    begin = time.monotonic()

    scratch = Scratch.make(options.path.resolve())
    steps = make_commits(scratch)
    _say("Three commits in a scratch clone, each gated against its parent:")
    for step in steps:
        _say(scratch.git("log", "-1", f"--format=  {step.head:<10} %h  %s", step.head))
    if options.only_commits:
        return 0

    answers = []
    for number, step in enumerate(steps, 1):
        _say(f"\n{number} of {len(steps)}: {step.title}. {step.says}")
        code = gate(scratch, step, arguments)
        wanted = "" if code == step.expected else f", where {step.expected} was due"
        _say(f"=> exit code {code}{wanted}: {CODES.get(code, 'unknown')}")
        answers.append(code)
        if code == 130:
            return code

    right = answers == [step.expected for step in steps]
    words = ["passed" if code == 0 else "failed" if code == 1 else f"ended with {code}" for code in answers]
    _say(f"\n{time.monotonic() - begin:.0f} s. The page of the last gate: {_page(scratch)}")
    _say(f"demo: {', '.join(words)}, {'as it must' if right else 'which is WRONG: it must pass, fail and pass'}")
    return 0 if right else 1


def _page(scratch: Scratch) -> str:
    page = scratch.path / "build" / "report" / "index.html"
    return os.path.relpath(page, Path.cwd()) if page.exists() else "none was written"


def _git(folder: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise DemoError("git not found: install it") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise DemoError(f"git {arguments[0]} failed: {lines[-1]}")
    return done.stdout.strip()


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
