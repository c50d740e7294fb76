"""One Chromium and one server for all browser tests.

Without Chromium these tests are skipped with one line; with
REQUIRE_BROWSER=1 (as in CI) that is a failure.
"""

import os

import pytest

import audit


def missing(what):
    """Skip, or fail where the browser is required."""
    line = f"browser tests not run: {what}"
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(line)
    pytest.skip(line)


@pytest.fixture(scope="session")
def chromium():
    """Return a running headless Chromium."""
    if not audit.chromium():
        missing("no chromium on PATH (set CHROMIUM to name one)")
    try:
        import playwright  # noqa: F401
    except ImportError:
        missing("the Python package playwright is not installed")
    started = audit.browser()
    try:
        browser = started.__enter__()
    except Exception as error:  # a library that the system lacks, say
        missing(
            f"{audit.chromium()} does not start: {str(error).splitlines()[0]}"
        )
    yield browser
    started.__exit__(None, None, None)


@pytest.fixture(scope="session")
def site():
    """Serve _build/html."""
    if not audit.SITE.is_dir():
        pytest.fail("there is no _build/html: run `make book` first")
    with audit.served(audit.SITE) as serving:
        yield serving


@pytest.fixture
def open_tab(chromium):
    """Return a function that makes a tab of a fresh reader."""
    made = []

    def make(*args, **more):
        made.append(audit.profile(chromium, *args, **more))
        return made[-1].new_page()

    yield make
    for context in made:
        context.close()
