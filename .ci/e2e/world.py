"""A small GitHub on this machine: a bare repository, a clone that pushes to it, runs of its workflows by act.

act runs the workflow files of the commit that is checked out, jobs in folders of their own, without a container. What
it does not do is done here or said in docs/reference/ci.md: the remote actions (``actions``), the API (``gh``), and
environments, whose approval nothing waits for.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.actions import STUBS
from wheels import copy_sources

HERE = Path(__file__).resolve().parent
REPOSITORY = "team/kernels"
LABELS = ("ubuntu-latest", "self-hosted", "gpu-h200", "mine")
PIN = re.compile(r"uses: (actions/[a-z-]+)(?:/[a-z]+)?@([0-9a-f]{40})")


@dataclass
class Job:
    """What became of one job: ``result`` is GitHub's word, empty for one that never began."""

    result: str = ""
    log: list[str] = field(default_factory=list)
    summary: str = ""
    annotations: list[str] = field(default_factory=list)


@dataclass
class Run:
    """What act said of a run: its jobs by their names, and its own exit code."""

    code: int
    jobs: dict[str, Job]

    def __getitem__(self, name: str) -> Job:
        return self.jobs.get(name, Job())

    @property
    def results(self) -> dict[str, str]:
        """Return the jobs that began, with their results."""
        return {name: job.result for name, job in self.jobs.items()}


class World:
    """The bare repository in ``origin``, a ``clone`` of its main, and in ``store`` all that GitHub would keep."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder
        self.origin, self.clone, self.store = folder / "origin.git", folder / "clone", folder / "store"
        self.home, self.tools = folder / "home", folder / "tools"
        for path in (self.store, self.home / "tmp", self.tools):
            path.mkdir(parents=True)
        self.runs = 0
        copy_sources(self.clone)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("init", "--quiet", "--bare", "--initial-branch", "main", str(self.origin))
        self.git("-C", str(self.origin), "config", "uploadpack.allowAnySHA1InWant", "true")
        self.git("remote", "add", "origin", self.origin.as_uri())
        self._make_tools()

    def git(self, *arguments: str) -> str:
        """Run git in the clone and return what it says."""
        known = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        identity = {
            f"GIT_{who}_{what}": f"e2e@{REPOSITORY}.invalid"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        command = ["git", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", *arguments]
        done = subprocess.run(
            command, cwd=self.clone, env=known | identity, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one place in a file of the clone that reads ``old``."""
        file = self.clone / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {text.count(old)} places that read {old!r}, 1 is needed"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def commit(self, subject: str) -> str:
        """Commit everything and return the hash."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def main(self) -> str:
        """Return the newest commit of the origin's main."""
        return self.git("ls-remote", "origin", "refs/heads/main").split()[0]

    def start(self, branch: str, at: str = "main") -> None:
        """Begin a branch of that name."""
        self.git("checkout", "--quiet", "-B", branch, at)

    def begin(self) -> None:
        """Make the clone's HEAD the origin's main, and run nothing."""
        self.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
        self.git("branch", "--force", "pushed", "HEAD")

    def push(self, *, attempt: int = 1, run: int | None = None) -> Run:
        """Push the clone's HEAD to main, and run what that starts."""
        head = self.git("rev-parse", "HEAD")
        before = self.main()
        if run is not None:
            before = json.loads((self.store / "event.json").read_text())["before"]
        self.begin()
        event = {"ref": "refs/heads/main", "before": before, "after": head}
        return self.run("push", event, ref="refs/heads/main", attempt=attempt, run=run)

    def pull_request(self, number: int, *, fork: bool = False) -> tuple[Run, dict[str, Any]]:
        """Open or update a pull request of the clone's HEAD; returns the run, and what comment.yml is told of it."""
        branch, head = self.git("rev-parse", "--abbrev-ref", "HEAD"), self.git("rev-parse", "HEAD")
        base = self.main()
        self.git("checkout", "--quiet", "--detach", base)
        self.git("merge", "--quiet", "--no-ff", "--no-edit", head)
        merge = self.git("rev-parse", "HEAD")
        names = [f"{head}:refs/pull/{number}/head", f"{merge}:refs/pull/{number}/merge"]
        self.git("push", "--quiet", "--force", "origin", *names, *([] if fork else [f"{head}:refs/heads/{branch}"]))
        owner = "outsider" if fork else REPOSITORY.split("/")[0]
        label = f"{owner}:{branch}"
        self.keep("pulls", [{"number": number, "head": {"sha": head, "label": label}}])
        pull = {
            "number": number,
            "base": {"sha": base, "ref": "main"},
            "head": {"sha": head, "ref": branch, "repo": {"full_name": f"{owner}/kernels"}},
        }
        done = self.run("pull_request", {"number": number, "pull_request": pull}, ref=f"refs/pull/{number}/merge")
        self.git("checkout", "--quiet", branch)
        told = {
            "id": self.runs,
            "run_attempt": 1,
            "event": "pull_request",
            "conclusion": "failure" if done.code else "success",
            "head_sha": head,
            "head_branch": branch,
            "head_repository": {"id": 1, "owner": {"login": owner}},
            "html_url": f"https://github.com/{REPOSITORY}/actions/runs/{self.runs}",
        }
        return done, told

    def merge_group(self) -> Run:
        """Put the clone's HEAD, on top of main, into the merge queue."""
        base, head = self.main(), self.git("rev-parse", "HEAD")
        ref = f"refs/heads/gh-readonly-queue/main/pr-{self.runs}"
        self.git("push", "--quiet", "origin", f"HEAD:{ref}")
        return self.run("merge_group", {"merge_group": {"base_sha": base, "head_sha": head}}, ref=ref)

    def by_hand(self, workflow: str, **inputs: str) -> Run:
        """Start a workflow of main's by hand."""
        self.git("checkout", "--quiet", "--detach", "pushed")
        return self.run("workflow_dispatch", {"inputs": inputs}, ref="refs/heads/main", workflow=workflow)

    def comment(self, told: dict[str, Any]) -> Run:
        """Run comment.yml for a run of benchmark.yml that has ended; it runs main's code."""
        branch = self.git("rev-parse", "--abbrev-ref", "HEAD")
        self.git("checkout", "--quiet", "--detach", "pushed")
        done = self.run("workflow_run", {"workflow_run": told}, ref="refs/heads/main", workflow="comment.yml")
        self.git("checkout", "--quiet", branch)
        return done

    def run(
        self,
        name: str,
        event: dict[str, Any],
        *,
        ref: str,
        workflow: str = "benchmark.yml",
        attempt: int = 1,
        run: int | None = None,
    ) -> Run:
        """Run a workflow of the clone's HEAD for an event; ``run``: an earlier one's number, to run it again."""
        if run is None:
            self.runs += 1
        number = run or self.runs
        repository = {"full_name": REPOSITORY, "default_branch": "main"}
        path = self.store / "event.json"
        path.write_text(json.dumps({**event, "repository": repository}))
        variables = {
            "GITHUB_RUN_ID": str(number),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REF": ref,
            "E2E_STORE": str(self.store),
            "E2E_ORIGIN": self.origin.as_uri(),
            "E2E_PYTHON": sys.executable,
            "E2E_PACKAGES": sysconfig.get_paths()["purelib"],
            "TTY_COMPATIBLE": "0",  # act gives steps a terminal, GitHub doesn't
            "NO_COLOR": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as "without isolation": setuptools is here
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "TMPDIR": str(self.home / "tmp"),  # and so the locks of devices: other measuring here is not waited for
            "SOLWATCH_BUILD_CACHE": str(self.folder.parent / "objects"),  # compiled once for all the runs
        }
        command = [
            str(Path(sys.executable).with_name("act")),
            name,
            "--json",
            "--no-cache-server",
            "--no-skip-checkout",
        ]
        command += ["-W", f".github/workflows/{workflow}", "-e", str(path), "--secret", "GITHUB_TOKEN=none"]
        command += [option for label in LABELS for option in ("-P", f"{label}=-self-hosted")]
        command += [option for pair in variables.items() for option in ("--env", "=".join(pair))]
        command += [option for stub in self._stubs() for option in ("--local-repository", stub)]
        done = subprocess.run(
            command, cwd=self.clone, env=self._environment(), capture_output=True, text=True, check=False
        )
        log = self.folder / "logs" / f"{number}-{attempt}-{workflow}-{name}.jsonl"
        log.parent.mkdir(exist_ok=True)
        log.write_text(done.stdout + done.stderr)
        shutil.rmtree(self.home / ".cache" / "act", ignore_errors=True)
        known = self.known("runs", [])
        self.keep("runs", [*known, {"id": number, "event": name, "head_sha": self.git("rev-parse", "HEAD")}])
        return Run(done.returncode, _jobs(done.stdout + done.stderr))

    def keep(self, name: str, value: Any) -> None:
        """Have the API answer ``value`` for ``name``: pulls, environments, runs."""
        (self.store / f"{name}.json").write_text(json.dumps(value))

    def known(self, name: str, default: Any) -> Any:
        """Return what the API would answer."""
        path = self.store / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else default

    def on_origin(self, *arguments: str) -> str:
        """Run git in the bare repository."""
        return self.git("-C", str(self.origin), *arguments)

    def _environment(self) -> dict[str, str]:
        kept = ("LANG", "TZ", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS", "CXX")
        variables = {key: os.environ[key] for key in os.environ if key in kept or key.startswith("PIP_")}
        # neither solwatch nor anything else of the environment that runs this is on the runners' PATH
        system = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != Path(sys.executable).parent]
        path = os.pathsep.join([str(self.tools), *system])
        return variables | {"PATH": path, "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / ".cache")}

    def _make_tools(self) -> None:
        # a toolkit that nothing is compiled with: it spares its download where only labels are tried
        _script(self.tools / "nvcc", "echo 'nvcc: not here' >&2; exit 1")
        _script(self.tools / "gh", f'exec "{sys.executable}" "{HERE / "gh.py"}" "$@"')
        for name, (_, inputs) in STUBS.items():
            folder = self.folder / "actions" / name
            folder.mkdir(parents=True)
            step = {
                "shell": "bash",
                "run": f'"{sys.executable}" "{HERE / "actions.py"}" {name}',
                "env": {"INPUTS": "${{ toJSON(inputs) }}"},
            }
            action: dict[str, Any] = {
                "name": name,
                "description": f"Stands in for actions/{name}.",
                "inputs": {key: {"description": key, "default": value} for key, value in inputs.items()},
                "runs": {"using": "composite", "steps": [step]},
            }
            if name == "deploy-pages":
                step["id"] = "deploy"
                action["outputs"] = {"page_url": {"description": "", "value": "${{ steps.deploy.outputs.page_url }}"}}
            (folder / "action.yml").write_text(json.dumps(action, indent=1))  # JSON is YAML

    def _stubs(self) -> list[str]:
        """Return every pinned action of the clone's workflows with the folder that act takes in its place."""
        texts = [path.read_text() for path in sorted((self.clone / ".github" / "workflows").glob("*.yml"))]
        pins = sorted({found for text in texts for found in PIN.findall(text)})
        stubs = self.folder / "actions"
        return [f"{name}@{sha}={stubs / name.split('/')[1]}" for name, sha in pins]


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _jobs(text: str) -> dict[str, Job]:
    """Return the jobs that act's JSON lines tell of, by their own names."""
    jobs: dict[str, Job] = {}
    for line in text.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if not isinstance(said, dict) or "job" not in said:
            continue
        name = said["job"].rsplit("/", 1)[1].strip()
        job = jobs.setdefault(name, Job())
        if "jobResult" in said:
            job.result = said["jobResult"]
        if said.get("command") == "summary":
            job.summary += said["content"]
        elif said.get("command") in ("error", "warning", "notice"):
            job.annotations.append(f"{said['kvPairs'].get('title', '')}: {said['arg']}")
        job.log.append(str(said.get("msg", "")).rstrip("\n"))
    return jobs
