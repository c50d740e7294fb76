"""Static checks of the built pages, and proofs that each check can fail.

The checks read HTML and return a list of problems. `make pages` runs them on
_build/html; the proofs below run them on small bad pages, with no build.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup, NavigableString, Tag

from grading.items import set_names
from grading.validate import leaks

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"

CODE = ["script", "style", "pre", "code", "kbd", "textarea", "template"]
MATH = ".math, math, mjx-container"
TEX = re.compile(
    r"\\[()\[\]]"  # \( \[
    r"|\\[a-zA-Z]{2,}"  # \frac, \sqrt
    r"|\$\$"
    r"|\$[^$\s][^$\n]*[\\^_{][^$\n]*\$"  # $d_k$, but not $5 and $6
    r"|\b[a-zA-Z]+_\{"  # d_{k
)
ROLE = re.compile(r"\{[a-z]+(?::[a-z]+)*\}`")
HASHED = re.compile(r"[0-9a-f]{16,}|_images/")
DIRECTIVE = re.compile(r":{3,}|`{3,}|\{[a-z-]+\}\s*$", re.MULTILINE)


def parse(html):
    """Return the page as a tree."""
    return BeautifulSoup(html, "html.parser")


def texts(tag, skip, ticks=False):
    """Yield the pieces of text in a tag, but for the tags with ids in skip.

    With ticks, a piece of code comes as a whole, between backticks.
    """
    for child in tag.children:
        if type(child) is NavigableString:  # no comment, no script
            yield str(child)
        elif isinstance(child, Tag) and id(child) not in skip:
            if ticks and child.name == "code":
                yield f"`{child.get_text()}`"
            else:
                yield from texts(child, skip, ticks)


def prose(page, also=""):
    """Return the text a reader sees, without code and without maths."""
    skip = page.select(", ".join([*CODE, *([also] if also else [])]))
    return "\n".join(texts(page, set(map(id, skip))))


def raw_tex(page):
    """TeX that no renderer will touch: in prose, titles and alt texts."""
    texts = [prose(page, MATH)]
    texts += [tag["alt"] for tag in page.select("img[alt]")]
    texts += [tag["content"] for tag in page.select("meta[content]")]
    return [
        f"raw TeX: {found[0]!r} in {' '.join(text.split())[:200]!r}"
        for text in texts
        if (found := TEX.search(text))
    ]


def unresolved(page):
    """References, citations and roles that point nowhere."""
    problems = [
        f"unresolved: {tag.get_text()!r}"
        for tag in page.select(".problematic, .system-message, .xref")
        if "xref" not in tag.get("class") or not tag.find_parent("a")
    ]
    text = prose(page)
    if "[?]" in text:
        problems.append("unresolved citation: [?]")
    # A role that was not understood shows its name before a piece of code.
    skip = page.select(", ".join(t for t in CODE if t != "code"))
    shown = "".join(texts(page, set(map(id, skip)), ticks=True))
    return problems + [f"raw role: {role}" for role in ROLE.findall(shown)]


def bad_alts(page):
    """Pictures whose alternative text is missing or a file name."""
    problems = []
    for img in page.select("img"):
        alt = img.get("alt")
        name = img.get("src", "")
        if alt is None:
            problems.append(f"no alt: {name}")
        elif HASHED.search(alt):
            problems.append(f"file name as alt: {alt}")
        elif not alt.strip() and (
            img.find_parent(class_=["bd-article", "cell_output"])
            or img.find_parent("figure")
        ):
            problems.append(f"empty alt on a figure: {name}")
    return problems


def raw_directives(page):
    """MyST fences that show as text."""
    return [
        f"raw directive: {line.strip()!r}"
        for line in prose(page, MATH).splitlines()
        if DIRECTIVE.search(line)
    ]


def outside_resources(page):
    """Whatever the page would load from another host by being opened."""
    found = page.select(
        "script[src], img[src], iframe[src], source[src], video[src], "
        "audio[src], embed[src], object[data], link[rel~=stylesheet][href], "
        "link[rel~=icon][href], link[rel~=preload][href], "
        "link[rel~=preconnect][href]"
    )
    urls = [t.get("src") or t.get("data") or t.get("href") for t in found]
    urls += re.findall(r"@import\s+(?:url\()?[\"']?([^\"')\s;]+)", str(page))
    return [
        f"loads from elsewhere: {url}"
        for url in urls
        if urlsplit(url).netloc or url.startswith("//")
    ]


def anchors(page):
    """Return every name a link into this page may use."""
    return {t["id"] for t in page.select("[id]")} | {
        t["name"] for t in page.select("a[name]")
    }


def broken_links(pages):
    """Links and files inside the site that are not there.

    `pages` maps a path in the site to its tree; what is not HTML is looked
    up in the folder `pages.folder` if it has one.
    """
    problems = []
    folder = getattr(pages, "folder", None)
    names = {path: anchors(page) for path, page in pages.items()}
    for path, page in pages.items():
        for tag in page.select("[href], [src]"):
            url = tag.get("href") or tag.get("src") or ""
            parts = urlsplit(url)
            if parts.scheme or parts.netloc or url in ("", "#"):
                continue
            target = path
            if parts.path:
                target = normal(path, unquote(parts.path))
            if target not in names:
                there = folder and (folder / target).is_file()
                if not there:
                    problems.append(f"{path}: no such file: {url}")
            elif (
                parts.fragment and unquote(parts.fragment) not in names[target]
            ):
                problems.append(f"{path}: no such anchor: {url}")
    return problems


def normal(path, url):
    """Return where `url` on the page `path` leads."""
    steps = [] if url.startswith("/") else path.split("/")[:-1]
    for step in url.split("/"):
        if step == "..":
            if not steps:
                return f"outside the site: {url}"
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps) or "index.html"


CHECKS = [raw_tex, unresolved, bad_alts, raw_directives, outside_resources]


# ------------------------------------------------- the built pages


class Pages(dict):
    """The trees of a site's pages, and the folder they come from."""

    folder = None


def toc_files(entry):
    """Return every page that a table of contents names."""
    if isinstance(entry, list):
        return [name for part in entry for name in toc_files(part)]
    if not isinstance(entry, dict):
        return []
    own = [entry[k] for k in ("root", "file") if k in entry]
    return own + [n for value in entry.values() for n in toc_files(value)]


def toc():
    """Return the pages of _toc.yml, in order."""
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    return toc_files(yaml.safe_load(text))


@pytest.fixture(scope="module")
def pages():
    """Return every built page, parsed once."""
    if not SITE.is_dir():
        pytest.fail("there is no _build/html: run `make book` first")
    built = Pages()
    built.folder = SITE
    for path in sorted(SITE.rglob("*.html")):
        name = path.relative_to(SITE).as_posix()
        if not name.startswith(("_static/", "_sources/")):
            built[name] = parse(path.read_text(encoding="utf-8"))
    return built


@pytest.mark.site
def test_each_page_of_the_contents_is_built(pages):
    assert len(toc()) >= 6
    missing = [name for name in toc() if f"{name}.html" not in pages]
    assert not missing


@pytest.mark.site
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_pages_pass(pages, check):
    problems = [
        f"{path}: {problem}"
        for path, page in pages.items()
        for problem in check(page)
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.site
def test_every_link_inside_the_site_leads_somewhere(pages):
    problems = broken_links(pages)
    assert not problems, "\n".join(problems)


# ------------------------------------------------- where its links lead


def ways_out(page, path):
    """Return what a page offers beyond reading: (kind, address)."""
    kinds = {
        "colab": 'a[href^="https://colab.research.google.com/"]',
        "edit": 'a[href*="/edit/"]',
        "issue": 'a[href*="/issues/new"]',
        "download": 'a[href*="_sources/"]',
        "clone": ".run-it pre",
    }
    return [
        (kind, tag.get("href") or tag.get_text())
        for kind, where in kinds.items()
        for tag in page.select(where)
        if kind != "colab" or path != "book/index"
    ]


def wrong_ways(page, path, config, root):
    """Return the addresses of a page that lead to another page, or nowhere."""
    source = next(
        f"{path}{end}"
        for end in (".ipynb", ".md")
        if (root / f"{path}{end}").is_file()
    )
    url = config["repository"]["url"]
    branch = config["repository"]["branch"]
    repository = url.removeprefix("https://github.com/")
    notebook = source.endswith(".ipynb")
    file = source.rsplit("/", 1)[1]
    right = {
        "colab": "https://colab.research.google.com/github/"
        f"{repository}/blob/{branch}/{source}",
        "edit": f"{url}/edit/{branch}/{source}",
        "download": f"../_sources/{source}",
        "clone": f"git clone --branch {branch} {url}\n"
        f"cd {repository.split('/')[1]}\nmake lab CHAPTER={file}",
    }
    found = ways_out(page, path)
    problems = [
        f"{kind}: {address}"
        for kind, address in found
        if (kind in right and address != right[kind])
        or (kind == "issue" and not address.startswith(f"{url}/issues/new?"))
    ]
    needed = {"edit", "issue", "download"}
    needed |= {"colab", "clone"} if notebook else set()
    return problems + [
        f"no {kind}" for kind in sorted(needed - {kind for kind, _ in found})
    ]


@pytest.mark.site
@pytest.mark.parametrize("path", toc())
def test_each_page_opens_and_edits_its_own_source(pages, path):
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert wrong_ways(pages[f"{path}.html"], path, config, ROOT) == []


@pytest.mark.site
def test_search_engines_are_told(pages):
    """One description each, one address each, all in the site map."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    base = config["html"]["baseurl"]
    map_ = (SITE / "sitemap.xml").read_text(encoding="utf-8")
    said = set()
    for path in toc():
        page = pages[f"{path}.html"]
        (canonical,) = page.select("link[rel=canonical]")
        assert canonical["href"] == f"{base}{path}.html"
        assert f"<loc>{base}{path}.html</loc>" in map_
        (description,) = page.select("meta[name=description]")
        assert 30 < len(description["content"]) <= 160, path
        said.add(description["content"])
    assert len(said) == len(toc())


@pytest.mark.site
def test_a_downloaded_chapter_is_the_committed_one():
    for source in [ROOT / f"{path}.ipynb" for path in toc()]:
        if source.is_file():
            sent = SITE / "_sources" / source.relative_to(ROOT)
            assert sent.read_bytes() == source.read_bytes(), source.name


@pytest.mark.site
def test_no_page_shows_a_solution_of_the_coursework():
    """Kills a source, a model answer or a hidden check among the pages."""
    assert len(list(SITE.glob("book/problem-sets/*.ipynb"))) == len(
        set_names()
    )
    assert leaks(SITE, set_names()) == []


# ------------------------------------------------- proofs, without a build

BAD = {
    raw_tex: [
        r"<p>We divide by \sqrt{d_k} here.</p>",
        r"<p>We divide by \(x\) here.</p>",
        "<p>The width $d_k$ matters.</p>",
        "<p>$$</p>",
        r"<head><title>Why \sqrt{d_k}?</title></head>",
        r'<img src="a.png" alt="scores over \sqrt{d}">',
        r'<meta name="description" content="Why $\alpha$?">',
        "<td>the width d_{model}</td>",
    ],
    unresolved: [
        "<p>see [?]</p>",
        '<p>see <span class="problematic" id="id1">`x`</span></p>',
        '<p>see <span class="xref myst">nowhere</span></p>',
        '<p><em class="xref std std-term">nowhere</em></p>',
        "<p>see {cite}<code>vaswani2017</code></p>",
        "<p>see {ref}`here`</p>",
        "<p>see {numref}`here`</p>",
        '<div class="system-message">no</div>',
    ],
    bad_alts: [
        '<img src="a.png">',
        '<img src="a.png" alt="../_images/0123456789abcdef0123.png">',
        '<img src="a.png" alt="0123456789abcdef0123456789abcdef.png">',
        '<figure><img src="a.png" alt=""></figure>',
        '<div class="cell_output"><p><img src="a.png" alt=" "></p></div>',
        '<article class="bd-article"><img src="a.png" alt=""></article>',
    ],
    raw_directives: [
        "<p>:::{note}</p>",
        "<p>text<br>:::</p>",
        "<p>```{figure} a.png</p>",
        "<p>{note}</p>",
    ],
    outside_resources: [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<script src="//cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="https://fonts.example.org/a.css">',
        '<link rel="shortcut icon" href="https://example.org/a.ico">',
        '<img alt="a" src="https://example.org/a.png">',
        "<style>@import url('https://fonts.example.org/a');</style>",
    ],
}

GOOD = r"""<html><head><title>Query, key, value</title>
<link rel="canonical" href="https://example.org/book/a.html">
<link rel="stylesheet" href="a.css"></head><body><article class="bd-article">
<p>It costs $5 or $6, with <span class="math">\(d_k\)</span> and
<code>\frac</code>, <code>d_k</code> and {braces}, see
<a href="#x"><span class="xref myst">there</span></a> or
<a href="https://example.org">elsewhere</a>.</p>
<div class="math">\[\frac{a}{b}\]</div>
<pre>:::{note}
$x_i$ [?]</pre>
<figure><img src="a.png" alt="Two heatmaps: rows sum to 1."></figure>
</article><img src="icon.png" alt=""></body></html>"""


@pytest.mark.parametrize(
    ("check", "html"),
    [(check, html) for check, pages in BAD.items() for html in pages],
)
def test_a_bad_page_is_refused(check, html):
    assert check(parse(html))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_good_page_passes(check):
    assert check(parse(GOOD)) == []


def test_each_check_is_proven():
    assert set(BAD) == set(CHECKS)


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("b.html", False),
        ("b.html#here", False),
        ("#top", False),
        ("../index.html", False),
        ("https://example.org/", False),
        ("b.html#there", True),
        ("c.html", True),
        ("#nowhere", True),
        ("b.ipynb", True),
        ("../../index.html", True),
        ("a.png", True),
    ],
)
def test_a_broken_link_is_found(link, wrong):
    pages = {
        "index.html": parse("<p>start</p>"),
        "book/a.html": parse(f'<h1 id="top">A</h1><a href="{link}">b</a>'),
        "book/b.html": parse('<h1 id="here">B</h1>'),
    }
    assert bool(broken_links(pages)) is wrong


WAYS = """
<a href="https://colab.research.google.com/github/o/n/blob/dev/book/a.ipynb">
</a><a href="https://github.com/o/n/edit/dev/book/a.ipynb"></a>
<a href="https://github.com/o/n/issues/new?title=a"></a>
<a href="../_sources/book/a.ipynb"></a>
<div class="run-it"><pre>git clone --branch dev https://github.com/o/n
cd n
make lab CHAPTER=a.ipynb</pre></div>"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", False),
        ("blob/dev", "blob/main", True),
        ("edit/dev/book", "edit/dev", True),
        ("_sources/book/a", "_sources/book/b", True),
        ("--branch dev", "--branch main", True),
        ("CHAPTER=a", "CHAPTER=b", True),
        ("o/n/issues", "o/other/issues", True),
        ("<pre>", "<p>", True),
    ],
)
def test_a_button_that_leads_elsewhere_is_found(tmp_path, old, new, wrong):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.ipynb").touch()
    repository = {"url": "https://github.com/o/n", "branch": "dev"}
    page = parse(WAYS.replace(old, new))
    config = {"repository": repository}
    assert bool(wrong_ways(page, "book/a", config, tmp_path)) is wrong


def test_the_contents_are_read_to_the_last_level():
    tree = {
        "root": "a",
        "parts": [{"chapters": [{"file": "b", "sections": [{"file": "c"}]}]}],
    }
    assert toc_files(tree) == ["a", "b", "c"]
