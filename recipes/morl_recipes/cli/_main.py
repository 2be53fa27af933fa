"""Parse the command, run it, and turn what goes wrong into a sentence and an exit code."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import tyro

from morl_recipes.cli._list import List
from morl_recipes.cli._policy import Export, Play
from morl_recipes.cli._show import Report, Table
from morl_recipes.cli._signals import Terminated
from morl_recipes.cli._sweep import Sweep
from morl_recipes.cli._test import Test
from morl_recipes.cli._train import Train

BAD_INPUT, BAD_STORE, BUG, INTERRUPTED, TERMINATED = 2, 3, 70, 130, 143
"""Exit codes: a wrong argument or a missing package; files; a bug of ours; Ctrl-C; SIGTERM."""

DESCRIPTION = """\
Train, compare and take apart multi-objective policies: PASTA, its baselines and its ablations.

Examples:
  morl-blocks list                              what there is
  morl-blocks train PASTA --total-steps 20480   one recipe, all preferences of the environment
  morl-blocks sweep smoke                       many recipes, as a file says
  morl-blocks table runs/smoke                  the paper's tables, ours beside the paper's

Exit codes: 0 all is well, 1 some runs failed, 2 a wrong argument or a missing package, 3 results that cannot be read
or written, 70 a bug of morl-blocks, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM). Every command explains itself:
morl-blocks sweep --help"""


def _command(name: str, cls: type, *, brief: bool) -> Any:
    """Name a command; its docstring is its help, with the examples as they stand."""
    lines = (cls.__doc__ or "").strip().splitlines()[: 1 if brief else None]
    text = "\n".join(line.removeprefix("    ") for line in lines)
    return Annotated[cls, tyro.conf.subcommand(name, description=text)]


_COMMANDS: dict[str, type] = {
    "list": List,
    "train": Train,
    "sweep": Sweep,
    "table": Table,
    "report": Report,
    "test": Test,
    "play": Play,
    "export": Export,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit code.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    union: Any = None
    for name, cls in _COMMANDS.items():
        one = _command(name, cls, brief=name not in argv[:1])
        union = one if union is None else union | one
    try:
        command: Any = tyro.cli(
            union,
            prog="morl-blocks",
            description=DESCRIPTION,
            args=argv,
            config=(tyro.conf.OmitSubcommandPrefixes, tyro.conf.FlagCreatePairsOff),
        )
        code: int = command.run(argv)
        sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else BAD_INPUT
    except BrokenPipeError:  # `morl-blocks list | head`: whoever read has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        return _explain(error)
    return code


def _explain(error: BaseException) -> int:
    """Turn an error into a sentence and an exit code; one that nobody foresaw comes with its traceback."""
    if isinstance(error, KeyboardInterrupt):
        word, code = ("Terminated", TERMINATED) if isinstance(error, Terminated) else ("Interrupted", INTERRUPTED)
        return _complain(f"{word}. The same command continues where it stopped.", code)
    from morl_recipes.store import StoreError

    if isinstance(error, StoreError):
        return _complain(str(error), BAD_STORE)
    if isinstance(error, (ValueError, ImportError)):
        return _complain(str(error), BAD_INPUT)
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{error.filename}: "
        return _complain(f"{where}{error.strerror or error}.", BAD_STORE)
    traceback.print_exception(error)
    return _complain(f"this is a bug of morl-blocks ({type(error).__name__}). Please report it.", BUG)


def _complain(message: str, code: int) -> int:
    print(f"morl-blocks: {message}", file=sys.stderr)
    return code
