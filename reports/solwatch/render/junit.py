"""A judgement as JUnit XML, as GitHub's actions, Jenkins and GitLab read it: a test case for each gated cell.

Slower and below the floor are failures; broken and void are errors; undecided is skipped, or a failure where the
gate was told to fail then.
"""

import xml.etree.ElementTree as ElementTree

from solwatch.judge.judgement import Judgement
from solwatch.model.record import Record
from solwatch.model.verdict import Verdict
from solwatch.render.setting import model_text
from solwatch.render.view import CellRow, report_view

_OUTCOMES = {
    Verdict.SLOWER: "failure",
    Verdict.BELOW_FLOOR: "failure",
    Verdict.BROKEN: "error",
    Verdict.VOID: "error",
    Verdict.UNDECIDED: "skipped",
}


def render_junit(record: Record, judgement: Judgement) -> bytes:
    """Return the document in UTF-8. ``time`` of a case is head's time of one call in seconds."""
    view = report_view(record, judgement)
    undecided = "failure" if record.header.config.undecided == "fail" else "skipped"
    outcomes = _OUTCOMES | {Verdict.UNDECIDED: undecided}
    kinds = [outcomes.get(row.verdict_key, "") for row in view.rows]
    counted = {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{record.end.wall_s:.3f}" if record.end else "0",
    }
    root = ElementTree.Element("testsuites", {"name": "solwatch", **counted})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"solwatch on {model_text(record.header)}", **counted})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (
        ("verdict", f"{view.headline.title}: {view.headline.text}"),
        ("coverage", view.headline.coverage),
        ("summary", view.summary),
    ):
        ElementTree.SubElement(properties, "property", {"name": name, "value": value})
    for row, kind in zip(view.rows, kinds, strict=True):
        _case(suite, row, kind)
    ElementTree.indent(root, " ")
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(suite: ElementTree.Element, row: CellRow, kind: str) -> None:
    attributes = {"classname": row.benchmark, "name": row.key}
    time = row.facts.head.time
    if time is not None and row.facts.unit == "seconds":
        attributes["time"] = f"{time.point:.9f}"
    case = ElementTree.SubElement(suite, "testcase", attributes)
    said = "\n".join(row.evidence)
    if kind:
        message = f"{row.verdict_text} ({row.reason})" + (f": {row.change}" if row.ratio is not None else "")
        outcome = ElementTree.SubElement(case, kind, {"message": message})
        if kind != "skipped":
            outcome.set("type", row.verdict)
        outcome.text = said
    elif said:
        ElementTree.SubElement(case, "system-out").text = said
