"""The command line: ``morl-blocks list | train | sweep | table | report | verify | play | export``.

Nothing is imported before somebody listens to Ctrl-C and SIGTERM: an early one ends in a sentence too.
"""

import sys
from collections.abc import Sequence

from morl_recipes.cli._signals import Terminated, terminable

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    try:
        with terminable():
            from morl_recipes.cli._main import main as run

            return run(argv)
    except Terminated:
        print("morl-blocks: Terminated before anything began.", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("morl-blocks: Interrupted before anything began.", file=sys.stderr)
        return 130
