"""Open every built page in Chromium, as a reader would."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = {"desktop": (1366, 900), "phone": (390, 844)}


def toc():
    """Return the pages of _toc.yml, as paths in the site."""
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    found = re.findall(
        r"(?:root|file): (\S+)", yaml.dump(yaml.safe_load(text))
    )
    return sorted(f"{name}.html" for name in found)


@pytest.fixture(params=["light", "dark"], scope="module")
def scheme(request):
    """Light or dark."""
    return request.param


@pytest.fixture(params=list(SIZES), scope="module")
def size(request):
    """Desktop or phone."""
    return request.param


@pytest.fixture(scope="module")
def context(chromium, scheme, size):
    """Return a browser profile with this screen and colour scheme."""
    width, height = SIZES[size]
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme
    )
    yield context
    context.close()


@pytest.fixture
def visit(context, server):
    """Return a function that opens a page and waits until it is typeset."""
    base, failed = server
    tab = context.new_page()
    complaints = []
    tab.on(
        "console",
        lambda m: (
            m.type in ("error", "warning")
            and complaints.append(f"console {m.type}: {m.text}")
        ),
    )
    tab.on("pageerror", lambda e: complaints.append(f"script error: {e}"))
    tab.on(
        "request",
        lambda r: (
            r.url.startswith((base, "data:", "blob:"))
            or complaints.append(f"request to another host: {r.url}")
        ),
    )
    failed.clear()

    def open_page(path):
        tab.goto(base + path, wait_until="load")
        tab.evaluate(
            "window.MathJax && MathJax.startup && MathJax.startup.promise"
        )
        return tab

    open_page.complaints = lambda: complaints + failed
    yield open_page
    tab.close()


@pytest.mark.parametrize("path", toc())
def test_page(visit, path, size, scheme):
    tab = visit(path)
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme

    # Lazy pictures load when they come into view.
    tab.evaluate("scrollTo(0, document.body.scrollHeight)")
    tab.wait_for_function("[...document.images].every(i => i.complete)")
    broken = tab.evaluate(
        "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
    )
    assert not broken, "pictures that did not load"

    maths = tab.evaluate(
        """() => [...document.querySelectorAll('.math')]
        .filter(m => !m.querySelector('mjx-container, math, .katex'))
        .map(m => m.textContent)"""
    )
    assert not maths, "maths that was not typeset"
    assert tab.locator("mjx-merror, merror, .katex-error").count() == 0
    # An unknown macro is set in red, as its own name.
    unknown = tab.evaluate(
        """() => [...document.querySelectorAll('mjx-container, .math math')]
        .map(m => m.textContent).filter(t => /\\\\[a-zA-Z]/.test(t))"""
    )
    assert not unknown, "TeX that the renderer does not know"
    text = tab.evaluate(
        """() => { const seen = document.body.cloneNode(true);
        seen.querySelectorAll('pre, code, script, style, mjx-container, math')
            .forEach(e => e.remove());
        return seen.textContent; }"""
    )
    assert not re.search(r"\\[(\[]|\\[a-z]{2,}", text), "TeX on the page"

    if size == "phone":
        wide = tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= SIZES["phone"][0], "the page scrolls sideways"

    slabs = tab.evaluate(
        """() => [...document.querySelectorAll('.cell_output img')]
        .filter(i => { const s = getComputedStyle(i);
          return s.filter !== 'none'
            || s.backgroundColor !== 'rgba(0, 0, 0, 0)'; })
        .map(i => i.src)"""
    )
    assert not slabs, "a filter or a background behind a figure"
    assert not visit.complaints()


@pytest.mark.parametrize("word", ["softmax", "注意力"])
def test_search(chromium, server, word):
    tab = chromium.new_page()
    tab.goto(f"{server[0]}search.html?q={quote(word)}")
    tab.wait_for_selector("#search-results ul.search li a", timeout=10_000)
    tab.close()


def test_there_is_a_favicon(chromium, server):
    tab = chromium.new_page()
    tab.goto(f"{server[0]}book/index.html")
    icon = tab.evaluate("document.querySelector('link[rel~=icon]').href")
    assert tab.request.get(icon).ok
    tab.close()
