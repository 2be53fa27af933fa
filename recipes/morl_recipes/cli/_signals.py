"""SIGTERM, which a batch system sends at its time limit, stops a training as Ctrl-C does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM."""


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
