"""By what a commit is judged, as one digest: equal for two gates that would have come to one verdict."""

import hashlib

import msgspec

from solwatch import __version__
from solwatch.app.session import Request
from solwatch.model.fingerprint import MEASURING_PROTOCOL

_FOLDERS = frozenset({"results", "records", "report"})


def policy_digest(request: Request) -> str:
    """Return the SHA-256 of settings, selection, limits, solwatch's version and the measuring protocol.

    Where results lie and the seed are left out: they decide nothing.
    """
    settings = msgspec.to_builtins(request.config)
    said = {
        "settings": {name: value for name, value in settings.items() if name not in _FOLDERS},
        "set": request.selection.named_set,
        "patterns": list(request.selection.patterns),
        "rounds": request.rounds,
        "device": request.device,
        "gpus": request.gpus,
        "measure_all": request.measure_all,
        "solwatch": __version__,
        "protocol": MEASURING_PROTOCOL,
    }
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()
