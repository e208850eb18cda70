"""The findings of an examination as text: the verdict, one line each, the fix under what is wrong."""

from collections.abc import Sequence

from solwatch.model.finding import Finding, Status
from solwatch.model.plain import plain

_SIGNS = {Status.OK: "ok  ", Status.WARN: "warn", Status.FAIL: "FAIL"}


def render_findings(findings: Sequence[Finding]) -> str:
    """Return the findings as lines of plain text, in their order."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = [_verdict(findings), ""]
    for finding in findings:
        lines.append(f"  {_SIGNS[finding.status]}  {finding.name:<{width}}  {plain(finding.found)}")
        if finding.fix is not None:
            lines.append(f"        {'':<{width}}  fix: {plain(finding.fix)}")
    return "\n".join(lines)


def _verdict(findings: Sequence[Finding]) -> str:
    failed = [finding.name for finding in findings if finding.status is Status.FAIL]
    warned = [finding.name for finding in findings if finding.status is Status.WARN]
    if failed:
        return f"not ready to measure: {', '.join(failed)}"
    if warned:
        return f"ready to measure, with a warning about {', '.join(warned)}"
    return "ready to measure"
