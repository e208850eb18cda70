"""What stored figures were made from, so that a stored figure can't outlive it unseen."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from solwatch.judge.two_stage import TwoStage
from solwatch.model.config import Config

LABEL = "a/a"


def made_from(paths: Iterable[Path], config: Config) -> dict[str, Any]:
    """Return the rule, the settings that thresholds come from, and a digest of each A/A file among ``paths``."""
    return {
        "rule": TwoStage.from_config(config).text,
        "settings": {
            name: getattr(config, name)
            for name in ("min_effect", "min_effect_cuda", "min_effect_floor_s", "margin_fraction", "miss_rate")
        },
        "files": {path.name: _digest(path) for path in sorted(paths) if _label(path) == LABEL},
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _label(path: Path) -> object:
    with path.open(encoding="utf-8") as file:
        return json.loads(file.readline()).get("label")
