"""The interactive heatmap in Chromium, driven by mouse and keyboard."""

import itertools
import math
import re

import numpy as np
import pytest

import audit
from qkv import explorer, reference
from qkv.explorer import explore

pytestmark = pytest.mark.browser

RNG = np.random.default_rng(0)
WORDS = ["a", "spicy", "Sichuan", "hotpot"]
SQUARE = RNG.normal(0, 4, (3, 4, 4)).round(3)
SQUARE[2, 1] = -np.inf  # nobody is left for spicy in head 2
SQUARE[2, 3, 2] = -np.inf
WIDE = RNG.normal(0, 4, (2, 16)).round(3)
SCHEMES = {"light": "#fff; color: #222832", "dark": "#14181e; color: #ced6dd"}

LUMINANCE = """() => {
  const numbers = s => s.match(/[\\d.]+/g).map(Number);
  const light = c => c.slice(0, 3).map(v => (v /= 255) <= 0.04045
    ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const page = numbers(getComputedStyle(document.body).backgroundColor);
  const cells = document.querySelector('qkv-attention').shadowRoot
    .querySelectorAll('td');
  return [...cells].map(cell => {
    const style = getComputedStyle(cell);
    const [r, g, b, alpha = 1] = numbers(style.backgroundColor);
    const mixed = [r, g, b].map((v, i) => alpha * v + (1 - alpha) * page[i]);
    const pair = [light(mixed), light(numbers(style.color))];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  });
}"""


@pytest.fixture
def show(chromium, tmp_path):
    """Return a function that opens a page with heatmaps from a file."""
    contexts, complaints = [], []

    def open_page(*shown, scheme="light", inline=False, **options):
        options = {"viewport": {"width": 1000, "height": 700}} | options
        contexts.append(chromium.new_context(**options))
        contexts[-1].set_default_timeout(audit.WAIT)
        tab = contexts[-1].new_page()
        tab.on("console", lambda m: complaints.append(m.text))
        tab.on("pageerror", lambda e: complaints.append(str(e)))
        tab.on(
            "request",
            lambda r: r.url.startswith("file:") or complaints.append(r.url),
        )
        body = "\n".join(s._repr_html_() for s in shown)
        if not inline:  # as on the site
            body = re.sub(r"(?s)<script>.*?</script>", "", body)
            source = explorer.SCRIPT.as_uri()
            body += f'<script defer src="{source}"></script>'
        page = tmp_path / "page.html"
        page.write_text(
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>A page</title><body style='background: {SCHEMES[scheme]}'"
            f">{body}<p style='height: 2000px'>below",
            encoding="utf-8",
        )
        tab.goto(page.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def numbers(tab):
    """What the cells say, (L, S)."""
    rows = [row.locator("td") for row in tab.locator("tbody tr").all()]
    return np.array([[float(t) for t in r.all_inner_texts()] for r in rows])


def cell(tab, i, j):
    return tab.locator("tbody tr").nth(i).locator("td").nth(j)


def sentence(tab):
    return tab.locator("p[aria-live]").inner_text()


def set_temperature(tab, steps):
    """Move the slider from its left end by so many steps."""
    tab.get_by_label("temperature").focus()
    tab.keyboard.press("Home")
    for _ in range(steps):
        tab.keyboard.press("ArrowRight")


def weights(scores, *, d_k=8, temperature=1.0, divide=True, causal=False):
    """The same by qkv.reference: queries are scores, keys are units."""
    scale = 1 / temperature / (math.sqrt(d_k) if divide else 1)
    L, S = scores.shape
    mask = scores > -np.inf
    if causal:
        mask = mask & np.tri(L, S, dtype=bool)
    return reference.scaled_dot_product_attention(
        np.where(scores > -np.inf, scores, 0),
        np.eye(S),
        np.eye(S),
        mask,
        scale=scale,
    )


def test_numbers_are_those_of_the_reference(show):
    """Kills a wrong axis, no maximum, NaN rows, a mask after softmax, …"""
    heads = ["0.2", "2.11", "5.3"]
    tab = show(explore(SQUARE, WORDS, WORDS, d_k=8, heads=heads))
    steps = {0: 0.1, 4: 0.7, 5: 1, 10: 10}
    for head, step in itertools.product(range(3), steps):
        tab.get_by_label("head").select_option(heads[head])
        set_temperature(tab, step)
        shown = tab.locator("output").inner_text()
        assert float(shown) == steps[step]
        for divide, causal in itertools.product((True, False), repeat=2):
            tab.get_by_label("divide").set_checked(divide)
            tab.get_by_label("causal").set_checked(causal)
            want = weights(
                SQUARE[head],
                temperature=steps[step],
                divide=divide,
                causal=causal,
            )
            np.testing.assert_allclose(numbers(tab), want, atol=0.0051)
            said = re.search(r"gives ([\d.]+)", sentence(tab))[1]
            i, j = np.unravel_index(
                np.argmax([c.endswith("on") for c in classes(tab)]), (4, 4)
            )
            assert abs(float(said) - want[i, j]) < 0.00051


def classes(tab):
    return tab.locator("td").evaluate_all("all => all.map(c => c.className)")


def test_scores_too_large_for_exp(show):
    tab = show(explore([[9e3, 8e3], [-9e3, -9e3]], "pq", "kl", d_k=8))
    set_temperature(tab, 0)
    np.testing.assert_array_equal(numbers(tab), [[1, 0], [0.5, 0.5]])


def test_a_sentence_says_what_a_cell_means(show):
    """Kills swapped query and key, and a sum that does not add up."""
    tab = show(explore(SQUARE[2], WORDS, WORDS, d_k=8))
    cell(tab, 3, 1).hover()
    score, weight = SQUARE[2, 3, 1], weights(SQUARE[2])[3, 1]
    assert sentence(tab).replace("−", "-") == (
        f"“hotpot” gives {weight:.3f} of its attention to “spicy”. "
        f"Score {score:.2f} ÷ √8 = {score / math.sqrt(8):.2f}."
    )
    cell(tab, 3, 1).click()
    set_temperature(tab, 7)
    assert f"÷ √8 ÷ 2 = {score / math.sqrt(8) / 2:.2f}." in sentence(
        tab
    ).replace("−", "-")
    cell(tab, 3, 2).hover()
    assert sentence(tab) == "“hotpot” may not look at “Sichuan”: weight 0."
    cell(tab, 1, 0).hover()
    assert (
        sentence(tab) == "“spicy” may look at no key: all its weights are 0."
    )


def test_the_mouse_looks_and_chooses(show):
    tab = show(explore(SQUARE[0], WORDS, WORDS, d_k=8))
    best = WORDS[weights(SQUARE[0])[3].argmax()]  # chosen at first
    first = sentence(tab)
    assert "“hotpot” gives" in first and f"to “{best}”" in first
    cell(tab, 0, 1).hover()
    assert "“a” gives" in sentence(tab)
    tab.mouse.move(900, 600)
    assert sentence(tab) == first
    cell(tab, 2, 0).click()
    tab.mouse.move(900, 600)
    assert "“Sichuan” gives" in sentence(tab)
    assert "to “a”" in sentence(tab)


def test_the_keyboard_reaches_every_cell(show):
    """Kills a tab stop per cell, a page that scrolls, a focus unseen."""
    tab = show(explore(WIDE, ["p", "q"], range(16), d_k=8))
    tab.keyboard.press("Tab")
    at = (1, int(weights(WIDE)[1].argmax()))
    for key, i, j in (
        ("", *at),
        ("Home", 1, 0),
        ("ArrowDown", 1, 0),  # an edge
        ("ArrowLeft", 1, 0),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, 1),
        ("ArrowUp", 0, 1),
        ("End", 0, 15),
        ("ArrowRight", 0, 15),
        ("ArrowDown", 1, 15),
        ("Control+Home", 0, 0),
        ("Control+End", 1, 15),
    ):
        if key:
            tab.keyboard.press(key)
        assert cell(tab, i, j).evaluate("c => c.matches(':focus')"), key
        assert f"“{'pq'[i]}” gives" in sentence(tab), key
        assert f"to “{j}”." in sentence(tab), key
    assert tab.locator("td[tabindex='0']").count() == 1
    assert tab.evaluate("scrollY") == 0
    outline = "c => parseFloat(getComputedStyle(c).outlineWidth)"
    assert cell(tab, 1, 15).evaluate(outline) >= 2
    tab.keyboard.press("Tab")
    assert tab.evaluate(
        "document.querySelector('qkv-attention')"
        ".shadowRoot.activeElement.type === 'range'"
    )


def test_a_screen_reader_hears_it(show):
    tab = show(explore(SQUARE, WORDS, WORDS, d_k=8, caption="Three heads."))
    grid = tab.get_by_role("grid", name="Three heads.")
    assert grid.get_by_role("gridcell").count() == 16
    assert grid.get_by_role("rowheader", name="hotpot").count() == 1
    assert grid.get_by_role("columnheader", name="hotpot").count() == 1
    assert tab.locator("p[aria-live=polite]").count() == 1
    set_temperature(tab, 2)
    slider = tab.get_by_role("slider", name="temperature")
    assert slider.get_attribute("aria-valuetext") == "0.3"


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_numbers_stand_out_from_their_cell(show, scheme):
    """Kills an opaque blue: WCAG asks for 4.5 to 1, in both themes."""
    shades = np.log(np.maximum(np.arange(0, 1.01, 0.1), 1e-9))
    shown = explore(
        [[s, math.log(1.000001 - math.exp(s))] for s in shades],
        range(11),
        "kl",
        d_k=1,
    )
    tab = show(shown, scheme=scheme)
    assert {0.0, 0.5, 1.0} <= set(numbers(tab).ravel())
    assert min(tab.evaluate(LUMINANCE)) >= 4.5


def test_controls_that_would_do_nothing_are_not_there(show):
    tab = show(explore(WIDE, ["p", "q"], range(16), d_k=1))
    assert tab.locator("label").all_inner_texts() == ["temperature"]
    np.testing.assert_allclose(numbers(tab), weights(WIDE, d_k=1), atol=0.0051)


def test_a_phone_does_not_scroll_sideways(show):
    tab = show(
        explore(WIDE, ["p", "q"], [f"word{i}" for i in range(16)], d_k=8),
        viewport={"width": 390, "height": 800},
    )
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    box = "b => [b.scrollWidth, b.clientWidth]"
    inside, seen = tab.locator(".box").evaluate(box)
    assert inside > seen  # so the table scrolls in its own box


def test_without_scripts_and_on_paper_there_is_a_table(show):
    shown = explore(SQUARE, WORDS, WORDS, d_k=8)
    tab = show(shown, java_script_enabled=False)
    assert tab.locator("caption").is_visible()
    np.testing.assert_allclose(numbers(tab), weights(SQUARE[0]), atol=0.0051)
    tab = show(shown, scheme="dark")
    tab.emulate_media(media="print")
    assert tab.locator("td").first.is_visible()
    assert not tab.get_by_label("temperature").is_visible()
    color = "c => getComputedStyle(c).color"
    assert tab.locator("td").first.evaluate(color) == "rgb(0, 0, 0)"


def test_inside_the_outputs_of_a_notebook(show):
    """Two scripts, and an element that is met before its table is read."""
    shown = explore(SQUARE, WORDS, WORDS, d_k=8)
    tab = show(shown, shown, inline=True)
    tab.wait_for_function(
        "[...document.querySelectorAll('qkv-attention')]"
        ".every(e => e.shadowRoot)"
    )
    assert tab.locator("form").count() == 2
    # A notebook takes cells off the page and puts them back.
    tab.evaluate(
        "document.body.append(document.querySelector('qkv-attention'))"
    )
    assert tab.locator("form").count() == 2


def test_pages_of_the_book_that_have_one(open_tab, site):
    """Kills a page without the script, or one that carries it inline."""
    shown = []
    for path in audit.toc():
        text = (site.folder / path).read_text("utf-8")
        if "<qkv-att" not in text:
            continue
        shown.append(path[5:7])
        tab = open_tab()
        audit.visit(tab, site.base + path)
        assert tab.locator("script[src*='explorer.js']").count() == 1, path
        found = tab.locator("qkv-attention")
        assert tab.locator("qkv-attention form").count() == found.count()
        assert "customElements" not in text
    assert shown == ["02", "04", "05", "06", "07", "09"]
