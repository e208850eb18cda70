"""The examination's text: verdict first, one line each, the fix under what is wrong."""

from solwatch.model.finding import Finding, Status
from solwatch.render.doctor import render_findings

GPU = Finding(name="GPU", status=Status.OK, found="cuda:0 NVIDIA H200")
HISTORY = Finding(name="git history", status=Status.WARN, found="shallow", fix="git fetch --unshallow")
DISK = Finding(name="disk", status=Status.FAIL, found="0.2 GB free", fix="make clean")


def test_text():
    assert render_findings([GPU, HISTORY, DISK]) == (
        "not ready to measure: disk\n"
        "\n"
        "  ok    GPU          cuda:0 NVIDIA H200\n"
        "  warn  git history  shallow\n"
        "                     fix: git fetch --unshallow\n"
        "  FAIL  disk         0.2 GB free\n"
        "                     fix: make clean"
    )


def test_verdicts():
    assert render_findings([GPU]).startswith("ready to measure\n")
    assert render_findings([GPU, HISTORY]).startswith("ready to measure, with a warning about git history\n")
