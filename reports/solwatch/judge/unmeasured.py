"""The verdict on a cell that was not measured, because nothing that it runs has changed."""

import hashlib
import json

from solwatch.judge.failures import Finding
from solwatch.model.identity import Identity
from solwatch.model.verdict import Reason, Verdict


def identical_finding(identity: Identity | None, key: str) -> Finding | None:
    """Return the finding on the cell ``key``, ``None`` for a cell that was to be measured."""
    if identity is None or key not in identity.unmeasured:
        return None
    compiled = identity.unmeasured[key]
    digest = hashlib.sha256(json.dumps(sorted(identity.same.items())).encode()).hexdigest()
    return Finding(
        verdict=Verdict.UNCHANGED,
        reason=Reason.IDENTICAL,
        evidence=[
            f"{', '.join(identity.same)} are the same in head and base (digest {digest[:12]})",
            "it compiles and tunes nothing"
            if compiled is None
            else f"what it compiles is the same on both sides (digest {compiled[:12]})",
            "not measured: --measure-all measures it",
        ],
    )


def sample_evidence(identity: Identity | None, key: str) -> list[str]:
    """Return what a reader must know of a cell that is measured although nothing that it runs has changed."""
    if identity is None or key not in identity.sample:
        return []
    return ["nothing that it runs has changed: measured as a sample of such cells (identical_sample)"]
