"""Tables of the documentation that are made from stored figures: of ``make judges`` and of the replay.

The figures take minutes to make, so that they are kept in ``docs/data/`` with what they were made from. A table is
refused once the rule, its settings or the recorded rounds are others than then.
"""

import json
from pathlib import Path
from typing import Any

from replays.bounds import upper_rate
from replays.live_gates import live_gates, live_line
from replays.made_from import made_from
from solwatch.model.config import Config

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "data"
CORPUS = ROOT / "reports" / "tests" / "corpus"


class StaleFiguresError(Exception):
    """Figures were made from something else than what there is now."""


def judges() -> list[list[str]]:
    """Return the rows of the table of judges, its head first."""
    document = _figures("judges.json")
    sizes = list(document["rules"][0]["called_slower"])
    heads = [f"+{100 * float(size):g} %" for size in sizes]
    rows = [["rule", "sees", "false alarms a run", "red runs", "at most", *heads, "GPU s a run"]]
    for rule in document["rules"]:
        rows.append(
            [
                rule["rule"],
                rule["sees"],
                f"{rule['false_alarms_per_run']:.3f}",
                f"{100 * rule['red_runs'] / document['runs']:.1f} %",
                f"{100 * rule['red_runs_at_most']:.1f} %",
                *(f"{100 * rule['called_slower'][size]:.1f} %" for size in sizes),
                f"{rule['gpu_s_per_run']:.1f}",
            ]
        )
    return rows


def replay_noise() -> list[list[str]]:
    """Return what replayed runs without a slowdown came to, and live gates, alone and together with disjoint runs."""
    document = _figures("replay.json")
    gates = live_gates(CORPUS / "live-gates.json")
    runs = document["disjoint"]["runs"] + len(gates)
    suspects = document["disjoint"]["suspects"] + sum(gate.suspects for gate in gates)
    bound = (
        f"{suspects} in {runs} runs: at most {upper_rate(suspects, runs):.3f} a run (95 % bound)" if runs else "none"
    )
    return [
        ["without a slowdown", ""],
        *document["noise"],
        ["live gates of one build against itself", live_line(gates)],
        ["suspects of disjoint runs and live gates together", bound],
    ]


def replay_detection() -> list[list[str]]:
    """Return how often each planted size was called slower and unchanged in each cell."""
    document = _figures("replay.json")
    rounds = ["rounds of a run", "", "", *document["rounds"]]
    return [["cell", "time", "min effect", *document["sizes"]], *document["detection"], rounds]


def _figures(name: str) -> dict[str, Any]:
    path = DATA / name
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StaleFiguresError(f"{path.relative_to(ROOT)} is not there: run `make figures`") from None
    then, now = document["made_from"], json.loads(json.dumps(made_from(CORPUS.glob("*.jsonl"), Config())))
    changed = [key for key in now if then.get(key) != now[key]]
    if changed:
        raise StaleFiguresError(
            f"{path.relative_to(ROOT)} was made from other {', '.join(changed)} than there are now: run `make figures`"
        )
    return document
