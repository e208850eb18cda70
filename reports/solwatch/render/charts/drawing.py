"""Charts as drawings: SVG for the page, PNG for other places."""

import base64
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
from markupsafe import Markup

from solwatch.render.charts import vega
from solwatch.render.charts.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("role", "aria-roledescription", "aria-hidden", "class", "version", "pointer-events", "opacity")
"""What Vega says of each mark to screen readers and scripts. The picture has one name, its table says the rest."""


class _Process:
    """Vega in a process of its own; ``OSError`` where none can be started."""

    def __init__(self) -> None:
        # A session of its own: an interrupt is for whoever started it, and the end of its input ends it.
        self._process = subprocess.Popen(
            [sys.executable, vega.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._asking = ThreadPoolExecutor(max_workers=1)

    def ask(self, kind: str, spec: dict[str, Any]) -> "Future[bytes]":
        """Return what will be the drawing, empty when the process has ended."""
        return self._asking.submit(self._answer, msgspec.json.encode([kind, spec]) + b"\n")

    def _answer(self, asked: bytes) -> bytes:
        assert self._process.stdin is not None, "it was opened with pipes"
        assert self._process.stdout is not None, "it was opened with pipes"
        try:
            self._process.stdin.write(asked)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            return base64.b64decode(line) if line.endswith(b"\n") else b""  # it can end within a line
        except OSError:
            return b""

    def end(self) -> None:
        self._process.kill()
        self._asking.shutdown(cancel_futures=True)
        with suppress(OSError):  # a line that it has not read
            self._process.communicate()


_beside: _Process | None = None


@contextmanager
def drawing_beside() -> Iterator[None]:
    """Start Vega now, and draw all charts of the block in a process of its own.

    In this one it would hold up everything else while it starts and while it draws.
    """
    global _beside
    with suppress(OSError):
        _beside = _Process()
    try:
        yield
    finally:
        process, _beside = _beside, None
        if process is not None:
            process.end()


def begin(kind: str, figures: Sequence[Figure]) -> Callable[[], Iterator[tuple[Figure, bytes]]]:
    """Begin to draw ``figures`` as ``svg`` or ``png``; return what yields each with its drawing, as they come.

    Outside ``drawing_beside`` they are drawn there.
    """
    process = _beside
    asked = [process.ask(kind, figure.spec) for figure in figures] if process is not None else []

    def drawn() -> Iterator[tuple[Figure, bytes]]:
        for at, figure in enumerate(figures):
            answer = asked[at].result() if asked else b""
            yield figure, answer or vega.drawn(kind, figure.spec)

    return drawn


def inlined(svg: bytes, label: str) -> Markup:
    """Return Vega's SVG as an element of a page; ``label`` says what it shows to those who can't see it.

    What a mark says when it is pointed at stands in its ``data-tip``.
    """
    root = ElementTree.fromstring(svg)
    for parent in root.iter():
        # Vega has an empty outline for each group; they are a third of the file.
        for child in [child for child in parent if _is_invisible(child)]:
            parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        tip = element.attrib.pop("aria-label", None)
        if tip is not None and element.tag == "path":
            element.set("data-tip", tip)
        if element.get("opacity") not in (None, "1"):
            element.set("fill-opacity", element.attrib["opacity"])
            element.set("stroke-opacity", element.attrib["opacity"])
        for name in _DROPPED:
            element.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _is_invisible(element: ElementTree.Element) -> bool:
    return element.get("display") == "none" or (element.tag == f"{{{_SVG}}}path" and element.get("d") == "M0,0h0v0h0Z")
