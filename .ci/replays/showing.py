"""What a replay came to: as plain values, and as lines and tables made from those alone."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from replays.bootstrap import Bootstrap
from replays.bounds import upper_share
from replays.drawing import Tally
from replays.recorded import Stretch
from replays.walk import LOOSER, Walk
from solwatch.judge.launch_path import NULL_KERNEL
from solwatch.judge.two_stage import MOST_SUSPECTS
from solwatch.model.verdict import Verdict


def document_of(
    stretches: Sequence[Stretch],
    noise: Tally,
    spread: Bootstrap,
    walk: Walk,
    planted: Mapping[float, Tally],
) -> dict[str, Any]:
    """Return everything that is shown."""
    return {
        "noise": [list(line) for line in noise_lines(stretches, noise, spread, walk)],
        "disjoint": {"runs": walk.runs, "suspects": walk.suspects},
        "sizes": [f"{100 * size:g} %" for size in planted],
        "detection": detection_rows(stretches, planted),
        "rounds": [f"{statistics.fmean(tally.rounds):.1f}" for tally in planted.values()],
    }


def noise_lines(stretches: Sequence[Stretch], noise: Tally, spread: Bootstrap, walk: Walk) -> list[tuple[str, str]]:
    """Return what runs without a slowdown came to: name and value."""
    alarm_low, alarm_high = (f"{100 * share:.3f}" for share in spread.alarms)
    files = ", ".join(f"{each.name} ({len(each.head_slots)} rounds of {each.gated} cells)" for each in stretches)
    return [
        ("conditional on this corpus", files),
        (
            "resampled runs with a false alarm",
            f"{noise.alarm_runs} of {noise.runs}, at most {100 * upper_share(noise.alarm_runs, noise.runs):.3f} % "
            f"(95 % bound); {alarm_low} to {alarm_high} % over clusters",
        ),
        (
            "suspects of a resampled run",
            f"{noise.suspects / noise.runs:.4f}, at most {noise.suspects_upper:.4f} (95 % bound); "
            f"{spread.suspects[0]:.4f} to {spread.suspects[1]:.4f} over clusters; the rule reckons with "
            f"{MOST_SUSPECTS:g}",
        ),
        (
            "clusters, 95 % bootstrap interval",
            f"{spread.clusters}; {spread.resamples} resamples of {spread.runs_each} runs: no rate under "
            f"{1 / spread.runs_each:.2g} shows in one",
        ),
        (
            "rounds of a resampled run",
            f"{statistics.fmean(noise.rounds):.1f} on average, {max(noise.rounds)} at most",
        ),
        (
            "disjoint runs, each round used once",
            f"{walk.runs} of {walk.cells} cells in {walk.rounds} rounds, {walk.left} left over; "
            f"{walk.alarm_runs} with a false alarm, {walk.suspect_runs} with a suspect "
            f"(at most {100 * walk.suspect_share_upper:.0f} % of runs)",
        ),
        (
            "suspects of a disjoint run",
            f"{walk.suspects} in {walk.runs} runs: at most {walk.suspects_upper:.3f} a run by counting alone (95 % "
            f"bound; {walk.runs_needed} runs without any are needed for {MOST_SUSPECTS:g})",
        ),
        (
            "the same, with a model of the tail",
            f"at most {walk.modelled_upper:.3f} a run: {walk.near} cells at {LOOSER} times the screen's level, if a "
            "cell passes the level itself as much more seldom",
        ),
    ]


def detection_rows(stretches: Sequence[Stretch], planted: Mapping[float, Tally]) -> list[list[str]]:
    """Return a row for each cell: how often each size was called slower, and unchanged."""
    cells = {key: cell for each in stretches for key, cell in each.cells.items() if key != NULL_KERNEL}
    return [
        [
            key,
            f"{cell.base_s * 1e6:.1f} µs",
            f"{100 * cell.min_effect:.2f} %",
            *(
                f"{_share(tally, key, Verdict.SLOWER)}, {_share(tally, key, Verdict.UNCHANGED)}"
                for tally in planted.values()
            ),
        ]
        for key, cell in sorted(cells.items(), key=lambda item: item[1].base_s)
    ]


def _share(tally: Tally, key: str, wanted: Verdict) -> str:
    verdicts = tally.verdicts.get(key, [])
    return f"{100 * sum(verdict is wanted for verdict in verdicts) / len(verdicts):.2f} %" if verdicts else "–"
