"""One final verdict from a plan, a build and what each entry of the fleet said, retries included.

What is missing, can't be read or contradicts itself is infrastructure: it never makes a commit slower, and lets it
pass only in a merge queue, and only where runners failed: never what was cancelled, left out or can't be trusted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from solwatch.model.ci_plan import Plan
from solwatch.model.entry_verdict import WORDS, Code, EntryVerdict
from solwatch.model.errors import ExitCode
from solwatch.model.joint_verdict import BuildResult, EntryResult, JobResult, JointVerdict
from solwatch.model.verdict import FAILING
from solwatch.workspace.artifacts import Found

ORDER = (ExitCode.USAGE, ExitCode.SLOWER, ExitCode.UNTRUSTED, ExitCode.UNDECIDED, ExitCode.OK)
"""When several codes hold, the first of these."""

_REPLACED = frozenset({ExitCode.UNTRUSTED, ExitCode.UNDECIDED, ExitCode.INTERRUPTED})
"""What a retry replaces. A verdict stands: measuring until one is liked would make the false-alarm rate void."""

_OF_BUILDS: Mapping[BuildResult, tuple[ExitCode, str]] = {
    "head": (ExitCode.SLOWER, "the head does not build"),
    "base": (ExitCode.UNTRUSTED, "the base does not build"),
    "refused": (ExitCode.USAGE, "the build was asked for wrongly"),
    "failure": (ExitCode.UNTRUSTED, "the build failed, and did not say on which side"),
    "cancelled": (ExitCode.UNTRUSTED, "the build was cancelled, or ended by a signal"),
    "skipped": (ExitCode.UNTRUSTED, "the build was skipped, though there is something to measure"),
}


def joined(
    found: Sequence[Found[EntryVerdict]],
    *,
    entries: Sequence[str] = (),
    plan: Plan | None = None,
    build: BuildResult = "success",
    jobs: Mapping[str, JobResult] | None = None,
    doubts: Sequence[str] = (),
) -> JointVerdict:
    """Return the joint verdict; ``entries``: those that must have one, whoever has one when empty.

    ``jobs``: what became of the jobs ``gate``, ``again`` and ``retry``, as far as that is known; ``doubts``: what is
    known already not to be trusted, a line each.
    """
    if plan is not None and not plan.needed:
        return _joint(ExitCode.OK, f"nothing to measure: {plan.reason}", plan, build)
    if build != "success":
        code, text = _OF_BUILDS[build]
        return _joint(code, text, plan, build)
    trusted, problems = _trusted(found, entries, plan)
    results = [_result([one for one in trusted if one.entry == entry], entry) for entry in _named(entries, trusted)]
    problems = [*doubts, *problems, *_ended(jobs or {}, results)]
    if not results and not problems:
        problems = ["no verdict arrived from any entry"]
    codes = [_counted(one.code) for one in results] + [ExitCode.UNTRUSTED] * bool(problems)
    results.sort(key=lambda one: ORDER.index(_counted(one.code)))
    code = worst(codes)
    return _joint(code, _text(code, results, problems), plan, build, results, problems)


def ends_with(joint: JointVerdict, *, unmeasured: str) -> ExitCode:
    """Return the code that the check ends with.

    ``unmeasured``: ``pass`` forgives 3 and 4 where nothing but runners stands behind them; ``fail`` forgives nothing.
    """
    undecided = joint.code in (ExitCode.UNTRUSTED, ExitCode.UNDECIDED)
    runners = not joint.problems and joint.build not in ("cancelled", "skipped")
    return ExitCode.OK if unmeasured == "pass" and undecided and runners else ExitCode(joint.code)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code that counts when several hold."""
    return min(codes, key=ORDER.index)


def to_retry(joint: JointVerdict) -> list[str]:
    """Return the entries that a second trial may help: those that decided nothing or lost their runner."""
    return _untried(joint.entries)


def _untried(results: Sequence[EntryResult]) -> list[str]:
    return [one.entry for one in results if one.code in _REPLACED and not one.retried]


def _ended(jobs: Mapping[str, JobResult], results: Sequence[EntryResult]) -> list[str]:
    """Return a line for each job and gate that was ended from outside, or left out though it was needed.

    A hand, or a time limit that the change itself may have run into: no fault of a runner's. What a cancelled gate
    left out, a retry that ran to its end has measured.
    """
    again = jobs.get("retry") == "success" and all(one.verdict for one in results)
    cancelled = [name for name, word in jobs.items() if word == "cancelled" and not (name == "gate" and again)]
    idle = jobs.get("again") != "success" or not _untried(results)
    left_out = [name for name, word in jobs.items() if word == "skipped" and not (name == "retry" and idle)]
    lines = [f"job {name} was cancelled, by hand or by its time limit: run it again" for name in cancelled]
    lines += [f"job {name} was skipped, though it had something to do: run it again" for name in left_out]
    lines += [f"{one.entry}: the gate was interrupted" for one in results if one.code == int(ExitCode.INTERRUPTED)]
    return lines + _unexplained(jobs, [one.entry for one in results if not one.verdict])


def _unexplained(jobs: Mapping[str, JobResult], silent: Sequence[str]) -> list[str]:
    """Return a line where no lost runner explains that entries are ``silent``.

    GitHub has one word for a whole matrix, and ``failure`` hides ``cancelled``: it tells of one entry, not of two.
    """
    last = next((name for name in ("retry", "gate") if jobs.get(name, "skipped") != "skipped"), None)
    if not silent or last is None or jobs[last] == "cancelled" or (jobs[last] == "failure" and len(silent) == 1):
        return []
    why = "did not fail" if jobs[last] == "success" else "failed, which does not say whether each of them did"
    return [f"no verdict arrived from {', '.join(silent)}, and job {last} {why}: run it again"]


def _trusted(
    found: Sequence[Found[EntryVerdict]], entries: Sequence[str], plan: Plan | None
) -> tuple[list[EntryVerdict], list[str]]:
    """Return the verdicts that count, and a line for each file that doesn't."""
    trusted: dict[tuple[str, int, int], EntryVerdict] = {}
    doubtful = set()
    problems = []
    for one in found:
        verdict = one.value
        if verdict is None:
            problems.append(f"{one.where}: {one.problem}")
            continue
        place = (verdict.entry, verdict.attempt, verdict.trial)
        if entries and verdict.entry not in entries:
            problems.append(f"{one.where}: of {verdict.entry}, which is not an entry of this fleet")
        elif plan is not None and _commits(verdict) not in (None, (plan.base, plan.head)):
            problems.append(f"{one.where}: of other commits than planned")
        elif _contradicts_itself(verdict):
            problems.append(f"{one.where}: of {verdict.entry}, whose exit code contradicts its own cells")
        elif trusted.setdefault(place, verdict) != verdict:
            problems.append(f"{one.where}: of {verdict.entry}, which has two different verdicts of one trial")
            doubtful.add(place)
    return [one for place, one in trusted.items() if place not in doubtful], problems


def _contradicts_itself(verdict: EntryVerdict) -> bool:
    """Return whether a pass counts failing cells, or a fail counts cells of which none fails."""
    failing = any(verdict.counts.get(kind, 0) for kind in FAILING)
    return failing if verdict.code == int(ExitCode.OK) else verdict.code == 1 and bool(verdict.counts) and not failing


def _commits(verdict: EntryVerdict) -> tuple[str, str] | None:
    """Return base and head; ``None`` for a gate that ended before it knew them, which decided nothing."""
    if verdict.base is None or verdict.head is None:
        return ("", "") if verdict.code in (ExitCode.OK, ExitCode.SLOWER) else None
    return verdict.base.sha, verdict.head.sha


def _named(entries: Sequence[str], trusted: Sequence[EntryVerdict]) -> list[str]:
    return list(dict.fromkeys(entries or [one.entry for one in trusted]))


def _result(verdicts: Sequence[EntryVerdict], entry: str) -> EntryResult:
    trials = sorted(verdicts, key=lambda one: (one.attempt, one.trial))
    if not trials:
        said = "no verdict arrived: the runner was lost, or the job was cancelled or ran out of time"
        return EntryResult(entry=entry, code=3, problem=said)
    kept = next((index for index, one in enumerate(trials) if one.code not in _REPLACED), len(trials) - 1)
    verdict = trials[kept]
    return EntryResult(
        entry=entry,
        code=verdict.code,
        verdict=verdict,
        retried=[one.code for one in trials[:kept]],
        same_machine=verdict.same_machine(trials[kept - 1]) if kept else None,
    )


def _counted(code: int) -> ExitCode:
    return ExitCode.UNTRUSTED if code == ExitCode.INTERRUPTED else ExitCode(code)


def _text(code: ExitCode, results: Sequence[EntryResult], problems: Sequence[str]) -> str:
    said = [
        f"{one.entry}: {one.verdict.text if one.verdict else one.problem}"
        for one in results
        if _counted(one.code) is code
    ]
    if code is ExitCode.OK:
        return "nothing is slower"
    return "; ".join(said) or problems[0]


def _joint(
    code: ExitCode,
    text: str,
    plan: Plan | None,
    build: BuildResult,
    entries: Sequence[EntryResult] = (),
    problems: Sequence[str] = (),
) -> JointVerdict:
    return JointVerdict(
        code=cast("Code", int(code)),
        word=WORDS[code],
        text=text,
        plan=plan,
        build=build,
        entries=list(entries),
        problems=list(problems),
    )
