"""Fair timing of rivals: interleaved, so that a busy machine slows all of them alike."""

import time
from collections.abc import Callable, Mapping


def interleaved(
    rivals: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 30,
    calls: int = 10,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return seconds per call of each rival: the best of ``rounds`` turns of ``calls`` calls, taken in alternation.

    ``clock=time.process_time`` leaves out the time in which others have the processor, for work on one thread.
    """
    best = dict.fromkeys(rivals, float("inf"))
    for rival in rivals.values():
        rival()  # warm up
    for _ in range(rounds):
        for name, rival in rivals.items():
            start = clock()
            for _ in range(calls):
                rival()
            best[name] = min(best[name], (clock() - start) / calls)
    return best
