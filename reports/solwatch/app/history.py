"""The plots of ``history push`` and ``pull``: results merged into their branch, and the branch's into results."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from solwatch.app.change_points import REPORTED, joined_reported
from solwatch.app.limits import LIMITS, joined_limits
from solwatch.app.noise import NOISE, joined_noise
from solwatch.asvio.merging import UnreadableError, checked, is_results, merged
from solwatch.model.errors import MachineError, NothingMeasuredError, RequestError
from solwatch.model.history import LimitRow, NoiseRow, Reported
from solwatch.model.plain import plain
from solwatch.model.ports import Clock
from solwatch.workspace.files import read_whole
from solwatch.workspace.git import Repository
from solwatch.workspace.results_branch import MOST_FILE_BYTES, BranchFile, ResultsBranch, results_branch
from solwatch.workspace.results_folder import result_paths, write_result
from solwatch.workspace.rows import read_rows, write_rows

MOST_ATTEMPTS = 40
"""Pushes that are tried when others are faster each time."""

FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 4.0

_ROWS = (NOISE, LIMITS, REPORTED)
_PLAIN_MODES = ("100644", "100755")
_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class History:
    """Where results lie, here (``results``) and on a remote's branch; ``pause`` sleeps as long as ``dice`` says."""

    repository: Repository
    results: Path
    remote: str
    branch: str
    clock: Clock
    pause: Callable[[float], None]
    dice: random.Random


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What came of it: files that were changed, where; ``commit`` is ``None`` when nothing was pushed.

    ``known``: whether there was such a branch before. ``warnings``: what was left alone, one line each.
    """

    files: int
    known: bool
    warnings: list[str]
    commit: str | None = None
    attempts: int = 1


def push(history: History) -> Moved:
    """Put what the branch lacks of this machine's files on it; whoever is faster has his kept, and it is tried again.

    Raises ``NothingMeasuredError`` when there are no results, ``RequestError`` when git tracks them, ``MachineError``
    when the remote can't be reached or refuses, or when others were faster ``MOST_ATTEMPTS`` times.
    """
    paths = [path for path in result_paths(history.results) if _ours(path)]
    if not any("/" in path or path in _ROWS for path in paths):
        raise NothingMeasuredError(
            f"{history.results} has no results to push: `solwatch gate BASE HEAD` and `asv run` leave some there"
        )
    _require_measured(history, paths)
    with results_branch(history.repository, history.remote, history.branch) as branch:
        blobs = {path: branch.blob_of(read_whole(history.results / path)) for path in paths}
        for attempt in range(1, MOST_ATTEMPTS + 1):
            known = branch.fetch(contents=False)
            changed, warnings = _additions(history, branch, blobs)
            moved = Moved(files=len(changed), known=known, warnings=warnings, attempts=attempt)
            if not changed:
                return moved
            commit = branch.commit(changed, _message(changed), date_s=_seconds(history.clock))
            if branch.push(commit):
                return Moved(files=len(changed), known=known, warnings=warnings, commit=commit, attempts=attempt)
            history.pause(history.dice.uniform(0, min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S)))
    raise MachineError(
        f"{history.branch} on {history.remote} was moved by others in each of {MOST_ATTEMPTS} attempts to push: "
        "nothing is lost here, push again"
    )


def pull(history: History) -> Moved:
    """Bring the branch's results into the folder; what lies there already is merged, and never lost.

    What on the branch is no result, or can't be read, is left alone. Raises ``MachineError`` when the remote can't
    be reached.
    """
    with results_branch(history.repository, history.remote, history.branch) as branch:
        if not branch.fetch(contents=True):
            return Moved(files=0, known=False, warnings=[])
        listed = branch.files()
        here = set(result_paths(history.results))
        blobs = {path: branch.blob_of(read_whole(history.results / path)) for path in here & listed.keys()}
        wanted = {
            path: file
            for path, file in listed.items()
            if _ours(path) and file.mode in _PLAIN_MODES and file.blob != blobs.get(path)
        }
        warnings = _foreign(history, listed)
        files = 0
        for path, content in branch.read(wanted):
            try:
                local = read_whole(history.results / path) if path in here else None
                joined = _joined(path, _small(content), local)
            except UnreadableError as error:
                warnings.append(_left_alone(history, path, error))
                continue
            if joined != local:
                write_result(history.results, path, joined)
                files += 1
    return Moved(files=files, known=True, warnings=warnings)


def _require_measured(history: History, paths: Sequence[str]) -> None:
    """Raise ``RequestError`` where git tracks results: a commit brings them along, whoever measured what."""
    if brought := sorted(history.repository.tracked(history.results) & set(paths)):
        raise RequestError(
            f"git tracks {plain(brought[0], 200)} in {history.results}, and what a commit brings along is not pushed "
            "as measured: take it out of the repository (`git rm -r --cached`), or push a copy of it (--results FOLDER)"
        )


def _additions(history: History, branch: ResultsBranch, blobs: Mapping[str, str]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files that the branch lacks or has otherwise, merged with what it has, and what is left alone."""
    listed = branch.files()
    folders = {str(parent) for path in listed for parent in Path(path).parents}
    differing = [path for path, blob in blobs.items() if path not in listed or listed[path].blob != blob]
    theirs = dict(branch.read({path: listed[path] for path in differing if path in listed}))
    changed: dict[str, bytes] = {}
    warnings: list[str] = []
    for path in differing:
        try:
            _require_place(path, listed, folders)
            local = _small(read_whole(history.results / path))
            found = _small(theirs[path]) if path in theirs else None
            joined = _joined(path, found, local)
        except UnreadableError as error:
            warnings.append(_left_alone(history, path, error))
            continue
        if joined != found:
            changed[path] = joined
    return changed, warnings


def _joined(path: str, branch: bytes | None, local: bytes | None) -> bytes:
    """Return both files as one; raises ``UnreadableError`` when either can't be read, or both are absent."""
    if path in _ROWS:
        return _joined_rows(path, branch or b"", local or b"")
    if local is None:
        return checked(path, branch or b"")
    return merged(path, branch, local)


def _joined_rows(path: str, branch: bytes, local: bytes) -> bytes:
    try:
        if path == NOISE:
            joined = write_rows(joined_noise(read_rows(branch, NoiseRow), read_rows(local, NoiseRow)))
        elif path == LIMITS:
            joined = write_rows(joined_limits(read_rows(branch, LimitRow), read_rows(local, LimitRow)))
        else:
            joined = write_rows(joined_reported(read_rows(branch, Reported), read_rows(local, Reported)))
    except ValueError as error:
        raise UnreadableError(str(error)) from error
    return joined


def _ours(path: str) -> bool:
    return path in _ROWS or is_results(path)


def _small(content: bytes | None) -> bytes:
    if content is None or len(content) > MOST_FILE_BYTES:
        raise UnreadableError(f"has more than {MOST_FILE_BYTES >> 20} MiB")
    return content


def _require_place(path: str, listed: Mapping[str, BranchFile], folders: set[str]) -> None:
    """Raise ``UnreadableError`` where the branch has something else in the place of ``path``, which would be lost."""
    if path in listed and listed[path].mode not in _PLAIN_MODES:
        raise UnreadableError("is no plain file on the branch")
    if path in folders or path.partition("/")[0] in listed.keys() - {path}:
        raise UnreadableError("is in the way of something else on the branch")


def _foreign(history: History, listed: Mapping[str, BranchFile]) -> list[str]:
    foreign = sorted(path for path, file in listed.items() if not _ours(path) or file.mode not in _PLAIN_MODES)
    if not foreign:
        return []
    named = ", ".join(plain(path, 100) for path in foreign[:_MOST_NAMED])
    more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
    return [f"not results, left alone on {history.branch}: {named}{more}"]


def _left_alone(history: History, path: str, error: UnreadableError) -> str:
    return f"{plain(path, 200)} is left alone, here and on {history.branch}: {plain(str(error))}"


def _message(changed: Mapping[str, bytes]) -> str:
    machines = sorted({plain(path.partition("/")[0], 80) for path in changed if "/" in path})
    count = f"{len(changed)} file{'s' if len(changed) != 1 else ''}"
    return f"Keep {count}" + (f" of {', '.join(machines)}" if machines else "") + "\n"


def _seconds(clock: Clock) -> int:
    return int(datetime.fromisoformat(clock.now().replace("Z", "+00:00")).timestamp())
