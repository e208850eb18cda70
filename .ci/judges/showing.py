"""The scores as a table and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.box import HEAVY_HEAD
from rich.table import Table

from judges.recording import Recording
from judges.run import CELLS
from judges.scores import SIZES, Score

NOTES = (
    "Raw samples are not recorded: where a rule takes samples they were drawn around each block's centre "
    "with the block's spread and count.",
    "Planted: every head took that much longer. Rates are conditional on these recorded rounds.",
    "Red runs: those with any false alarm; at most: the upper end of a one-sided 95 % interval for that share.",
    "GPU seconds: rounds taken when nothing is slower, at the recorded wall time of a round; history is free.",
)


def heading(recordings: Sequence[Recording], runs: int, seed: int) -> str:
    """Return what was judged."""
    files = "; ".join(
        f"{each.name} ({len(each.rounds)} rounds of {len(each.keys)} cells, {each.wall_s:.2f} s each)"
        for each in recordings
    )
    return f"{runs} runs of {CELLS} cells, seed {seed}, drawn from {files}"


def table_of(scores: Sequence[Score]) -> Table:
    """Return a row for each rule."""
    table = Table(box=HEAVY_HEAD)
    table.add_column("rule")
    table.add_column("sees")
    for title in (
        "false alarms a run",
        "red runs",
        "at most",
        *(f"+{100 * size:g} %" for size in SIZES),
        "GPU s a run",
    ):
        table.add_column(title, justify="right")
    for score in scores:
        table.add_row(
            score.judge.name,
            score.judge.sees,
            f"{score.alarms_per_run:.3f}",
            f"{100 * score.red / score.runs:.1f} %",
            f"{100 * score.red_at_most:.1f} %",
            *(f"{100 * score.called_share(size):.1f} %" for size in SIZES),
            f"{score.seconds_per_run:.1f}",
        )
    return table


def document_of(scores: Sequence[Score], recordings: Sequence[Recording], runs: int, seed: int) -> dict[str, Any]:
    """Return everything as plain values: counts beside rates, so that an interval can be put on them."""
    return {
        "runs": runs,
        "seed": seed,
        "cells": CELLS,
        "notes": list(NOTES),
        "files": [{"name": each.name, "rounds": len(each.rounds), "wall_s": each.wall_s} for each in recordings],
        "rules": [
            {
                "rule": score.judge.name,
                "sees": score.judge.sees,
                "false_alarms": score.alarms,
                "false_alarms_per_run": score.alarms_per_run,
                "red_runs": score.red,
                "red_runs_at_most": score.red_at_most,
                "gpu_s_per_run": score.seconds_per_run,
                "called_slower": {
                    f"{size:g}": {
                        "share": score.called_share(size),
                        "by_cell": dict(score.called[size]),
                    }
                    for size in SIZES
                },
            }
            for score in scores
        ],
    }


def summary_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without what was called cell by cell."""
    rules = [
        {**rule, "called_slower": {size: called["share"] for size, called in rule["called_slower"].items()}}
        for rule in document["rules"]
    ]
    return {**document, "rules": rules}
