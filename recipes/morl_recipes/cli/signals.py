"""SIGTERM, which a batch system sends at its time limit, stops a training as Ctrl-C does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM."""


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


def named(stop: KeyboardInterrupt) -> tuple[str, int]:
    """Return the word for what stopped a command, and its exit code."""
    return ("Terminated", TERMINATED) if isinstance(stop, Terminated) else ("Interrupted", INTERRUPTED)


@contextmanager
def patient() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the end: a package that is interrupted while it is imported may swallow them.

    Use it for imports alone, which take seconds. Ctrl-C stays ignored where it was, as in a shell's background job.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, frame: asked.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
    if asked:
        raise Terminated if asked[0] == signal.SIGTERM else KeyboardInterrupt


@contextmanager
def terminable() -> Iterator[None]:
    """Pass SIGTERM on to whoever handles Ctrl-C at the moment, and raise :class:`Terminated` in the end.

    A training in this process ends its iteration and writes a checkpoint; workers are ended as by Ctrl-C. Outside the
    main thread, where Python delivers no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        handler = signal.getsignal(signal.SIGINT)
        # A shell starts background jobs with SIGINT ignored.
        if not callable(handler) or handler is signal.default_int_handler:
            raise Terminated
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if asked:
            raise Terminated from interrupt
        raise
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
