"""A test may use so much processor time, however long it waits for it.

On a busy machine the clock runs on while a test does not. What a test has
used up says more: a loop without an end meets this limit. A test that waits
for ever uses nothing; pytest-timeout ends it, after a very long time.
"""

import contextlib
import signal

import pytest

SECONDS = 120  # `@pytest.mark.processor(seconds)` for another limit


@contextlib.contextmanager
def limited(seconds):
    """Fail, where the code just is, after so much processor time.

    Its child processes do not count. Windows has no such timer.
    """

    def stop(*_):
        pytest.fail(f"used more than {seconds} s of processor time")

    try:
        before = signal.signal(signal.SIGPROF, stop)
    except (AttributeError, ValueError):  # Windows; not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Limit each test; its fixtures have the wall clock only."""
    marker = item.get_closest_marker("processor")
    with limited(marker.args[0] if marker else SECONDS):
        return (yield)
