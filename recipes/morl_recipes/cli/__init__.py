"""The command line: ``morl-blocks list | train | sweep | front | table | report | verify | play | export``.

Nothing is imported before somebody listens to Ctrl-C and SIGTERM: an early one ends in a sentence too.
"""

import os
import sys
from collections.abc import Sequence

from morl_recipes.cli.signals import STOPPED, named, patient, terminable

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with terminable():
            with patient():
                from morl_recipes.cli.main import explain, prepare
            try:
                code: int = prepare(words).run(words)
                sys.stdout.flush()
            except (Exception, KeyboardInterrupt, SystemExit) as error:
                code = explain(error)
    except KeyboardInterrupt as stop:
        word, code = named(stop)
        print(f"morl-blocks: {word} before anything began.", file=sys.stderr)
    if argv is None and code in STOPPED:  # the user waits: Python's own way out takes seconds when torch is loaded
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
