"""Vega, which draws charts without a browser and a network. Run as a script it draws for another process.

It imports nothing of solwatch, so that such a process starts at once.
"""

import base64
import json
import sys
from collections.abc import Iterable
from typing import Any

VEGA_LITE = "6.4"
"""Specifications are read by this version."""

SCALE = 1.5
"""Pixels of a PNG for each unit of its chart."""

FIRST: dict[str, Any] = {"mark": "point", "data": {"values": []}}
"""Starts Vega before there is anything to draw."""


def drawn(kind: str, spec: dict[str, Any]) -> bytes:
    """Return a chart as ``svg`` or ``png``; raises ``ValueError`` where Vega-Lite refuses ``spec``."""
    import vl_convert  # at first use: starting Vega costs half a second, which only commands that draw may pay

    if kind == "svg":
        return str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])).encode()
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=SCALE, allowed_base_urls=[]))


def answers(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Yield a line, in base 64, for each line that asks for ``[kind, spec]`` in JSON."""
    drawn("svg", FIRST)
    for line in lines:
        yield base64.b64encode(drawn(*json.loads(line))) + b"\n"


if __name__ == "__main__":
    for answer in answers(sys.stdin.buffer):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
