"""Verdicts of fleet entries, and plans, as jobs would have written them."""

import json
from pathlib import Path
from typing import Any

import msgspec
from fakes.records import H200

from solwatch.model.ci_plan import Plan
from solwatch.model.entry_verdict import WORDS, EntryVerdict, Measured
from solwatch.model.estimate import Estimate
from solwatch.model.verdict import CellVerdict, Reason, Verdict

BASE, HEAD = (Measured(sha=start * 10, tree=start[::-1] * 10) for start in ("ba5e", "4ead"))
PLAN = Plan(event="push", base=BASE.sha, head=HEAD.sha, needed=True, reason="files changed: 1 in the build inputs")


def slower(key: str = "o_proj.OProj(1)", ratio: float = 1.0314) -> CellVerdict:
    return CellVerdict(
        key=key,
        verdict=Verdict.SLOWER,
        reason=Reason.ABOVE_MARGIN,
        gated=True,
        slowdown_ratio=Estimate(point=ratio, low=ratio - 0.001, high=ratio + 0.001, level=0.95, count=16),
        mde=0.0172,
        evidence=["a change within the margin of 0.3 % is ruled out"],
        rounds=16,
    )


TEXTS = {
    0: "nothing is slower",
    1: "1 slower; worst: o_proj.OProj(1) +3.14 %",
    2: "min_effect = 7 in solwatch.toml: allowed is a number below 1",
    3: "torch finds no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu",
    4: "the noise hides what the gate must catch",
    130: "interrupted",
}


def verdict(entry: str = "h200", code: int = 0, **changed: Any) -> EntryVerdict:
    """Return a verdict; ``changed`` replaces fields."""
    made = EntryVerdict(
        entry=entry,
        code=code,
        word=WORDS[code],
        text=TEXTS[code],
        coverage="24 of 24 decided" if code in (0, 1) else "",
        counts={0: {Verdict.UNCHANGED: 24}, 1: {Verdict.SLOWER: 1, Verdict.UNCHANGED: 23}}.get(code, {}),
        cells=[slower()] if code == 1 else [],
        base=BASE,
        head=HEAD,
        policy="5e" * 32,
        fingerprint=H200,
        gpus=["GPU-1"],
        machine="runner-1",
        solwatch="0.1.0",
        run="4711",
        created_at="2026-03-04T05:00:00+00:00",
    )
    return msgspec.structs.replace(made, **changed)


def kept(folder: Path, *verdicts: EntryVerdict) -> Path:
    """Write each verdict into a folder of its own below ``folder``, as downloaded artifacts lie."""
    for index, one in enumerate(verdicts):
        place = folder / f"verdict-{index}"
        place.mkdir(parents=True)
        (place / "verdict.json").write_bytes(msgspec.json.encode(one))
    return folder


def poisoned_json(value: Any, text: str) -> bytes:
    """Return ``value`` as JSON in which every text of free form has ``text`` in it."""
    return json.dumps(_poisoned(msgspec.to_builtins(value), text)).encode()


_TYPED = frozenset("schema entry code sha tree policy run verdict reason labels base head build counts".split())


def _poisoned(value: Any, text: str, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _poisoned(each, text, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_poisoned(each, text, name) for each in value]
    return value + text if isinstance(value, str) and name not in _TYPED else value
