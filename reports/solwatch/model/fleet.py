"""``fleet.json``: the kinds of runner that commits are gated on, and what each of them promises to be."""

from typing import Annotated

import msgspec

from solwatch.model.architecture import ARCHITECTURE

# Of the text: "$" would let a line break follow. JSON schema's regular expressions know it too, but no "\\Z".
_END = r"(?![\s\S])"

# Part of job names, of artifacts' names and of paths.
Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z0-9][a-z0-9-]{0,39}" + _END,
        description="a name of up to 40 lower-case letters, digits and hyphens",
    ),
]
Label = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}" + _END,
        description="a label of up to 100 letters, digits, dots, hyphens and underscores",
    ),
]
GpuName = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9 ()\[\]*?./_-]{1,100}" + _END,
        description="a GPU's name as the driver tells it, * and ? standing for anything",
    ),
]
Architecture = Annotated[
    str,
    msgspec.Meta(
        pattern=f"^{ARCHITECTURE}{_END}", description="a CUDA architecture like 8.0, 9.0a or 9.0+PTX, 8.0 or newer"
    ),
]
GpuCount = Annotated[int, msgspec.Meta(ge=1, le=16)]
Price = Annotated[float, msgspec.Meta(gt=0, le=10_000)]
# A job on a self-hosted runner is ended after five days at the latest.
Limit = Annotated[int, msgspec.Meta(ge=1, le=7200)]


class Runner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of runner; the gate runs once on each.

    ``name``: what jobs, artifacts and `solwatch fleet check` call it
    ``labels``: of `runs-on`: a runner must have all of them
    ``gpu``: glob on the name of its GPUs (`NVIDIA H200` is the whole name); none for one that measures the CPU
    ``gpu_count``: GPUs that it shows, no more and no fewer; with more than one the rounds are spread over them
    ``architectures``: what kernels are built for; each of its GPUs must run one of them
    ``ephemeral``: whether it is thrown away after one job; code from a fork runs on no other
    ``limit_min``: minutes after which a job on it is ended
    ``price_usd_per_h``: what an hour of it costs, all of its GPUs together
    ``spot_price_usd_per_h``: the same where the provider may take it away
    """

    name: Name
    labels: Annotated[list[Label], msgspec.Meta(min_length=1)]
    gpu: GpuName | None = None
    gpu_count: GpuCount = 1
    architectures: list[Architecture] = msgspec.field(default_factory=list)
    ephemeral: bool
    limit_min: Limit = 30
    price_usd_per_h: Price | None = None
    spot_price_usd_per_h: Price | None = None


class Fleet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All runners, in the order in which jobs are listed.

    ``schema``: where an editor finds the file's JSON schema, ``$schema``; nothing else reads it
    ``runners``: one entry for each kind, see above
    """

    schema: str | None = msgspec.field(default=None, name="$schema")
    runners: Annotated[list[Runner], msgspec.Meta(min_length=1)]
