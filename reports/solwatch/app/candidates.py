"""What the commits of a bisection build and measure: which of them are one candidate, which can't be had at all."""

import os
from dataclasses import dataclass
from pathlib import Path

from solwatch.app.builds import builder_for, packed_builds
from solwatch.app.session import Request, Services
from solwatch.device.places import places_of
from solwatch.model.bisection import PastCommit
from solwatch.model.config import Config
from solwatch.model.errors import NothingMeasuredError, RequestError
from solwatch.model.record import Commit
from solwatch.workspace.builds import Builder
from solwatch.workspace.git import Repository
from solwatch.workspace.history import commits_between
from solwatch.workspace.pack import PackedBuilds
from solwatch.workspace.tree import listing


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The commits from good to bad. ``keys``: what each builds and measures; equal ones are one candidate.

    ``packed``: the builds that were handed over, ``None`` where they are compiled here. ``missing``: the hashes of
    commits that have no build among those.
    """

    commits: list[PastCommit]
    keys: list[str]
    packed: PackedBuilds | None
    missing: frozenset[str]

    def require(self, sha: str) -> None:
        """Unpack the build of a commit where builds were handed over; raises ``RequestError`` for a damaged one."""
        if self.packed is not None:
            self.packed.provide(_as_commit(next(commit for commit in self.commits if commit.sha == sha)))


def candidates(request: Request, services: Services, *, inside_merges: bool) -> Candidates:
    """Look at all commits from the request's base, which is good, to its head, which is bad.

    Raises ``RequestError`` for commits that are no range, and for a good or bad one without a build among those handed
    over; ``NothingMeasuredError`` when good and bad build and measure the same.
    """
    config, repository = request.config, services.repository
    assert request.base is not None, "a bisection has a good commit"
    assert request.head is not None, "a bisection has a bad commit"
    good, bad = repository.resolve(request.base), repository.resolve(request.head)
    commits = commits_between(repository, good, bad, inside_merges=inside_merges)
    packed = packed_builds(repository, config, request.builds) if request.builds is not None else None
    device_type = places_of(request.device, request.gpus)[0].device.split(":")[0]
    builds = packed or builder_for(repository, config, device_type, services.environment)
    services.say(f"looking at what {len(commits)} commits build and measure")
    known: dict[bytes, tuple[str, bool]] = {}
    found = []
    for commit in commits:
        listed = listing(repository, commit.sha, config.build_inputs, config.benchmarks)
        if listed not in known:
            known[listed] = _looked_at(builds, repository, config, commit)
        found.append(known[listed])
    if packed is not None:
        for end in (good, bad):
            packed.provide(end)
    keys = [key for key, _ in found]
    if keys[0] == keys[-1]:
        raise NothingMeasuredError(
            f"{commits[0].sha[:8]} and {commits[-1].sha[:8]} have one and the same build and suite: "
            "nothing that is measured differs between them"
        )
    missing = frozenset(commit.sha for commit, (_, there) in zip(commits, found, strict=True) if not there)
    if missing:
        services.say(f"{request.builds} has no build of {len(missing)} of them: they count as commits that don't build")
    return Candidates(commits=commits, keys=keys, packed=packed, missing=missing)


def missing_build(folder: Path | None) -> str:
    """Return why a commit without a build in ``folder`` could not be measured."""
    return f"no build of it in {folder}"


def _looked_at(
    builds: Builder | PackedBuilds, repository: Repository, config: Config, commit: PastCommit
) -> tuple[str, bool]:
    """Return what a commit builds and measures, and whether its build can be had as far as is known now."""
    try:
        build = builds.key(_as_commit(commit))
        there = not isinstance(builds, PackedBuilds) or builds.has(_as_commit(commit))
    except RequestError:  # nothing there to build from: its gate says what is missing
        build, there = commit.sha, not isinstance(builds, PackedBuilds)
    folder = os.path.normpath(config.benchmarks)
    tree = f"{commit.sha}:{'' if folder == '.' else folder}"
    suite = repository.run("rev-parse", "--verify", "--quiet", tree, check=False).stdout.decode().strip()
    return f"{build}-{suite}", there


def _as_commit(commit: PastCommit) -> Commit:
    return Commit(sha=commit.sha, name=commit.sha, subject=commit.subject, committed_at=commit.committed_at)
