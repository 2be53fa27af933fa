"""The command line, with one file per command: each parses its options, calls a lower floor and prints the result.

Signal handlers are installed before any other import, so that Ctrl-C during an import prints one sentence.
"""

import os
import sys
from collections.abc import Sequence

from morl_recipes.cli.signals import STOPPED, defer_signals, forward_sigterm, stop_name
from morl_recipes.common.extras import without_train
from morl_recipes.common.text import say

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
                try:
                    from morl_recipes.cli.errors import explain
                    from morl_recipes.cli.parser import prepare
                except ModuleNotFoundError as error:
                    return _ask(error)
            try:
                code: int = prepare(words).run(words)
                sys.stdout.flush()
            except (Exception, KeyboardInterrupt, SystemExit) as error:
                code = explain(error)
    except KeyboardInterrupt as stop:
        name, code = stop_name(stop)
        say(f"morl-blocks: {name} before anything began.", file=sys.stderr)
    if argv is None and code in STOPPED:  # with torch loaded, a normal exit takes seconds
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _ask(error: ModuleNotFoundError) -> int:
    """Print the extra that the command needs; errors of another kind keep their traceback."""
    sentence = without_train("the command", error)
    if sentence is error:
        raise error
    say(f"morl-blocks: {sentence}", file=sys.stderr)
    return 1
