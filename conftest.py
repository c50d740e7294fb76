"""A test may use so much processor time, however long it waits for it.

On a busy machine the clock runs on while a test does not. What a test has
used up says more: a loop without an end meets this limit. A test that waits
for ever uses nothing; pytest-timeout ends it, after a very long time.

Notebooks: the Makefile limits what their kernels may use (ulimit).
"""

import contextlib
import signal
import time
from queue import Empty

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


def patient(get_message):
    """Return nbval's way to wait for a kernel, without its haste.

    A kernel that has died, or was ended by its limit, is seen in seconds.
    """

    def wait(kernel, stream, timeout=None):
        if timeout is None or timeout < 5:
            return get_message(kernel, stream, timeout)
        end = time.monotonic() + max(timeout, 600)
        while True:
            try:
                return get_message(kernel, stream, 3)
            except Empty:
                if not kernel.is_alive():
                    raise RuntimeError(
                        "the kernel has died: has it used up its processor "
                        "time (NOTEBOOK_SECONDS in the Makefile)?"
                    ) from None
                if time.monotonic() > end:
                    raise

    return wait


def pytest_configure(config):
    """Make nbval wait as long as a busy machine needs."""
    if config.getoption("nbval", False) or config.getoption(
        "nbval_lax", False
    ):
        from nbval.kernel import RunningKernel

        RunningKernel.get_message = patient(RunningKernel.get_message)
