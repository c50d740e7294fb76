"""The last touches: what the theme leaves undone, repaired in the HTML.

Runs once, when all pages are written, and changes files of the output folder
only. Each repair is one function with one reason; `PAGE` lists those that
change a page, `finish` those that change the site.
"""

import re
import shutil
import struct
from pathlib import Path
from xml.sax.saxutils import escape

from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError

ICONS = Path(__file__).parent / "static" / "icons.css"
#: What `qkv.plot` writes figures in, and what it becomes on a white page.
INK = ("#858585", "#4a5360")
#: Plain text in which a subscript is written d_k.
TITLES = "h1, h2, h3, h4, figcaption, nav a, .prev-next-title"
FONTS = ("KaTeX_Main-Regular", "KaTeX_Math-Italic")


def new(page, html):
    """Return the elements of a piece of HTML, to be put into `page`."""
    return list(BeautifulSoup(html, "html.parser").contents)


# ------------------------------------------------- one page


def head(page, site, path):
    """Say light or dark before the first paint; load nothing unused.

    The theme's own line leaves the page without colours until the last
    script has run, and for good where scripts are off.
    """
    page.html["data-theme"] = "light"
    for tag in page.select('meta[name^="docsearch"]'):
        tag.decompose()
    for tag in page.select("meta[name=viewport]")[1:]:
        tag.decompose()
    seen = set()
    for tag in page.select("script"):
        text = tag.get_text()
        if "dataset.mode" in text:
            tag.string = (
                "{const d=document.documentElement.dataset;let m=null;"
                'try{m=localStorage.getItem("mode")}catch{}'
                'd.mode=m||"auto";d.theme=d.mode!=="auto"?d.mode:'
                'matchMedia("(prefers-color-scheme: dark)").matches'
                '?"dark":"light"}'
            )
        elif "fontawesome.js" in tag.get("src", "") or text in seen:
            tag.decompose()
        elif text.strip():
            seen.add(text)
    if page.select_one(".katex"):
        root = "../" * path.count("/")
        for name in FONTS:
            page.head.append(
                page.new_tag(
                    "link",
                    rel="preload",
                    href=f"{root}_static/katex/fonts/{name}.woff2",
                    crossorigin="",
                    **{"as": "font", "type": "font/woff2"},
                )
            )


def describe(page, site, path):
    """Give search engines and chats a sentence, and a picture's worth."""
    body = page.select_one("article")
    title = page.title.get_text().strip()
    first = ""
    for p in body.select("p") if body else ():
        if not p.find_parent(["blockquote", "details", "figure", "td"]):
            p = BeautifulSoup(str(p), "html.parser")
            for maths in p.select(".katex-mathml"):
                maths.decompose()
            first = " ".join(p.get_text().replace("\u200b", "").split())
            break
    text = first if len(first) > 40 else f"{title}. {site.title}."
    if len(text) > 160:
        text = text[:159].rsplit(" ", 1)[0].rstrip(",;:") + "…"
    page.head.append(
        page.new_tag("meta", attrs={"name": "description", "content": text})
    )
    for key, value in {
        "og:title": title,
        "og:description": text,
        "og:type": "article",
        "og:site_name": site.title,
        "og:url": f"{site.base}{path}",
    }.items():
        page.head.append(
            page.new_tag("meta", attrs={"property": key, "content": value})
        )


def bars(page, site, path):
    """Take out what is empty: bars, a place for advertising, a spare title."""
    for tag in page.select(
        "#ethical-ad-placement, .pst-async-banner-revealer, footer.bd-footer,"
        "#jb-print-docs-body, .sidebar-header-items,"
        ".bd-footer-content .footer-item, .sidebar-primary-item"
    ):
        if tag.decomposed:
            continue
        if tag.get("id") in ("ethical-ad-placement", "jb-print-docs-body") or (
            not tag.get_text(strip=True) and not tag.find(["img", "button"])
        ):
            tag.decompose()


def icons(page, site, path):
    """Icons are decoration: not for screen readers, and all of them ours."""
    for tag in page.select("i, span"):
        names = [c for c in tag.get("class", []) if c.startswith("fa-")]
        names = [
            n
            for n in names
            if n not in ("fa-solid", "fa-regular", "fa-brands", "fa-lg")
        ]
        if not names:
            continue
        tag["aria-hidden"] = "true"
        for name in names:
            if name not in site.icons:
                raise ExtensionError(f"{path}: no icon {name} in {ICONS}")


def labels(page, site, path):
    """A button is called what is written on it, or has a name at all."""
    for tag in page.select(".search-button-field"):
        del tag["aria-label"]
        for key in tag.select(".search-button__kbd-shortcut"):
            key["aria-hidden"] = "true"
    for tag in page.select("button[title]:not([aria-label])"):
        if not tag.get_text(strip=True):
            tag["aria-label"] = tag["title"]
    for tag in page.select(".theme-switch"):
        del tag["title"]
    # Roles that are deprecated, or that ask for children that are not there.
    for tag in page.select(".citation-list, .citation[role]"):
        del tag["role"]
    # A paragraph cannot hold a list; autodoc writes such.
    for tag in page.select("p:has(dl, div, ul, ol, table)"):
        tag.name = "div"


def wide(page, site, path):
    """What may be wider than a phone scrolls in its own box.

    The theme's script lets the keyboard reach boxes of this class. What is
    inside a custom element is for that element to lay out.
    """
    box = "pst-scrollable-table-container"
    for tag in page.select("article table"):
        own = tag.find_parent(re.compile("-"))
        if not own and not tag.find_parent(class_=box):
            tag.wrap(page.new_tag("div", attrs={"class": box}))
    for tag in page.select("article div.math"):
        tag["class"] = [*tag["class"], box]


def subscripts(page, site, path):
    """Titles and captions are plain text: d_k becomes d with a small k."""
    for tag in page.select(TITLES):
        for text in tag.find_all(string=re.compile(r"\b[dW]_[A-Za-z]+")):
            if not text.find_parent(["code", "math", "pre"]) and (
                not text.find_parent(class_="katex")
            ):
                html = re.sub(
                    r"\b([dW])_([A-Za-z]+)",
                    r"\1<sub>\2</sub>",
                    escape(str(text)),
                )
                text.replace_with(*new(page, html))


def numbers(page, site, path):
    """Number a chapter and its sections, here and in the page's contents."""
    chapter = re.match(r"book/(\d\d)-", path)
    if not chapter:
        return
    sections = page.select("article h1, article section > h2")
    for n, title in enumerate(sections):
        number = f"{int(chapter[1])}.{n}" if n else int(chapter[1])
        anchor = title.parent.get("id")
        for tag in [title, *page.select(f'.page-toc a[href="#{anchor}"]')]:
            tag.insert(
                0, *new(page, f'<span class="section-number">{number}</span> ')
            )


def pictures(page, site, path):
    """Pictures say their size, so that nothing jumps when they arrive."""
    for n, tag in enumerate(page.select("img[src]")):
        file = (site.out / path).parent / tag["src"].split("?")[0]
        if tag["src"].startswith(("http", "data:")) or not file.is_file():
            continue
        size = dimensions(file)
        if size and not tag.get("width"):
            tag["width"], tag["height"] = size
        if tag.find_parent("article") and n > 3:
            tag["loading"] = "lazy"


def run_it(page, site, path):
    """End a chapter with the ways to run, change and mend it.

    All links are plain links, so they work where the buttons on top of the
    page, which need scripts, do not.
    """
    source = site.sources.get(path)
    if not source or not source.endswith(".ipynb"):
        return
    place = page.select_one("article.bd-article")
    colab = page.select_one('a[href^="https://colab.research.google.com"]')
    folder, file = source.rsplit("/", 1)
    name = site.repository.rsplit("/", 1)[1]
    lines = (
        f"git clone --branch {site.branch} {site.repository}\n"
        f"cd {name}\n"
        f"make lab CHAPTER={file}"
    )
    issue = f"{site.repository}/issues/new?title=About%20{folder}%2F{file}"
    place.append(
        *new(
            page,
            f"""
<aside class="run-it" aria-label="Run this chapter">
<p class="run-it-title">Run this chapter</p>
<ul>
<li><a href="{colab["href"]}">Open it in Colab</a>: nothing to install.</li>
<li><a href="../_sources/{source}" download="{file}">Download the
notebook</a>: its first cell installs what it needs.</li>
<li>In JupyterLab, on your machine:
<div class="highlight-sh notranslate"><div class="highlight">
<pre>{escape(lines)}</pre></div></div></li>
<li>Something wrong? <a
href="{site.repository}/edit/{site.branch}/{source}">Edit this page</a> or <a
href="{issue}">report an issue</a>.</li>
</ul></aside>""".strip(),
        )
    )


PAGE = (
    head,
    bars,
    icons,
    labels,
    wide,
    describe,
    subscripts,
    numbers,
    pictures,
    run_it,
)

# ------------------------------------------------- the whole site


def dimensions(file):
    """Return (width, height) of a PNG or SVG in CSS pixels, or None."""
    if file.suffix == ".png":
        return struct.unpack(">II", file.read_bytes()[16:24])
    if file.suffix == ".svg":
        start = file.read_text(encoding="utf-8")
        start = re.search(r"<svg\b[^>]*>", start)[0]
        size = [
            re.search(rf'\b{side}="([\d.]+)(pt|px|)"', start)
            for side in ("width", "height")
        ]
        if all(size):
            return [
                round(float(s[1]) * (4 / 3 if s[2] == "pt" else 1))
                for s in size
            ]
        box = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', start)
        return box and [round(float(x)) for x in box.groups()]
    return None


def ink(site):
    """Figures are drawn in a grey for any page; ours can be darker.

    On the dark page the style sheet turns lightness around, and with it this.
    """
    for file in (site.out / "_images").glob("*.svg"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(*INK), encoding="utf-8")


def weight(site):
    """Remove what no page loads: icon fonts, their rules, source maps."""
    static = site.out / "_static"
    shutil.rmtree(static / "vendor", ignore_errors=True)
    for file in [*static.rglob("*.map"), *static.rglob("fontawesome.js*")]:
        file.unlink(missing_ok=True)
    for file in [*static.rglob("*.js"), *static.rglob("*.css")]:
        if "katex" in file.parts or "sourceMappingURL" not in (
            text := file.read_text(encoding="utf-8")
        ):
            continue
        text = re.sub(r"\n?(//|/\*)# sourceMappingURL=.*", "", text)
        file.write_text(text, encoding="utf-8")
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    text = sheet.read_text(encoding="utf-8")
    text = re.sub(r"@font-face\{[^}]*Font Awesome[^}]*\}", "", text)
    sheet.write_text(drop_icons(text), encoding="utf-8")


def drop_icons(sheet):
    """Return a style sheet without the rules that only name icons."""
    only = re.compile(r"\s*\.fa[\w-]*(:{1,2}before)?\s*")

    def keep(rule):
        names = rule[1].rsplit("*/", 1)[-1].split(",")
        return "" if all(only.fullmatch(n) for n in names) else rule[0]

    return re.sub(r"([^{}]+)\{[^{}]*\}", keep, sheet)


def addresses(site):
    """List the pages for search engines; the root leads to the first one."""
    urls = "".join(
        f"<url><loc>{site.base}{path}</loc></url>\n"
        for path in sorted(site.sources)
    )
    (site.out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{urls}</urlset>\n",
        encoding="utf-8",
    )
    start = "book/index.html"
    (site.out / "index.html").write_text(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(site.title)}</title>\n"
        f'<meta name="description" content="{escape(site.title)}: the book '
        'starts on its first page.">\n'
        f'<link rel="canonical" href="{site.base}{start}">\n'
        f'<link rel="icon" href="_static/favicon.svg">\n'
        f'<meta http-equiv="refresh" content="0; url={start}">\n</head>\n'
        f"<body>\n<main>\n<h1>{escape(site.title)}</h1>\n"
        f'<p><a href="{start}">Start reading</a></p>\n</main>\n</body>\n'
        "</html>\n",
        encoding="utf-8",
    )


class Site:
    """What the repairs need to know about the build."""

    def __init__(self, app):
        options = app.config.html_theme_options
        self.out = Path(app.outdir)
        self.title = app.config.html_title
        self.base = app.config.html_baseurl
        self.repository = options["repository_url"].removesuffix("/")
        self.branch = options.get("repository_branch", "main")
        self.icons = set(
            re.findall(r"\.(fa-[\w-]+) \{\n  --icon", ICONS.read_text("utf-8"))
        )
        self.sources = {
            f"{name}.html": Path(app.env.doc2path(name, base=False)).as_posix()
            for name in app.env.found_docs
        }


def finish(app, exception):
    """Repair every page that was written."""
    if exception or app.builder.name != "html":
        return
    site = Site(app)
    weight(site)
    ink(site)
    for file in sorted(site.out.rglob("*.html")):
        path = file.relative_to(site.out).as_posix()
        text = file.read_text(encoding="utf-8")
        if path.startswith("_") or "fontawesome.js" not in text:
            continue  # not a page, or done before
        page = BeautifulSoup(text, "html.parser")
        for repair in PAGE:
            repair(page, site, path)
        file.write_text(str(page), encoding="utf-8")
    addresses(site)


def setup(app):
    """Run when the build is over; load the icons on every page."""
    app.add_css_file("icons.css")
    app.connect("build-finished", finish)
