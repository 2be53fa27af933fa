"""The command line: a file per command; each parses its options, calls a lower floor and prints the result.

Signal handlers are installed before anything else is imported, so that Ctrl-C during an import ends in one sentence.
"""

import os
import sys
from collections.abc import Sequence

from morl_recipes.cli.signals import STOPPED, defer_signals, forward_sigterm, stop_name

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    words = [*(sys.argv[1:] if argv is None else argv)]
    try:
        with forward_sigterm():
            with defer_signals():
                from morl_recipes.cli.errors import explain
                from morl_recipes.cli.parser import prepare
            try:
                code: int = prepare(words).run(words)
                sys.stdout.flush()
            except (Exception, KeyboardInterrupt, SystemExit) as error:
                code = explain(error)
    except KeyboardInterrupt as stop:
        name, code = stop_name(stop)
        print(f"morl-blocks: {name} before anything began.", file=sys.stderr)
    if argv is None and code in STOPPED:  # with torch loaded, a normal exit takes seconds
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
