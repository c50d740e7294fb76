"""What the book adds to Sphinx (tools/pages), without a build."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="the page builder is not installed")

from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError

from pages import finish, heatmap, maths, search
from qkv.explorer import explore

SITE = SimpleNamespace(
    out=Path("nowhere"),
    title="A book",
    base="https://example.org/",
    repository="https://github.com/owner/name",
    branch="dev",
    icons={"fa-bars"},
    sources={"book/04-x.html": "book/04-x.ipynb"},
)


def repaired(repair, html, path="book/04-x.html"):
    """Return a page after one repair."""
    page = BeautifulSoup(html, "html.parser")
    repair(page, SITE, path)
    return page


@pytest.mark.parametrize("display", [False, True])
def test_maths_needs_no_script(display):
    html = maths.render(r"\frac{QK^\top}{\sqrt{d_k}}", display)
    assert "<math" in html and "katex-html" in html
    assert ("katex-display" in html) is display
    assert "\\" not in html  # no TeX left for anyone to read out


@pytest.mark.parametrize("tex", [r"\sqrtt{d}", r"\frac{1}", "x_", r"a \% b$"])
def test_wrong_tex_is_refused_and_quoted(tex):
    """Kills a build that shows a red command name to the reader."""
    with pytest.raises(ValueError, match="KaTeX") as error:
        maths.render(tex)
    assert repr(tex) in str(error.value)


def test_chinese_words_are_cut_out_of_their_sentence():
    words = search.SearchEnglishChinese({}).split("用注意力权重 softmax函数")
    assert {"注意力", "权重", "注意"} <= set(words)
    assert "头" not in words
    assert {"softmax函数", "函数", "用注意力权重"} <= set(words)
    assert "softmax" in search.SearchEnglishChinese({}).split("softmax")


def test_light_or_dark_is_known_before_the_first_paint():
    page = repaired(
        finish.head,
        '<html data-theme="auto"><head><script>document.documentElement'
        '.dataset.mode = "auto"</script><script src="a/fontawesome.js">'
        "</script></head></html>",
    )
    assert page.html["data-theme"] == "light"
    assert "prefers-color-scheme" in page.script.string
    assert len(page.select("script")) == 1


def test_fonts_for_maths_come_early_where_there_is_maths():
    def fonts(body):
        html = f"<html><head></head><body>{body}</body></html>"
        return repaired(finish.head, html).select("link[rel=preload]")

    assert fonts("<p>no maths</p>") == []
    assert fonts('<span class="katex"></span>')[0]["href"].startswith("../_")


def test_sections_are_numbered_here_and_in_the_contents():
    page = repaired(
        finish.numbers,
        '<nav class="page-toc"><a href="#b">B</a></nav><article><section>'
        '<h1>T</h1><section id="a"><h2>A</h2></section><section id="b">'
        "<h2>B</h2><h3>C</h3></section></section></article>",
    )
    assert [h.get_text() for h in page.select("h2")] == ["4.1 A", "4.2 B"]
    assert page.nav.get_text() == "4.2 B"
    assert (page.h1.get_text(), page.h3.get_text()) == ("4 T", "C")


def test_subscripts_in_titles_but_not_in_code():
    page = repaired(
        finish.subscripts, "<h2>√d_k, <code>d_k</code> and W_Q</h2>"
    )
    assert str(page.h2) == (
        "<h2>√d<sub>k</sub>, <code>d_k</code> and W<sub>Q</sub></h2>"
    )


def test_an_icon_that_is_not_drawn_stops_the_build():
    good = repaired(finish.icons, '<i class="fas fa-bars"></i>')
    assert good.i["aria-hidden"] == "true"
    with pytest.raises(ExtensionError, match="fa-new"):
        repaired(finish.icons, '<i class="fas fa-new"></i>')


def test_wide_things_get_a_box_of_their_own_once():
    page = repaired(
        finish.wide,
        "<article><table></table><an-element><table></table></an-element>"
        '<div class="pst-scrollable-table-container"><table></table></div>'
        '<div class="math">x</div></article>',
    )
    parents = [table.parent.name for table in page.select("table")]
    assert parents == ["div", "an-element", "div"]
    assert len(page.select(".pst-scrollable-table-container")) == 3


def test_a_description_is_prose_and_short():
    page = repaired(
        finish.describe,
        "<html><head><title>T</title></head><article><h1>T</h1><blockquote>"
        "<p>quoted, and long enough to be taken for the description</p>"
        '</blockquote><p>Derive <span class="katex-mathml">TWICE</span>'
        f"it, {'word ' * 60}</p></article></html>",
    )
    text = page.select_one("meta[name=description]")["content"]
    assert text.startswith("Derive it, word") and len(text) <= 160


def test_the_lines_to_run_a_chapter_name_branch_and_file():
    page = repaired(
        finish.run_it,
        '<a href="https://colab.research.google.com/x">c</a>'
        '<article class="bd-article"></article>',
    )
    assert page.pre.get_text().split("\n") == [
        "git clone --branch dev https://github.com/owner/name",
        "cd name",
        "make lab CHAPTER=04-x.ipynb",
    ]


def test_sizes_of_pictures(tmp_path):
    points = tmp_path / "a.svg"
    points.write_text('<?xml?><svg width="72pt" height="36.0pt" viewBox="0">')
    box = tmp_path / "b.svg"
    box.write_text('<svg viewBox="0 0 236 52" role="img">')
    png = tmp_path / "c.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\1\0\0\0\0\x10")
    assert [list(finish.dimensions(f)) for f in (points, box, png)] == [
        [96, 48],
        [236, 52],
        [256, 16],
    ]


def test_rules_that_only_name_icons_are_dropped():
    sheet = (
        "a{b:c}.fa-x:before{content:1}.fa-y,.nav .fa-y{d:e}"
        "@media print{.fas{f:g}h{i:j}}"
    )
    assert finish.drop_icons(sheet) == (
        "a{b:c}.fa-y,.nav .fa-y{d:e}@media print{h{i:j}}"
    )


def test_katex_is_one_version():
    """The style sheet and the renderer must be of the same release."""
    script, sheet = (
        (maths.katex() / name).read_text(encoding="utf-8")
        for name in ("katex.min.js", "katex.min.css")
    )
    version = re.search(r'content:"(0\.[\d.]+)"', sheet)[1]
    assert f'version:"{version}"' in script


# ------------------------------------------------- the interactive heatmap


def load(body):
    """Let a page through `heatmap.load`; return its body and its scripts."""
    files, context = [], {"body": body}
    app = SimpleNamespace(
        add_js_file=lambda name, **kw: files.append((name, kw))
    )
    heatmap.load(app, "page", "page.html", context, None)
    return context["body"], files


def test_a_page_loads_the_script_once_and_only_if_it_has_a_table():
    """Kills a copy of the script per table, and other scripts cut out."""
    html = explore([[1.0, 2.0]], "q", "kl", d_k=1)._repr_html_()
    other = "<p>text</p><script>other()</script>"
    body, files = load(f"{other}<div>{html}</div>{other}<div>{html}</div>")
    assert files == [("explorer.js", {"loading_method": "defer"})]
    assert "customElements" not in body
    assert body.count("other()") == 2
    assert body.count("</qkv-attention>") == 2
    assert load(other) == (other, [])
    # A page without a body (the search page) passes as well.
    heatmap.load(None, "search", "search.html", {}, None)


def test_the_heatmap_is_registered():
    """Kills a page whose heatmap stays a table: no file, or no event."""
    events = {}
    heatmap.setup(SimpleNamespace(connect=events.__setitem__))
    config = SimpleNamespace(html_static_path=[])
    events["config-inited"](None, config)
    assert [Path(p).is_file() for p in config.html_static_path] == [True]
    assert events["html-page-context"] is heatmap.load
