"""A real browser for tests of pages: Chromium of the system, without a window and without a network."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
"""Containers run as root, where Chromium's own sandbox can't be had; nothing but this machine can be reached."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield Playwright's browser; skips the test where Playwright or a browser is missing."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed: 'apt-get install chromium' brings one")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page opened from disk: what it asked for, what it said on its console."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        """Open ``path``; ``context``: viewport, colour scheme and the like."""
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path.as_uri())

    def close(self) -> None:
        """Close it and its context."""
        self.context.close()
