"""The table of runs, and a run under way, in a real browser. Skipped if there is none."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import run
from ltm_bench.viewer.server import application

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.made import serving
else:
    from made import serving

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), packages=("chromium",))

SHOWN = (
    "[...document.querySelectorAll('tr[data-run]')].filter(e => e.checkVisibility()).map(e => e.dataset.run)"
)
STRAY = """
[...document.querySelectorAll('body *')].filter(each => each.checkVisibility() && !each.closest('.skip')
  && each.getBoundingClientRect().right > WIDTH + 1).map(each => each.outerHTML.slice(0, 80)).join('; ')
"""
BROKEN = """
[...document.querySelectorAll('td, th, td *, label, button')].filter(each => each.checkVisibility()
  && [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim().split(/\\s+/).some(word => {
    const range = document.createRange(), start = node.textContent.indexOf(word);
    range.setStart(node, start); range.setEnd(node, start + word.length);
    return !/[-_\\/.=]/.test(word) && range.getClientRects().length > 1;
  }))).map(each => each.textContent.trim())
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three finished runs, and one that was stopped half way long ago."""
    folder = tmp_path_factory.mktemp("viewed") / "reports"
    common: dict[str, Any] = {"span": "2k", "reports": folder}
    run(agent="perfect", scenarios=["colours"], examples=4, name="best", tags={"who": "Ada"}, **common)
    run(agent="goldfish", scenarios=["colours"], examples=4, name="worst", tags={"who": "Ben"}, **common)
    run(agent="perfect", scenarios=["jokes", "colours"], examples=2, name="wide", **common)
    for number, name in enumerate(("worst", "best", "wide")):  # independent of when the test ran
        file = folder / name / "environment.json"
        content = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps(content | {"started": [f"2026-11-0{number + 1}T10:00:00+00:00"]}), "utf-8")
    half = folder / "half"
    half.mkdir()
    lines = (folder / "wide" / "events.jsonl").read_bytes().splitlines(keepends=True)
    (half / "events.jsonl").write_bytes(b"".join(lines[: 6 * len(lines) // 10]))
    os.utime(half / "events.jsonl", (1, 1))
    return folder


@pytest.fixture(scope="module")
def address(reports: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patched, serving(application(reports)) as port:
        patched.setattr("ltm_bench.viewer.server.EVERY", 0.2)
        yield f"http://127.0.0.1:{port}"


def until(browser: "Browser", expression: str) -> None:
    """Wait until an expression is true in the page."""
    begun = monotonic()
    while not browser.holds(expression):
        # The longer reading a run takes, the less often it happens, so a busy machine may need a while.
        assert monotonic() - begun < 90, expression
        sleep(0.05)


def press(browser: "Browser", key: str, code: int, text: str = "") -> None:
    common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
    browser.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **common)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("path", ["/", "/live/half", "/search?q=colour"])
def test_a_page_fits_breaks_no_word_and_makes_no_outside_request(
    address: str, browser: "Browser", path: str, width: int, dark: bool
) -> None:
    browser.open(address + path, width=width, dark=dark, scripts=True)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(STRAY.replace("WIDTH", str(width))) == ""
    assert browser.ask(BROKEN) == []
    assert browser.problems == []
    assert {each for each in browser.requests if not each.startswith((address + "/", "data:"))} == set()


@pytest.mark.parametrize(
    ("key", "once", "twice"),
    [
        ("name", ["best", "half", "wide", "worst"], ["worst", "wide", "half", "best"]),
        ("score", ["best", "wide", "worst", "half"], ["half", "worst", "best", "wide"]),
        ("started", ["half", "worst", "best", "wide"], ["wide", "best", "worst", "half"]),
    ],
)
def test_clicking_a_column_head_sorts_the_table(
    address: str, browser: "Browser", key: str, once: list[str], twice: list[str]
) -> None:
    browser.open(address + "/", scripts=True)
    assert browser.ask(SHOWN) == ["wide", "best", "worst", "half"]
    head = f"document.querySelector('th[data-key={key}]')"
    for order, direction in ((once, None), (twice, None)):
        browser.ask(f"{head}.querySelector('button').click()")
        assert browser.ask(SHOWN) == order, direction
    assert browser.ask(f"{head}.getAttribute('aria-sort')") in ("ascending", "descending")
    assert browser.ask("document.querySelectorAll('th[aria-sort]').length") == 1
    assert browser.ask("location.search").startswith(f"?sort={key}&")


def test_the_table_is_filtered_by_words_and_state(address: str, browser: "Browser") -> None:
    browser.open(address + "/?words=perfect&state=finished", scripts=True)
    assert sorted(browser.ask(SHOWN)) == ["best", "wide"]
    assert browser.ask("document.getElementById('shown').textContent") == "2 of 4 shown"
    for words, expected in (("who=ben", ["worst"]), ("", ["wide", "best", "worst"]), ("nobody", [])):
        browser.ask(
            "(() => { const form = document.getElementById('filter'); "
            f"form.elements.words.value = {words!r}; form.dispatchEvent(new Event('input')); }})()"
        )
        assert browser.ask(SHOWN) == expected


def choose_none(browser: "Browser", address: str) -> None:
    """Forget the choice of the tests before."""
    browser.open(address + "/", scripts=True)
    browser.ask("document.getElementById('none').click()")
    until(browser, "document.getElementById('count').textContent === ''")


def test_runs_are_chosen_and_compared_with_the_keyboard_alone(address: str, browser: "Browser") -> None:
    browser.open(address + "/", scripts=True)
    assert browser.ask("document.getElementById('compare').disabled") is True
    focused = "document.activeElement.value"
    for name in ("best", "worst"):
        for _ in range(60):
            browser.tab()
            if browser.ask(focused) == name:
                break
        assert browser.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        press(browser, " ", 32, " ")
    assert browser.ask("document.getElementById('count').textContent") == "2 chosen"
    for _ in range(60):
        browser.tab()
        if browser.ask("document.activeElement.id") == "compare":
            break
    press(browser, "Enter", 13, "\r")
    until(browser, "location.pathname === '/compare' && document.readyState === 'complete'")
    assert "run=best" in browser.ask("location.search")
    assert "2 agents at 1 span" in browser.ask("document.body.textContent")


def test_a_row_follows_its_run_and_keeps_the_selection(
    address: str, browser: "Browser", reports: Path
) -> None:
    choose_none(browser, address)
    browser.open(address + "/", scripts=True)
    browser.ask("document.querySelector('input[value=best]').click()")
    log = reports / "half" / "events.jsonl"
    before = log.read_bytes()
    whole = (reports / "wide" / "events.jsonl").read_bytes().splitlines(keepends=True)
    sleep(0.5)  # the page has been told once
    log.write_bytes(b"".join(whole[:-2]))
    try:
        until(browser, "document.querySelector('tr[data-run=half]').dataset.state === 'running'")
        row = "document.querySelector('tr[data-run=half]').textContent"
        assert "so far" in browser.ask(row)
        assert browser.ask("document.querySelector('input[value=best]').checked") is True
        assert browser.problems == []
    finally:
        log.write_bytes(before)
        os.utime(log, (1, 1))


def test_the_conversation_of_a_run_grows_on_its_page(address: str, browser: "Browser", reports: Path) -> None:
    browser.open(address + "/live/half", scripts=True)
    log = reports / "half" / "events.jsonl"
    before = log.read_bytes()
    last = "document.querySelector('#turns article:last-child').id"
    old = browser.ask(last)
    whole = (reports / "wide" / "events.jsonl").read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:-6]))
    try:
        until(browser, f"{last} !== {old!r}")
        assert browser.ask(f"document.querySelectorAll('#{old}').length") == 1
        assert browser.problems == []
    finally:
        log.write_bytes(before)
        os.utime(log, (1, 1))


def test_without_scripts_the_table_still_compares_runs(address: str, browser: "Browser") -> None:
    browser.open(address + "/")
    assert len(browser.ask(SHOWN)) == 4
    assert browser.ask("document.getElementById('filter').checkVisibility()") is False
    assert browser.ask("document.getElementById('compare').disabled") is False


def test_runs_that_do_not_fit_on_a_page_are_sorted_and_filtered_by_the_server(
    address: str, browser: "Browser", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.viewer.shown_runs.PAGE", 3)
    shown = "document.getElementById('shown').textContent"
    browser.open(address + "/", scripts=True)
    assert browser.ask(SHOWN) == ["wide", "best", "worst"]
    assert browser.ask(shown) == "4 of 4 found"
    browser.ask("document.querySelector('a[rel=next]').click()")
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).join() === 'half'")
    browser.ask("document.querySelector('th[data-key=name] button').click()")
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).join() === 'best,half,wide'")
    browser.ask(
        "(() => { const form = document.getElementById('filter'); form.elements.words.value = 'perfect'; "
        "form.elements.state.value = 'unfinished'; form.dispatchEvent(new Event('change')); })()"
    )
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).join() === 'half'")
    assert browser.ask(shown) == "1 of 4 found"
    assert browser.problems == []


def test_the_choice_of_runs_outlives_a_change_of_page(
    address: str, browser: "Browser", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.viewer.shown_runs.PAGE", 3)
    count = "document.getElementById('count').textContent"
    choose_none(browser, address)
    browser.open(address + "/", scripts=True)
    browser.ask("document.querySelector('input[value=best]').click()")
    browser.ask("document.querySelector('a[rel=next]').click()")
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).join() === 'half'")
    assert browser.ask(count) == "1 chosen, 1 of them on other pages"
    browser.ask("document.querySelector('input[value=half]').click()")
    browser.ask("document.querySelector('a[rel=prev]').click()")
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).length === 3")
    assert browser.ask("document.querySelector('input[value=best]').checked") is True
    assert (
        browser.ask("new FormData(document.getElementById('chosen')).getAll('run').sort().join()")
        == "best,half"
    )
    browser.ask("document.getElementById('none').click()")
    until(browser, f"{count} === ''")
    browser.ask("document.querySelector('a[rel=next]').click()")
    until(browser, f"document.readyState === 'complete' && ({SHOWN}).join() === 'half'")
    assert browser.ask(count) == ""
    assert browser.problems == []
