"""The site in a real browser that reaches nothing but this machine: what is seen, clicked and read out there."""

import functools
import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.browser import chromium
from fakes.hostile import ATTACKS
from fakes.sites import Commit, publish, site_project, steps

from solwatch.asvio.offline import put_beside
from solwatch.model.history import GateRun
from solwatch.workspace.npm import Packages

pytestmark = pytest.mark.slow

LIBRARIES = Path("build/test-libraries")
"""Kept from run to run: npm is asked once."""

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site and says nothing."""

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish a history in which everything that can be named is hostile, with its libraries beside it."""
    folder, home = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("home")
    series = [steps((12, 1.5), (12, 1.68), seed=1), steps((12, 1.68), (12, 1.5), seed=2)]
    subjects = [attack.replace("\n", " ").replace("\r", " ") or "x" for attack in ATTACKS]
    commits = [Commit(subjects[at % len(subjects)], "Ada &lt;b&gt;") for at in range(24)]
    commits[12] = Commit(HOSTILE)
    layers = ["llama-3-8b", HOSTILE]
    project = site_project(
        folder / "p", commits, lambda at, cell: series[cell % 2][at], layers=layers, param="<i>layer</i>"
    )
    (project / "build/solwatch/pages").mkdir(parents=True)
    head = publish_runs(project)
    publish(project, home=home)
    site = project / "build/asv/html"
    packages = Packages(LIBRARIES)
    missing = put_beside(site, lambda each: packages.file(each.package, each.path, each.sha256))
    if missing:
        pytest.skip(f"the libraries could not be had: {missing[0]}")
    assert head
    return site


def publish_runs(project: Path) -> str:
    """Keep a page of a gate of the newest commit; return the commit."""
    head = subprocess.run(
        ["git", "-C", str(project), "rev-parse", "main"], capture_output=True, text=True, check=True
    ).stdout.strip()
    run = GateRun(
        page="a.html", created_at="2026-03-04T05:06:07Z", machine=HOSTILE, model="<b>H200</b>", base=None, head=head,
        state="fail", verdict=HOSTILE,
    )  # fmt: skip
    (project / "build/solwatch/pages/a.json").write_bytes(msgspec.json.encode(run))
    (project / "build/solwatch/pages/a.html").write_text(
        "<title>report</title><link rel=icon href=data:,>the page of a gate"
    )
    return head


@pytest.fixture(scope="module")
def address(html: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


class Visit:
    """A page and what went wrong on it; every request to elsewhere is a fault, and reaches nothing."""

    def __init__(self, context: Any, address: str) -> None:
        self.address = address
        self.faults: list[str] = []
        self.page = context.new_page()
        self.page.on(
            "console", lambda said: self.faults.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        # Looked at, not held up: Chromium keeps nothing of what is intercepted, and each page would load it all anew.
        self.page.on("request", self._only_here)

    def _only_here(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:", "about:")):
            self.faults.append(request.url)

    def open(self, query: str = "") -> Any:
        self.page.goto(f"{self.address}index.html#/speedoflight{query}")
        self.page.wait_for_function("document.querySelectorAll('.sol-chart[data-drawn]').length === 3")
        return self.page


@pytest.fixture(scope="module")
def context(browser: Any) -> Any:
    """Return one set of kept files for all pages."""
    return browser.new_context(viewport={"width": 1300, "height": 1000})


@pytest.fixture
def visit(context: Any, address: str) -> Iterator[Visit]:
    made = Visit(context, address)
    yield made
    made.page.close()
    assert made.faults == []


def test_hostile_names_are_shown_as_they_are_and_do_nothing(visit: Visit) -> None:
    page = visit.open()
    assert HOSTILE in page.inner_text("#speedoflight-display")
    for summary in page.locator("#speedoflight-display summary").all():
        summary.click()
    assert page.locator("#speedoflight-display :is(img, b, i, script, iframe)").count() == 0
    page.mouse.move(600, 500)  # tooltips
    assert "onerror" not in page.evaluate("Array.from(document.querySelectorAll('img'), each => each.outerHTML).join()")


def test_a_cell_and_a_commit_are_chosen_by_keyboard_alone_and_the_address_keeps_them(visit: Visit) -> None:
    page = visit.open()
    page.locator("label:has-text('Cell ') select").first.focus()
    page.get_by_label("commit", exact=True).focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    told = page.inner_text(".sol-commit")
    assert HOSTILE not in told
    page.keyboard.press("ArrowRight")
    assert HOSTILE in page.inner_text(".sol-commit")
    chosen = page.locator("tbody .sol-link[aria-pressed=false]").first
    name = chosen.inner_text()
    chosen.focus()
    page.keyboard.press("Enter")
    assert page.locator(".sol-chosen .sol-link").inner_text() == name
    told, address = page.inner_text(".sol-commit"), page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("document.querySelectorAll('.sol-chart[data-drawn]').length === 3")
    assert (page.inner_text(".sol-commit"), page.locator(".sol-chosen .sol-link").inner_text()) == (told, name)


def test_tables_sort_filter_and_say_what_the_charts_show(visit: Visit) -> None:
    page = visit.open()
    column = page.get_by_role("button", name="MFU")
    column.focus()
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").inner_text() == "MFU ↑"
    assert page.evaluate("document.activeElement.textContent") == "MFU ↑"
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=descending]").inner_text() == "MFU ↓"
    places = page.locator("table:has(caption:has-text('Change points'))").inner_text()
    assert "▼ slower" in places
    assert "▲ faster" in places
    page.locator("summary").first.click()
    assert page.locator("table:has(caption:has-text('by commit, newest first')) tbody tr").count() == 24
    page.get_by_label("Show").select_option("best")
    page.get_by_label("Cells with").fill("LLAMA")
    assert page.locator(".sol-bar").count() == 2
    page.get_by_label("Cells with").fill("no such cell")
    assert page.locator(".sol-bar").count() == 0


def test_the_report_of_a_gate_is_one_click_away(visit: Visit) -> None:
    page = visit.open()
    page.locator(".sol-commit a", has_text="fail").click()
    assert page.inner_text("body") == "the page of a gate"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(visit: Visit, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open()
    for summary in page.locator("#speedoflight-display summary").all():
        summary.click()
    found = axe.Axe().run(page, context="#speedoflight-display")
    assert found.violations_count == 0, found.generate_report()
    ground = page.evaluate("getComputedStyle(document.getElementById('speedoflight-display')).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_phone_scrolls_down_and_never_sideways(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 800})
    page = visit.open()
    assert page.evaluate("document.getElementById('speedoflight-display').scrollWidth") <= 390


def test_asvs_own_pages_work_without_a_network_and_list_what_got_slower(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.address}index.html#/regressions")
    page.wait_for_selector("#regressions-body table tbody tr")
    shown = page.inner_text("#regressions-body")
    assert "llama-3-8b" in shown
    assert "track_sol_gap" in shown
    assert "track_time" in shown
    listed = json.loads(page.evaluate("fetch('regressions.json').then(got => got.text())"))["regressions"]
    assert listed
    assert all("llama-3-8b" in name for name, *_ in listed)
    page.goto(f"{visit.address}index.html#o_proj.OProj.track_time")
    page.wait_for_selector("#main-graph canvas")
    page.click("#nav-li-speedoflight a")
    page.wait_for_selector("#speedoflight-display .sol-tile")
    page.click("#nav-li-summarylist a")
    page.wait_for_selector("#summarylist-body table tbody tr")
    assert not page.locator("#speedoflight-display").is_visible()
