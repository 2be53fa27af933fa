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
    code = _guarded(argv)
    if argv is None and code in STOPPED:  # the user waits: Python's own way out takes seconds when torch is loaded
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _guarded(argv: Sequence[str] | None) -> int:
    """Run a command, with an ear for signals from the first import on."""
    try:
        with terminable():
            with patient():
                from morl_recipes.cli._main import main as run
            return run(argv)
    except Terminated:
        print("morl-blocks: Terminated before anything began.", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("morl-blocks: Interrupted before anything began.", file=sys.stderr)
        return 130
