"""Fair timing of rivals: interleaved, so that a busy machine slows all of them alike."""

import time
from collections.abc import Callable, Mapping


def interleaved(rivals: Mapping[str, Callable[[], object]], *, rounds: int = 30, calls: int = 10) -> dict[str, float]:
    """Return seconds per call of each rival: the best of ``rounds`` turns of ``calls`` calls, taken in alternation."""
    return {name: min(times) for name, times in turns(rivals, rounds=rounds, calls=calls).items()}


def turns(
    rivals: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    calls: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return seconds per call of each rival in each round.

    ``clock=time.process_time`` leaves out the time in which others have the processor, for work on one thread.
    """
    for rival in rivals.values():
        rival()  # warm up
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, rival in rivals.items():
            start = clock()
            for _ in range(calls):
                rival()
            times[name].append((clock() - start) / calls)
    return times
