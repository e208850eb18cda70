"""What a command hands to the step of GitHub Actions that it runs in."""

import os

from solwatch.app.outcome import Outcome
from solwatch.cli.showing import print_result, say
from solwatch.model.entry_verdict import WORDS, EntryVerdict
from solwatch.model.joint_verdict import JointVerdict
from solwatch.render.annotations import annotation, render_annotations
from solwatch.render.joint import render_joint
from solwatch.render.summary import SUMMARY_BYTES, render_summary
from solwatch.workspace.github_files import append_summary, set_outputs, summary_bytes


def require_step() -> None:
    """Raise ``RequestError`` outside a step, before anything is measured in vain."""
    summary_bytes(os.environ)


def tell_github(outcome: Outcome) -> None:
    """Add the report to the step's summary and print its annotations."""
    record, judgement = outcome.record, outcome.judgement
    append_whole(render_summary(record, judgement, most_bytes=SUMMARY_BYTES - summary_bytes(os.environ)))
    print_result(render_annotations(record, judgement).rstrip("\n"))


def annotate(verdict: EntryVerdict) -> None:
    """Print one annotation for a gate that has no report."""
    print_result(annotation("error", f"{verdict.word} on {verdict.entry}", verdict.text))


def tell_joint(joint: JointVerdict) -> None:
    """Set code and word as outputs, add the joint verdict to the step's summary, annotate what is not a pass."""
    set_outputs(os.environ, {"code": str(joint.code), "word": WORDS[joint.code]})
    append_whole(render_joint(joint))
    if joint.code:
        print_result(annotation("error", WORDS[joint.code], joint.text))


def append_whole(text: str) -> None:
    """Add ``text`` to the step's summary unless that would be too long to be shown at all."""
    if summary_bytes(os.environ) + len(text.encode()) > SUMMARY_BYTES:
        say("the step's summary is full: the report is in the artifacts")
    else:
        append_summary(os.environ, text)
