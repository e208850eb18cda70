"""The page in a real browser: sorted, filtered, by keyboard, dark, on paper, on a phone, offline, accessible."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.browser import Visit, chromium
from fakes.gpu_run import gpu_record
from fakes.hostile import ATTACKS
from fakes.reasons import explained
from fakes.records import FakeCell, always, commit, o_proj_work, record

from solwatch.judge.judging import judge
from solwatch.render.html import render_html

Open = Callable[..., Visit]
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    taken = gpu_record()
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(render_html(taken, judge(taken)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page of few cells, one of each kind: axe takes seconds for each thousand elements."""
    work = o_proj_work(16, 4096, 4096)
    taken = explained(
        FakeCell(key="faster", ratio=0.9, work=work),
        FakeCell(key="unchanged", work=work),
        FakeCell(key="broken", head_failures=always("raised", "no")),
        FakeCell(key="void", voided=frozenset(range(20))),
        FakeCell(key="undecided", spread=0.2),
        FakeCell(key="peer", gated=False, work=work),
    )
    path = tmp_path_factory.mktemp("kinds") / "index.html"
    path.write_text(render_html(taken, judge(taken)), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Open]:
    visits: list[Visit] = []

    def opened(path: Path = report, **context: Any) -> Visit:
        visits.append(Visit(browser, path, **context))
        return visits[-1]

    yield opened
    for each in visits:
        # Whatever was done: nothing was asked for but the file itself, and nothing went wrong.
        assert each.said == []
        assert [url for url in each.requests if not url.startswith("file:")] == []
        assert len({url.partition("#")[0] for url in each.requests}) == 1
        each.close()


@pytest.fixture(scope="module")
def still(browser: Any, report: Path) -> Iterator[Any]:
    """Yield one page for all tests that leave it as it was."""
    opened = Visit(browser, report)
    yield opened.page
    assert opened.said == []
    opened.close()


def names(page: Any) -> list[str]:
    """Return the cells that are shown, in the order of the first table."""
    return page.eval_on_selector(
        "table.cells",
        "table => [...table.tBodies[0].rows].filter(row => row.offsetParent).map(row => row.dataset.name)",
    )


def column(page: Any, number: int) -> list[float]:
    """Return the figures of a column of the first table, those that are known."""
    texts = page.eval_on_selector(
        "table.cells", f"table => [...table.tBodies[0].rows].map(row => row.cells[{number}].dataset.v)"
    )
    return [float(text) for text in texts if text]


def test_the_worst_cell_stands_first_and_in_the_title(still: Any) -> None:
    assert names(still)[0] == "o_proj.OProj(1, 'llama-3-8b')"
    assert "1 of 24 cells slower, 1 broken; worst: o_proj.OProj(1, 'llama-3-8b') +3" in still.inner_text("h1")
    box = still.locator("table.cells tbody tr").first.bounding_box()
    assert box["y"] + box["height"] < 900, "it is seen without scrolling"


def test_a_click_on_a_header_sorts_and_another_one_turns_it_round(visit: Open) -> None:
    page = visit().page
    head = page.locator("table.cells thead th").nth(4)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    rising = column(page, 4)
    assert rising == sorted(rising)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 4) == rising[::-1]
    page.locator("table.cells thead th").first.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    assert names(page)[:3] == ["null_kernel", "o_proj.OProj(1, 'deepseek-v3')", "o_proj.OProj(1, 'llama-3-8b')"]


def test_names_verdicts_and_layers_filter_together(visit: Open) -> None:
    page = visit().page
    page.locator("[name=layer]").select_option("llama-3-8b")
    assert len(names(page)) == 6
    page.locator("[name=verdict]").select_option("unchanged")
    assert 0 < len(names(page)) < 6
    page.locator("[name=name]").fill("OPROJ(1024")
    assert names(page) == []
    assert page.inner_text("#shown") == "0 of 26 cells"
    page.get_by_role("button", name="Reset").click()
    page.get_by_text("26 cells", exact=True).wait_for()  # from outside: the page's policy forbids eval
    assert len(names(page)) == 25


def test_everything_can_be_reached_and_done_by_keyboard(visit: Open) -> None:
    page = visit().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the table of cells"
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('thead') !== null"):
            break
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_link_to_a_cell_opens_its_details(visit: Open) -> None:
    page = visit().page
    link = page.locator("table.cells tbody tr").last.locator("th a").first
    details = page.locator(link.get_attribute("href"))
    assert details.get_attribute("open") is None
    link.click()
    page.locator(f"{link.get_attribute('href')}[open]").wait_for()
    assert details.get_by_text("time, cold").is_visible()


def test_marks_say_what_they_are(still: Any) -> None:
    mark = still.locator("#heat [data-tip]").first
    mark.scroll_into_view_if_needed()
    mark.hover()
    tip = still.locator(".tip")
    assert tip.is_visible()
    assert tip.inner_text() == mark.get_attribute("data-tip")
    still.keyboard.press("Escape")
    assert not tip.is_visible()


def test_every_chart_has_its_table(still: Any) -> None:
    figures = still.locator("figure")
    assert figures.count() == 4
    for figure in figures.all():
        figure.get_by_text("The same as a table").click()
        assert figure.locator("tbody tr").first.is_visible()


def test_the_json_can_be_taken_out_offline(visit: Open) -> None:
    page = visit(offline=True).page
    with page.expect_download() as started:
        page.get_by_role("link", name="Download all of it as JSON").click()
    assert started.value.suggested_filename == "report.json"
    assert Path(started.value.path()).read_bytes().startswith(b'{\n "schema_version"')


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", {"width": 1280, "height": 900}), ("dark", NARROW)], ids=["light", "dark phone"]
)
def test_axe_finds_nothing(visit: Open, kinds: Path, scheme: str, viewport: dict[str, int]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = visit(kinds, color_scheme=scheme, viewport=viewport).page
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_dark_is_dark_and_paper_is_white(visit: Open) -> None:
    page = visit(color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('#forest text')).fill"
    assert brightness(page.evaluate(ground)) < 40 < 160 < brightness(page.evaluate(label))
    page.emulate_media(media="print")
    assert brightness(page.evaluate(ground)) == 255
    assert brightness(page.evaluate(label)) < 120


def test_paper_has_every_cell_s_details_and_no_controls(visit: Open) -> None:
    page = visit().page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator("#filter").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 20
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_phone_scrolls_down_only_and_shows_every_cell(visit: Open) -> None:
    page = visit(viewport=NARROW).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    row = page.locator("table.cells tbody tr").first
    assert row.bounding_box()["width"] <= 390
    assert "+3" in row.inner_text()
    assert float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('.pill')).fontSize)")) >= 12


def test_without_scripts_it_is_a_plain_page(visit: Open) -> None:
    page = visit(java_script_enabled=False).page
    assert page.locator("table.cells tbody tr").count() == 26
    assert not page.locator("#filter").is_visible()
    assert page.locator("thead button").count() == 0
    assert page.locator("#forest svg").is_visible()


def test_hostile_text_does_nothing(visit: Open, tmp_path: Path) -> None:
    attacks = [*ATTACKS, "</script><script>alert(1)</script>", "\u2028alert(1)//", '"><svg onload=alert(1)>']
    cells = [FakeCell(key=f"{index}.T({attack})", ratio=1.2) for index, attack in enumerate(attacks)]
    cells.append(FakeCell(key="b", head_failures=always("raised", "".join(attacks))))
    taken = record(cells, rounds=12, head=commit("4be1c0ffee", attacks[-1], attacks[-3]), notes=attacks)
    path = tmp_path / "hostile.html"
    path.write_text(render_html(taken, judge(taken)), encoding="utf-8")
    opened = visit(path)
    dialogs: list[str] = []
    opened.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    opened.page.locator("[name=name]").fill("alert")
    assert len(names(opened.page)) >= 3
    assert opened.page.locator("script").count() == 1
    assert opened.page.locator("img, iframe, object, [onload], [onerror]").count() == 0
    assert dialogs == []


def brightness(colour: str) -> float:
    """Return the mean of red, green and blue of ``rgb(…)``, 0 to 255."""
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
