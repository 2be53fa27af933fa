"""Signal handling: SIGTERM, which a batch system sends at its time limit, stops a training like Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM."""


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM."""


def stop_name(stop: KeyboardInterrupt) -> tuple[str, int]:
    """Return the word for the signal that stopped a command, and its exit code."""
    return ("Terminated", TERMINATED) if isinstance(stop, Terminated) else ("Interrupted", INTERRUPTED)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end, because a package may swallow an interruption of its import.

    Use it only for imports, which take seconds. A signal that was ignored before stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, frame: received.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
    if received:
        raise Terminated if received[0] == signal.SIGTERM else KeyboardInterrupt


@contextmanager
def forward_sigterm() -> Iterator[None]:
    """Pass SIGTERM to the current handler of Ctrl-C, and raise :class:`Terminated` at the end.

    A training in this process finishes its iteration and writes a checkpoint. Outside the main thread, where Python
    delivers no signals, this has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        received.append(number)
        handler = signal.getsignal(signal.SIGINT)
        # A shell starts background jobs with SIGINT ignored.
        if not callable(handler) or handler is signal.default_int_handler:
            raise Terminated
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, forward)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if received:
            raise Terminated from interrupt
        raise
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
