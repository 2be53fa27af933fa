"""Convert an error of a command to a sentence and an exit code."""

import os
import sys
import traceback
from contextlib import suppress

from morl_recipes.cli.signals import stop_name
from morl_recipes.common.errors import StoreError
from morl_recipes.common.text import for_terminal, say

BAD_INPUT, BAD_STORE, BUG = 2, 3, 70
"""Exit codes for a wrong argument or a missing package, for files, and for a bug of morl-blocks."""


def explain(error: BaseException) -> int:
    """Print one sentence about an error and return the exit code; an unexpected error is printed with its traceback."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BAD_INPUT
    if isinstance(error, BrokenPipeError):  # `morl-blocks list | head` closes the pipe early
        _discard_output()
        return 0
    if (stop := _interruption(error)) is not None:
        name, code = stop_name(stop)
        return _print(f"{name}. The same command continues where it stopped.", code)
    if isinstance(error, StoreError):
        return _print(str(error), BAD_STORE)
    if isinstance(error, (ValueError, ImportError)):
        return _print(str(error), BAD_INPUT)
    if isinstance(error, MemoryError):
        return _print("there is not enough memory for this.", BAD_STORE)
    if isinstance(error, OSError):
        try:
            sys.stdout.flush()
        except OSError:  # the disk is full
            _discard_output()
        where = "" if error.filename is None else f"{error.filename}: "
        return _print(f"{where}{error.strerror or error}.", BAD_STORE)
    say(*traceback.format_exception(error), file=sys.stderr)
    return _print(f"this is a bug of morl-blocks ({type(error).__name__}). Please report it.", BUG)


def _interruption(error: BaseException) -> KeyboardInterrupt | None:
    """Find an interruption among the causes: a package may raise another error when its import is interrupted."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause


def _discard_output() -> None:
    """Discard text that is not printed yet, because Python would complain about it at exit."""
    with suppress(OSError, ValueError):  # a test or a notebook may have no real standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(message: str, code: int) -> int:
    with suppress(OSError):
        say(f"morl-blocks: {for_terminal(message)}", file=sys.stderr)
    return code
