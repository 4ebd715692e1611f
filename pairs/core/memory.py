"""Memory of a worker process: keeps freed memory for the next arrays, and reports the peak."""

import resource
import sys

import numpy as np


def keep_freed_memory() -> None:
    """Let the C library keep freed memory: getting its pages again took half of numpy's time.

    Freeing a block of almost 32 MB raises glibc's limits for returning memory to the system, see mallopt(3).
    """
    np.empty(31 * 2**20, np.uint8)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
