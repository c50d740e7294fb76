"""Open every built page in Chromium, as a reader would.

What is measured, and how, is in tools/audit.py: `make audit` prints the same
as a table.
"""

import io
import re
from urllib.parse import quote

import numpy as np
import pytest

import audit

pytestmark = pytest.mark.browser

CHAPTERS = [path for path in audit.toc() if re.match(r"book/\d\d-", path)]


@pytest.mark.parametrize("path", audit.toc())
@pytest.mark.parametrize("scheme", audit.SCHEMES)
@pytest.mark.parametrize("size", audit.SIZES)
def test_page(open_tab, site, path, size, scheme):
    """All that one visit shows; among it: pictures without their size, a
    figure that is a white slab on a dark page, text that jumps on a phone.
    """
    tab = open_tab(size, scheme)
    complaints = []
    tab.on(
        "console",
        lambda m: (
            m.type in ("error", "warning")
            and complaints.append(f"console {m.type}: {m.text}")
        ),
    )
    tab.on("pageerror", lambda e: complaints.append(f"script error: {e}"))
    if size == "phone":
        audit.watch_shifts(tab)
    site.log.clear()
    assert audit.outside(tab, site.base, path) == []
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    assert [row for row in site.log if row[0] != 200] == []
    assert complaints == []

    broken = tab.evaluate(
        "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
    )
    assert not broken, "pictures that did not load"
    sizeless = tab.evaluate(
        """[...document.images].filter(i => !i.getAttribute('width')
        || !i.getAttribute('height')).map(i => i.src)"""
    )
    assert not sizeless, "pictures that move the text when they arrive"
    text = tab.evaluate(
        """() => { const seen = document.body.cloneNode(true);
        seen.querySelectorAll('pre, code, script, style')
            .forEach(e => e.remove());
        return seen.textContent; }"""
    )
    assert not re.search(r"\\[(\[]|\\[a-z]{2,}", text), "TeX on the page"

    if size == "phone":
        wide = tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= audit.SIZES["phone"][0], "the page scrolls sideways"
        moved = audit.shifts(tab)
        assert moved < audit.SHIFT, "text jumps while the page loads"
    elif scheme == "dark":
        for figure in tab.locator("article img").all():
            assert brightness(figure.screenshot()) < 0.35, "a white slab"

    assert audit.violations(tab) == []


def brightness(shot):
    """Return the median brightness of a screenshot, from 0 to 1."""
    from matplotlib.image import imread

    return float(np.median(imread(io.BytesIO(shot))[..., :3].mean(-1)))


@pytest.mark.parametrize("path", audit.toc())
def test_a_page_is_light(chromium, site, path):
    """Kills icon fonts, a renderer of maths."""
    first = audit.transferred(chromium, site, path)
    start = next(other for other in audit.toc() if other != path)
    after = audit.transferred(chromium, site, path, start)
    assert first <= audit.FIRST and after <= audit.NEXT, (first, after)


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_chapter_works_without_scripts(open_tab, site, path):
    tab = open_tab(java_script_enabled=False)
    tab.goto(site.base + path)
    assert tab.locator("h1").bounding_box()["height"] > 20
    for formula in tab.locator("article .katex-html").all()[:5]:
        if formula.is_visible():
            assert formula.bounding_box()["width"] > 4
    first = tab.locator("article details > summary").first
    first.click()
    assert first.locator("xpath=..").get_attribute("open") is not None
    assert tab.locator("article img").first.bounding_box()["width"] > 100
    assert tab.locator(".run-it a[download]").is_visible()
    # Colours do not wait for a script either.
    color, page = (
        tab.locator(name).evaluate(f"e => getComputedStyle(e).{what}")
        for name, what in [("h1", "color"), ("body", "backgroundColor")]
    )
    assert (color, page) == ("rgb(41, 49, 61)", "rgb(255, 255, 255)")


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("softmax", "00-primer"),
        ("KV cache", "05-masking"),
        ("注意力", "glossary"),
        ("权重", "04-scaling"),
        ("缩放点积注意力", "glossary"),
    ],
)
def test_search(open_tab, site, word, page):
    """Kills a search that takes a clause of Chinese for one word."""
    tab = open_tab()
    tab.goto(f"{site.base}search.html?q={quote(word)}")
    tab.wait_for_selector(f"#search-results ul.search a[href*='{page}']")


def test_the_keyboard_reaches_the_page(open_tab, site):
    tab = open_tab()
    tab.goto(site.base + CHAPTERS[0])
    tab.keyboard.press("Tab")
    focus = tab.locator(":focus")
    assert "Skip to main content" in focus.inner_text()
    summary = tab.locator("article summary").first
    summary.focus()
    tab.keyboard.press("Enter")
    assert summary.locator("xpath=..").get_attribute("open") is not None
    # The one button for light and dark, and it is remembered.
    tab.locator(".theme-switch-button").first.focus()
    for _ in range(3):
        tab.keyboard.press("Enter")
        if tab.evaluate("document.documentElement.dataset.mode") == "dark":
            break
    tab.goto(site.base + CHAPTERS[1])
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_paper_is_white(open_tab, site):
    """A page printed from a dark screen has dark text on white."""
    tab = open_tab("desktop", "dark")
    tab.goto(site.base + CHAPTERS[0])
    tab.emulate_media(media="print", color_scheme="dark")
    assert brightness(tab.screenshot()) > 0.9


def test_there_is_a_favicon(open_tab, site):
    tab = open_tab()
    tab.goto(site.base + "book/index.html")
    icon = tab.evaluate("document.querySelector('link[rel~=icon]').href")
    assert tab.request.get(icon).ok
