"""The command line: ``morl-blocks list | train | sweep | front | table | report | verify | play | export``.

Nothing is imported before somebody listens to Ctrl-C and SIGTERM: an early one ends in a sentence too.
"""

import os
import sys
from collections.abc import Sequence

from morl_recipes.cli._signals import Terminated, patient, terminable

__all__ = ["main"]

STOPPED = (130, 143)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    try:
        with terminable():
            with patient():
                from morl_recipes.cli._main import main as run
            code = run(argv)
    except KeyboardInterrupt as stop:
        word, code = ("Terminated", 143) if isinstance(stop, Terminated) else ("Interrupted", 130)
        print(f"morl-blocks: {word} before anything began.", file=sys.stderr)
    if argv is None and code in STOPPED:  # the user waits: Python's own way out takes seconds when torch is loaded
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
