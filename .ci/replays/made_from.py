"""What stored figures were made from, so that a stored figure can't outlive it unseen."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from replays.recorded import LABEL, Stretch, stretches
from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config


def made_from(paths: Iterable[Path], config: Config) -> dict[str, Any]:
    """Return the rule, the settings that thresholds come from, and digests of the A/A files among ``paths``.

    ``log_ratios``: of what the judge takes from them, so that another way to take it is another corpus.
    """
    files = sorted(path for path in paths if _label(path) == LABEL)
    return {
        "rule": TwoStage.from_config(config).text,
        "settings": {
            name: getattr(config, name)
            for name in ("min_effect", "min_effect_cuda", "min_effect_floor_s", "margin_fraction", "miss_rate")
        },
        "files": {path.name: _digest(path.read_bytes()) for path in files},
        "log_ratios": {each.name: _digest(_taken(each)) for each in stretches(files, config)},
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _taken(stretch: Stretch) -> bytes:
    # Eight digits: the last bits of a logarithm are the processor's own.
    cells = {key: [f"{value:.8f}" for value in cell.by_slot] for key, cell in sorted(stretch.cells.items())}
    return json.dumps(cells).replace("-0.00000000", "0.00000000").encode()


def _label(path: Path) -> object:
    with path.open(encoding="utf-8") as file:
        return json.loads(file.readline()).get("label")
