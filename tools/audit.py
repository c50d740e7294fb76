"""Measure the built pages in a browser: a row for each page.

Usage: audit.py             bytes, requests, layout shift, accessibility
       audit.py --slow      also Lighthouse and the Nu HTML checker (npm, Java)
       audit.py --plain     the same for the theme as it comes, in _build/plain

The tests in tests/site use the same functions, so that what is tested and
what the table says cannot differ.
"""

import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PLAIN = ROOT / "_build" / "plain"
SIZES = {"desktop": (1366, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
FIRST, NEXT = 400_000, 150_000  # bytes, as transferred
SHIFT = 0.1
FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# A page that never gets there is wrong; one that is slow has a busy machine.
WAIT = 600_000  # ms
NPM = ("lighthouse@12.8.2", "vnu-jar@26.9.27")


def toc():
    """Return the pages of _toc.yml, in order, as paths in the site."""
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    names = re.findall(r"^\s*(?:- )?(?:root|file): (\S+)", text, re.MULTILINE)
    return [f"{name}.html" for name in names]


# ------------------------------------------------- a server that counts

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".ipynb": "application/json",
    ".xml": "application/xml",
}


class Site(NamedTuple):
    """A folder that is being served."""

    base: str  # its address
    log: list  # (status, path, bytes) for each request
    folder: Path


@cache
def packed(path, _changed):
    """Return a file as GitHub Pages would send it."""
    return gzip.compress(Path(path).read_bytes(), mtime=0)


@contextmanager
def served(folder):
    """Serve a folder as GitHub Pages does; yield a `Site`."""
    log = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            name = self.path.split("?")[0].split("#")[0]
            file = Path(folder, *filter(None, name.split("/")))
            if file.is_dir():
                file /= "index.html"
            if ".." in name or not file.is_file():
                log.append((404, self.path, 0))
                self.send_error(404)
                return
            kind = KINDS.get(file.suffix, "application/octet-stream")
            pack = file.suffix not in (".png", ".woff2")
            body = (
                packed(file, file.stat().st_mtime_ns)
                if pack
                else file.read_bytes()
            )
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=600")
            if pack:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            with suppress(ConnectionError):  # the reader has left
                self.wfile.write(body)
            log.append((200, self.path, len(body)))

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_port}/", log, folder)
    finally:
        server.shutdown()
        server.server_close()


# ------------------------------------------------- a browser


def chromium():
    """Return the path of a Chromium or Chrome, or None.

    The one that was built without a window draws in half the time.
    """
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
    )
    return os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), None
    )


@contextmanager
def browser():
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(),
            args=FLAGS,
            headless=True,
            timeout=WAIT,
        )
        yield started
        started.close()


def profile(browser, size="desktop", scheme="light", **more):
    """Return a fresh browser profile: nothing cached, nothing chosen."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        **more,
    )
    context.set_default_timeout(WAIT)
    return context


def visit(tab, url):
    """Open a page and wait for all of it, pictures further down included."""
    tab.goto(url, wait_until="load")
    tab.evaluate(
        """async () => {
        for (const i of document.images) i.loading = 'eager';
        await Promise.all([...document.images].map(i => i.decode()
            .catch(() => 0)));
        await document.fonts.ready; }"""
    )


def outside(tab, base, path):
    """Open a page; return what it asks from other hosts (never sent)."""
    asked = []

    def look(route):
        asked.append(route.request.url)
        route.abort()

    tab.route(lambda url: not url.startswith((base, "data:", "blob:")), look)
    visit(tab, base + path)
    return asked


def transferred(browser, site, path, before=None):
    """Return the bytes of a page, for a reader who has seen `before` or none.

    To scroll to its end is part of reading it.
    """
    context = profile(browser)
    tab = context.new_page()
    if before:
        visit(tab, site.base + before)
    site.log.clear()
    visit(tab, site.base + path)
    context.close()
    return sum(size for _, _, size in site.log)


def shift(browser, site, path, size="phone"):
    """Return the cumulative layout shift while a page loads and is read."""
    context = profile(browser, size)
    tab = context.new_page()
    watch_shifts(tab)
    visit(tab, site.base + path)
    found = shifts(tab)
    context.close()
    return found


def watch_shifts(tab):
    """From the next page on, count what moves."""
    tab.add_init_script(
        """window.shift = 0;
        new PerformanceObserver(list => { for (const e of list.getEntries())
            if (!e.hadRecentInput) window.shift += e.value; })
            .observe({type: 'layout-shift', buffered: true});"""
    )


def shifts(tab):
    """Read the open page to its end; return how far it moved till then."""
    height = tab.evaluate("document.documentElement.scrollHeight")
    for y in range(0, height, max(2000, height // 12)):
        tab.evaluate(f"scrollTo({{top: {y}, behavior: 'instant'}})")
        tab.wait_for_timeout(30)
    return tab.evaluate("window.shift")


@lru_cache(maxsize=1)
def axe_source():
    """Return axe-core, which comes with a package from PyPI."""
    file = files("axe_playwright_python") / "axe.min.js"
    return file.read_text(encoding="utf-8")


# Contrast is most of what axe-core spends its time on. Text that looks the
# same on the same ground is asked once: its colour, size and weight, and what
# lies behind it, up to the root.
ONE_OF_EACH_LOOK = """() => {
    const numbers = new Map(), seen = new Set();
    const number = text => {
        if (!numbers.has(text)) numbers.set(text, numbers.size);
        return numbers.get(text); };
    const walk = (e, behind) => {
        const s = getComputedStyle(e);
        const ground = number([behind, s.backgroundColor, s.backgroundImage,
            s.opacity, s.filter, s.position, s.transform, s.zIndex].join());
        const look = [ground, s.color, s.fontSize, s.fontWeight,
            s.textShadow, e.tagName].join();
        const text = e.matches('input, select, textarea') ||
            [...e.childNodes].some(
                n => n.nodeType === Node.TEXT_NODE && n.data.trim());
        const box = e.getBoundingClientRect();
        if (text && !seen.has(look) && box.width && box.height &&
                e.checkVisibility({visibilityProperty: true})) {
            e.setAttribute('data-look', '');
            seen.add(look); }
        for (const child of e.children) walk(child, ground); };
    walk(document.documentElement, 0);
    axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
}"""


def violations(tab):
    """Return what axe-core finds against WCAG 2.1 AA on the open page.

    The look of a formula is hidden from screen readers and all in the colour
    of the text. Code is thousands of words in a dozen colours: one word of
    each is left marked, the others become plain text.
    """
    tab.evaluate(
        """() => { const seen = new Set();
        for (const e of document.querySelectorAll('.katex-html')) e.remove();
        for (const e of document.querySelectorAll('.highlight *, .sig *')) {
            const kind = e.tagName + e.className;
            if (e.closest('a, button')) continue;
            if (seen.has(kind)) e.replaceWith(...e.childNodes);
            seen.add(kind); } }"""
    )
    tab.evaluate(axe_source())
    tab.evaluate(ONE_OF_EACH_LOOK)
    report = tab.evaluate(
        """axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
                    resultTypes: ['violations']})"""
    )
    return [
        f"{v['id']}: {n['html'][:160]}"
        for v in report["violations"]
        for n in v["nodes"]
    ]


# ------------------------------------------------- slower judges


def tools():
    """Install Lighthouse and the Nu checker into _build/audit, once."""
    folder = ROOT / "_build" / "audit"
    if not (folder / "node_modules" / "vnu-jar").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "npm",
                "install",
                "--silent",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(folder),
                *NPM,
            ],
            check=True,
        )
    return folder / "node_modules"


def lighthouse(url):
    """Return Lighthouse's three scores that do not depend on the machine."""
    told = subprocess.run(
        [
            str(tools() / ".bin" / "lighthouse"),
            url,
            "--output=json",
            "--quiet",
            "--only-categories=accessibility,best-practices,seo",
            "--chrome-flags=--headless=new " + " ".join(FLAGS),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CHROME_PATH": chromium()},
    )
    scores = json.loads(told.stdout)["categories"]
    return [round(100 * part["score"]) for part in scores.values()]


def nu_errors(file):
    """Return what the Nu HTML checker calls an error."""
    jar = next((tools() / "vnu-jar").rglob("vnu.jar"))
    told = subprocess.run(
        [
            "java",
            "-jar",
            str(jar),
            "--errors-only",
            "--format",
            "gnu",
            str(file),
        ],
        capture_output=True,
        text=True,
    )
    return [line for line in told.stderr.splitlines() if "error" in line]


# ------------------------------------------------- the theme as it comes


def build_plain():
    """Build the same pages with Jupyter Book's defaults, into PLAIN."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    ours = config["sphinx"]
    del ours["local_extensions"]
    for name in (
        "extensions",
        "html_math_renderer",
        "html_static_path",
        "html_css_files",
        "html_context",
    ):
        ours["config"].pop(name, None)
    ours["extra_extensions"] = [
        "sphinx.ext.autodoc",
        "sphinx.ext.napoleon",
        "sphinxcontrib.bibtex",
    ]
    for name in ("logo", "html"):
        config.pop(name, None)
    shutil.rmtree(PLAIN, ignore_errors=True)
    PLAIN.mkdir(parents=True)
    (PLAIN / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from jupyter_book.cli.main import main; main()",
            "build",
            ".",
            "--all",
            "--config",
            str(PLAIN / "_config.yml"),
            "--path-output",
            str(PLAIN),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return PLAIN / "_build" / "html"


# ------------------------------------------------- the table


def row(browser, site, path, slow):
    """Return the measures of one page, in the order of the table's head."""
    axe, strangers, complaints = [], set(), []
    for size in SIZES:
        for scheme in SCHEMES:
            context = profile(browser, size, scheme)
            tab = context.new_page()
            tab.on(
                "console",
                lambda m: (
                    m.type in ("error", "warning")
                    and complaints.append(m.text)
                ),
            )
            strangers.update(outside(tab, site.base, path))
            told = len(complaints)
            axe += violations(tab)
            del complaints[told:]  # what axe-core says itself
            context.close()
    start, other = "book/index.html", "book/how-to-run.html"
    first = transferred(browser, site, path)
    after = transferred(browser, site, path, other if path == start else start)
    cells = [
        f"{first / 1000:.0f}",
        f"{after / 1000:.0f}",
        len(strangers),
        len(complaints),
        len(axe),
        f"{max(shift(browser, site, path, size) for size in SIZES):.3f}",
    ]
    if slow:
        cells += [
            len(nu_errors(Path(site.folder) / path)),
            " ".join(map(str, lighthouse(site.base + path))),
        ]
    return cells


def main(arguments):
    """Print the table for this book, or for the theme as it comes."""
    slow = "--slow" in arguments
    folder = build_plain() if "--plain" in arguments else SITE
    head = ["page", "kB first", "kB next", "outside", "console", "axe"]
    head += ["shift"] + ["Nu", "Lighthouse"] * slow
    print("| " + " | ".join(head) + " |", flush=True)
    print("|" + " --- |" * len(head), flush=True)
    with browser() as started, served(folder) as site:
        for path in toc():
            cells = row(started, site, path, slow)
            name = path.removeprefix("book/").removesuffix(".html")
            print(
                "| " + " | ".join(map(str, [name, *cells])) + " |", flush=True
            )


if __name__ == "__main__":
    main(sys.argv[1:])
