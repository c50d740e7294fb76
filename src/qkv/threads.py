"""Threads for NumPy: its matrix products use every core, the rest uses one."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from queue import SimpleQueue

import numpy as np


def share(work, jobs, scratch):
    """Call ``work(scratch(), *job)`` for each job, in several threads at once.

    Parameters
    ----------
    work : callable
        A job must not need what another one wrote.
    jobs : iterable of tuples
        Whichever thread is free takes the next.
    scratch : callable
        Called once in each thread: makes what its jobs may overwrite.

    Notes
    -----
    As many threads as NumPy's matrix products (its BLAS) may use; meanwhile
    these use one each. Needs threadpoolctl, else all is done in this thread.
    An error in a thread is raised here.
    """
    jobs, blas = list(jobs), _blas()
    allowed = [lib["num_threads"] for lib in blas.info()] if blas else []
    threads = min(max(allowed, default=1), len(jobs))

    def run(jobs):
        own = scratch()
        for job in jobs:
            work(own, *job)

    if threads <= 1:
        run(jobs)
        return
    queue: SimpleQueue = SimpleQueue()
    for job in (*jobs, *[None] * threads):
        queue.put(job)
    errstate = partial(np.seterr, **np.geterr())  # new threads have their own
    with (
        blas.limit(limits=1),
        ThreadPoolExecutor(threads - 1, initializer=errstate) as pool,
    ):
        others = [
            pool.submit(run, iter(queue.get, None)) for _ in range(threads - 1)
        ]
        run(iter(queue.get, None))
    for other in others:
        other.result()


@cache
def _blas():
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")
