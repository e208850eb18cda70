"""The commands that repeat a run: measured again on one's own GPU, or judged again without one."""

import shlex

from solwatch.model.plain import plain
from solwatch.model.record import RecordHeader, record_stem
from solwatch.render.setting import Setting

_VALUED = {
    "--device",
    "--gpus",
    "--set",
    "-b",
    "--bench",
    "--rounds",
    "--budget",
    "--min-effect",
    "--undecided",
    "--builds",
    "--base-env",
    "--head-env",
    "--env",
}
_FLAGS = {"--measure-all"}
"""What says how to measure; where to write and what runs in a pipeline only is left out."""


def repeat_lines(header: RecordHeader) -> list[Setting]:
    """Return the commands, each with what it does: commits by hash, so that a branch that moves changes nothing."""
    return [
        Setting("measure it again", plain(_measure(header), 2000), code=True),
        Setting(
            "judge these rounds again, no GPU needed",
            plain(f"solwatch report {shlex.quote(record_stem(header))}.jsonl"),
            code=True,
        ),
    ]


def _measure(header: RecordHeader) -> str:
    head = ["--working-tree"] if header.head.dirty else [header.head.sha[:12]]
    if header.base is None:
        words = ["run", *head]
    elif header.head_env is not None:
        words = ["gate", *head]
    else:
        words = ["gate", header.base.sha[:12], *head]
    return shlex.join(["solwatch", *words, *_options(header.command), "--seed", str(header.seed)])


def _options(command: str) -> list[str]:
    try:
        words = iter(shlex.split(command))
    except ValueError:
        return []  # a damaged record: the commits and the seed are what counts
    kept: list[str] = []
    for word in words:
        name, joined, _ = word.partition("=")
        if word in _FLAGS or (joined and name in _VALUED):
            kept.append(word)
        elif word in _VALUED:
            kept += [word, next(words, "")]
    return kept
