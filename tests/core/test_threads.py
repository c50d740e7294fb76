"""Jobs shared among threads: all done, once, at the same time, safely."""

import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from qkv import threads


class FakeBlas:
    """Stand in for threadpoolctl's handle on a BLAS."""

    def __init__(self, allowed):
        self.allowed = allowed

    def info(self):
        return [{"num_threads": self.allowed}]

    @contextmanager
    def limit(self, limits):
        before, self.allowed = self.allowed, limits
        try:
            yield
        finally:
            self.allowed = before


def share(work, jobs):
    """Share jobs that need no scratch."""
    threads.share(lambda _, *job: work(*job), jobs, lambda: None)


@pytest.fixture
def blas(monkeypatch):
    fake = FakeBlas(3)
    monkeypatch.setattr(threads, "_blas", lambda: fake)
    return fake


def test_each_job_is_done_once(blas):
    done = []
    share(lambda *job: done.append(job), ((i, -i) for i in range(99)))
    assert sorted(done) == [(i, -i) for i in range(99)]


def test_scratch_is_made_once_in_each_thread(blas):
    """Kills memory that two threads share, and memory made for each job."""
    together, made, used = threading.Barrier(3, timeout=20), [], []

    def scratch():
        made.append(object())
        return made[-1]

    def work(own, i):
        if i < 3:
            together.wait()  # one job each
        used.append((threading.current_thread(), own))

    threads.share(work, [(i,) for i in range(30)], scratch)
    assert len(made) == 3
    assert len({thread for thread, _ in used}) == 3
    assert len(set(used)) == 3


def test_at_the_same_time(blas):
    """Kills threads that take turns: each job waits for two others."""
    together = threading.Barrier(3, timeout=20)
    share(lambda _: together.wait(), [(i,) for i in range(6)])


def test_one_matrix_product_uses_one_core_meanwhile(blas):
    """Kills a limit that is not set, or not taken back."""
    seen = set()
    share(lambda _: seen.add(blas.allowed), [(i,) for i in range(9)])
    assert seen == {1}
    assert blas.allowed == 3


@pytest.mark.parametrize("bad", range(3))
def test_an_error_arrives(blas, bad):
    """Kills an error that stays in its thread, or in this one a limit."""
    together = threading.Barrier(3, timeout=20)

    def work(i):
        together.wait()  # one job each
        if i == bad:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        share(work, [(i,) for i in range(3)])
    assert blas.allowed == 3


def test_floating_point_errors_are_handled_as_in_this_thread(blas):
    """Kills threads that start with NumPy's defaults."""
    together, seen = threading.Barrier(3, timeout=20), []

    def work(_):
        together.wait()
        seen.append(np.geterr()["divide"])

    with np.errstate(divide="raise"):
        share(work, [(i,) for i in range(3)])
    assert seen == ["raise"] * 3


@pytest.mark.parametrize("allowed, jobs", [(1, 5), (3, 1), (3, 0)])
def test_alone(blas, allowed, jobs):
    blas.allowed = allowed
    done = []

    def work(i):
        done.append((i, threading.current_thread(), blas.allowed))

    share(work, [(i,) for i in range(jobs)])
    here = threading.current_thread()
    assert done == [(i, here, allowed) for i in range(jobs)]


def test_without_threadpoolctl(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    threads._blas.cache_clear()
    try:
        assert threads._blas() is None
        done = []
        share(done.append, [(1,), (2,)])
        assert done == [1, 2]
    finally:
        threads._blas.cache_clear()


def test_the_real_one():
    """Kills a limit on OpenMP, which is torch's, in place of NumPy's BLAS."""
    pytest.importorskip("threadpoolctl")
    pytest.importorskip("torch")
    threads._blas.cache_clear()  # it may be older than torch
    blas = threads._blas()
    assert {lib["user_api"] for lib in blas.info()} <= {"blas"}
    before = blas.info()
    with blas.limit(limits=1):
        assert all(lib["num_threads"] == 1 for lib in blas.info())
    assert blas.info() == before
