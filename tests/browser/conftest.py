"""One Chromium and one server for all browser tests.

Without Chromium these tests are skipped with one line; with
REQUIRE_BROWSER=1 (as in CI) that is a failure.
"""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parent.parent.parent / "_build" / "html"

FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what):
    """Skip, or fail where the browser is required."""
    line = f"browser tests not run: {what}"
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(line)
    pytest.skip(line)


@pytest.fixture(scope="session")
def chromium():
    """Return a running headless Chromium."""
    path = os.environ.get("CHROMIUM") or next(
        filter(
            None,
            map(
                shutil.which,
                ["chromium", "chromium-browser", "google-chrome"],
            ),
        ),
        None,
    )
    if not path:
        missing("no chromium on PATH (set CHROMIUM to name one)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the Python package playwright is not installed")
    try:
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, headless=True
        )
    except Exception as error:  # a library that the system lacks, say
        missing(f"{path} does not start: {str(error).splitlines()[0]}")
    yield browser
    browser.close()
    playwright.stop()


@pytest.fixture(scope="session")
def server():
    """Serve _build/html; yield (address, list of failed requests)."""
    if not SITE.is_dir():
        pytest.fail("there is no _build/html: run `make book` first")
    failed = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, code="-", size="-"):
            if int(code) >= 400:
                failed.append(f"{int(code)} {self.path}")

        def log_message(self, *args):
            pass

    httpd = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=SITE)
    )
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}/", failed
    httpd.shutdown()
    httpd.server_close()
