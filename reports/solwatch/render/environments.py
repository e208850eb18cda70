"""What a report says of the environments that its sides were measured in."""

from solwatch.model.fingerprint import Fingerprint
from solwatch.model.plain import plain
from solwatch.model.record import Environment, RecordHeader
from solwatch.render.setting import Setting

FIRST = ("python", "torch", "cuda", "triton")
"""What is named first of that in which two environments differ; the rest follows by name."""

MOST_NAMED = 8
ABSENT = "none"


def environment_lines(header: RecordHeader) -> list[Setting]:
    """Return the environments and all in which they differ, a line each; none where the sides are commits."""
    if header.head_env is None:
        return []
    lines = [Setting(f"{name} environment", _described(one)) for name, one in _sides(header)]
    return lines + [
        Setting(f"{plain(field)}, base → head", plain(f"{base} → {head}")) for field, base, head in _differences(header)
    ]


def environment_notes(header: RecordHeader) -> list[str]:
    """Return what the environments differ in, in one line, and which of them measured a copy of its own."""
    sides = _sides(header)
    if len(sides) == 1:
        told = header.fingerprint.torch
        notes = [f"measured in an environment with torch {plain(told)}"] if told else []
    else:
        notes = [_compared(header)]
    for name, one in sides:
        if one.own:
            notes.append(f"{name} measured its environment's own {plain(', '.join(one.own))}, not the commit's build")
    return notes


def _compared(header: RecordHeader) -> str:
    found = _differences(header)
    if not found:
        return "base and head are environments with the same packages: nothing that is installed differs"
    named = found[:MOST_NAMED]
    base = ", ".join(f"{name} {version}" for name, version, _ in named)
    head = ", ".join(f"{name} {version}" for name, _, version in named)
    more = f"; {len(found) - len(named)} more differ, the report names them" if found[MOST_NAMED:] else ""
    return plain(f"base: {base}; head: {head}{more}", 2000)


def _differences(header: RecordHeader) -> list[tuple[str, str, str]]:
    """Return name, base's and head's version of all that differs."""
    if header.base_env is None or header.head_env is None:
        return []
    base = _versions(header.base_env, header.base_fingerprint or header.fingerprint)
    head = _versions(header.head_env, header.fingerprint)
    names = sorted({*base, *head}, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    rows = [(name, base.get(name, ABSENT), head.get(name, ABSENT)) for name in names]
    return [row for row in rows if row[1] != row[2]]


def _versions(environment: Environment, fingerprint: Fingerprint) -> dict[str, str]:
    # What the process itself said of torch goes before what its package is called.
    said = {"python": environment.python, "torch": fingerprint.torch, "cuda": fingerprint.cuda}
    return environment.packages | {name: value for name, value in said.items() if value is not None}


def _sides(header: RecordHeader) -> list[tuple[str, Environment]]:
    both = (("base", header.base_env), ("head", header.head_env))
    return [(name, one) for name, one in both if one is not None]


def _described(environment: Environment) -> str:
    own = f", its own {', '.join(environment.own)}" if environment.own else ""
    return plain(f"{environment.path} (Python {environment.python}{own})", 2000)
