"""What a report says of the device, its ceilings, the run and the thresholds: named lines."""

from collections.abc import Sequence
from typing import NamedTuple

from solwatch.judge.judgement import Judgement
from solwatch.model.fingerprint import Fingerprint
from solwatch.model.identity import Identity
from solwatch.model.plain import plain
from solwatch.model.record import Ceilings, GpuIdentity, Record, RecordHeader
from solwatch.render.units import ABSENT, clock_time, percentage, scaled


class Setting(NamedTuple):
    """One named line; ``code`` when the value is something to type or copy."""

    name: str
    value: str
    code: bool = False


def model_text(header: RecordHeader) -> str:
    """Return ``NVIDIA H200``, or ``2 × NVIDIA H200`` when the rounds were spread over GPUs."""
    count = len(header.gpus)
    return (f"{count} × " if count > 1 else "") + plain(header.fingerprint.model)


def device_lines(fingerprint: Fingerprint, gpus: Sequence[GpuIdentity] = ()) -> list[Setting]:
    """Return the fingerprint, field by field; what the device doesn't have is left out.

    ``gpus``: all that were measured on. They differ in their UUIDs alone.
    """
    several = len(gpus) > 1
    uuids = [(f"UUID of cuda:{gpu.index}", gpu.uuid) for gpu in gpus] if several else [("UUID", fingerprint.uuid)]
    lines = [
        ("device", fingerprint.device),
        ("GPUs", str(len(gpus)) if several else None),
        ("model", fingerprint.model),
        ("driver", fingerprint.driver),
        ("VBIOS", fingerprint.vbios),
        ("power limit", scaled(fingerprint.power_limit_w, "W") if fingerprint.power_limit_w is not None else None),
        ("ECC", None if fingerprint.ecc is None else ("on" if fingerprint.ecc else "off")),
        ("clock lock", fingerprint.clock_lock),
        ("CUDA", fingerprint.cuda),
        ("torch", fingerprint.torch),
        ("measuring protocol", str(fingerprint.protocol)),
        *uuids,
    ]
    return [Setting(name, plain(value)) for name, value in lines if value is not None]


def ceiling_lines(ceilings: Ceilings) -> list[Setting]:
    """Return rated and sustained ceilings side by side."""
    lines = []
    if ceilings.rated_bandwidth is not None or ceilings.sustained_bandwidth is not None:
        lines.append(Setting("memory", _pair(ceilings.rated_bandwidth, ceilings.sustained_bandwidth, "B/s")))
    for dtype in sorted({*ceilings.rated_flops, *ceilings.sustained_flops}):
        rated, sustained = ceilings.rated_flops.get(dtype), ceilings.sustained_flops.get(dtype)
        lines.append(Setting(plain(dtype), _pair(rated, sustained, "FLOP/s")))
    if ceilings.rated_clock_hz is not None:
        lines.append(Setting("rated at", f"{scaled(ceilings.rated_clock_hz, 'Hz')} SM clock"))
    if ceilings.source:
        lines.append(Setting("source", plain(ceilings.source)))
    if ceilings.rated_flops and not ceilings.verified:
        lines.append(Setting("verified", "no: these rated figures were not checked on such a card"))
    return lines


def run_lines(record: Record, judgement: Judgement) -> list[Setting]:
    """Return how the run was made and how to make it again."""
    header = record.header
    lines = [
        Setting("command", plain(header.command, 2000), code=True),
        Setting("seed", f"{header.seed} (add --seed {header.seed} to draw the same coins, data and placements)"),
        Setting("machine", plain(header.machine)),
        Setting("rounds", _rounds(record, judgement)),
        Setting("solwatch", plain(header.solwatch)),
    ]
    if header.reference is not None:
        why = f"{plain(header.reference.why)} (reference = {plain(header.reference.setting)!r})"
        lines.append(Setting("reference", f"{plain(header.reference.commit, 80)}: {why}"))
    builds = [("head build", header.head.build), ("base build", header.base.build if header.base else None)]
    return lines + [Setting(name, plain(build), code=True) for name, build in builds if build]


def shared_lines(identity: Identity | None) -> list[Setting]:
    """Return what head and base were compared in before measuring: digests of what is the same, and what differs."""
    if identity is None:
        return []
    lines = [Setting(plain(name), digest[:16], code=True) for name, digest in identity.same.items()]
    lines += [Setting("differs", plain(difference, 300)) for difference in identity.differences]
    if identity.unmeasured:
        count = len(identity.unmeasured)
        said = "1 cell (--measure-all measures it)" if count == 1 else f"{count} cells (--measure-all measures them)"
        lines.append(Setting("not measured", said))
    return lines


def threshold_lines(record: Record, judgement: Judgement) -> list[Setting]:
    """Return the thresholds that were used; each cell's own stand in its details."""
    used, config = judgement.thresholds, record.header.config
    return [
        Setting("rule", plain(used.rule_text)),
        Setting(
            "false alarms",
            f"at most {percentage(used.false_alarm_rate)} of commits, all {used.family} gated cells together",
        ),
        Setting(
            "missed slowdowns",
            f"unchanged is wrong for at most {percentage(used.miss_rate)} of cells that slowed by the min effect",
        ),
        Setting("looks", f"after {', '.join(str(look) for look in used.looks)} rounds"),
        Setting("min effect (δ1)", _min_effect(record)),
        Setting(
            "margin (δ0)",
            percentage(config.margin) if config.margin is not None else f"{config.margin_fraction:g} × min effect",
        ),
        Setting("budget", f"{config.budget_s:g} s"),
        Setting("undecided", f"{plain(config.undecided)} (--undecided)"),
        Setting(
            "centre of a round", f"mean of its samples without the lowest and highest {percentage(used.trim_fraction)}"
        ),
        Setting("intervals shown", f"{percentage(used.interval_level)}, Student t over rounds, each cell for itself"),
        Setting("void", f"more than {percentage(used.void_share)} of a cell's rounds not usable"),
    ]


def _min_effect(record: Record) -> str:
    config = record.header.config
    if config.min_effect is not None:
        return percentage(config.min_effect)
    if record.header.fingerprint.device.startswith("cuda"):
        return f"{percentage(config.min_effect_cuda)}, at least {scaled(config.min_effect_floor_s, 's')}"
    return percentage(config.min_effect_cpu)


def _rounds(record: Record, judgement: Judgement) -> str:
    if record.end is None:
        return f"{judgement.completed}, and the record ends there: the run was cut off"
    return f"{judgement.completed} in {clock_time(record.end.wall_s)}; stopped: {plain(record.end.stopped)}"


def _pair(rated: float | None, sustained: float | None, unit: str) -> str:
    if rated is None:
        return f"{scaled(sustained, unit)} measured"
    if sustained is None:
        return f"{scaled(rated, unit)} rated"
    return f"{scaled(rated, unit)} rated, {scaled(sustained, unit)} sustained ({percentage(sustained / rated)})"


__all__ = [
    "ABSENT",
    "Setting",
    "ceiling_lines",
    "device_lines",
    "model_text",
    "run_lines",
    "shared_lines",
    "threshold_lines",
]
