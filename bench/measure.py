"""Measure the processor time and the memory of one function; other load on the machine has little influence."""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 0.004
"""The least seconds of one measurement, since the clock is coarse."""


def seconds(act: Callable[[], object], budget: float) -> float:
    """Time one run of `act`: the best of the batches that fit into `budget` seconds, at least one."""
    gc.collect()
    gc.disable()
    try:
        count, spent = 1, _batch(act, 1)
        best, used = spent, spent
        while used < budget:
            if spent < BATCH:
                count = min(count * 10, int(count * BATCH / max(spent, 1e-9)) + 1)
            spent = _batch(act, count)
            best, used = min(best, spent / count), used + spent
    finally:
        gc.enable()
    return best


def _batch(act: Callable[[], object], count: int) -> float:
    began = time.process_time()
    for _ in range(count):
        act()
    return time.process_time() - began


def peak(act: Callable[[], object]) -> int:
    """Measure the peak memory of `act` with its result, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = act()
        found = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del kept
    return found
