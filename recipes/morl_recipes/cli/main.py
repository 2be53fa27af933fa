"""Parse the command, and turn what goes wrong with it into a sentence and an exit code."""

import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module, metadata
from typing import Annotated, Any

import tyro

from morl_recipes.cli.diff import Diff
from morl_recipes.cli.figures import Figures
from morl_recipes.cli.fresh import Fresh
from morl_recipes.cli.front import Front
from morl_recipes.cli.list import List
from morl_recipes.cli.policy import Export, Play
from morl_recipes.cli.publish import Publish
from morl_recipes.cli.show import Report, Table
from morl_recipes.cli.signals import named, patient
from morl_recipes.cli.sweep import Sweep
from morl_recipes.cli.train import Train
from morl_recipes.cli.verify import Verify
from morl_recipes.cli.words import require_no_table
from morl_recipes.common.errors import StoreError
from morl_recipes.common.text import one_line

BAD_INPUT, BAD_STORE, BUG = 2, 3, 70
"""Exit codes: a wrong argument or a missing package; files; a bug of ours."""

DESCRIPTION = """\
Train, compare and take apart multi-objective policies: PASTA, its baselines and its ablations.

Examples:
  morl-blocks list                              what there is
  morl-blocks train PASTA --total-steps 20480   one recipe, all preferences of the environment
  morl-blocks sweep smoke                       many recipes, as a file says
  morl-blocks front --env deep-sea-treasure-v0  many trade-offs from one training
  morl-blocks table runs/smoke                  the paper's tables, ours beside the paper's
  morl-blocks verify runs/smoke                 are all results whole?

Exit codes: 0 all is well, 1 some runs failed or are damaged, 2 a wrong argument or a missing package, 3 results that
cannot be read or written, 70 a bug of morl-blocks, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
Every command explains itself: morl-blocks sweep --help. The version: morl-blocks --version."""


def _command(name: str, cls: type, *, brief: bool) -> Any:
    """Name a command; its docstring is its help, with the examples as they stand."""
    lines = (cls.__doc__ or "").strip().splitlines()[: 1 if brief else None]
    text = "\n".join(line.removeprefix("    ") for line in lines)
    return Annotated[cls, tyro.conf.subcommand(name, description=text)]


_COMMANDS: dict[str, type] = {
    "list": List,
    "train": Train,
    "sweep": Sweep,
    "front": Front,
    "table": Table,
    "report": Report,
    "figures": Figures,
    "diff": Diff,
    "publish": Publish,
    "test": Fresh,
    "verify": Verify,
    "play": Play,
    "export": Export,
}


_NEEDS: dict[type, str] = {
    Train: "morl_recipes.running",
    Sweep: "morl_recipes.running",
    Front: "morl_recipes.running.fronts",
    Table: "morl_recipes.analysis.tables",
    Report: "morl_recipes.analysis.report",
    Figures: "morl_recipes.analysis.report",
    Diff: "morl_recipes.analysis.differences",
    Publish: "morl_recipes.analysis.datasets",
    Fresh: "morl_recipes.running.test_scores",
    Play: "morl_recipes.running.play",
    Export: "morl_recipes.running.export",
    Verify: "morl_recipes.store",
}
"""What is imported, undisturbed, before a command runs."""


def parse(argv: list[str]) -> Any:
    """Return the command that was typed; what cannot be read, and help, exit."""
    union: Any = None
    for name, cls in _COMMANDS.items():
        one = _command(name, cls, brief=name not in argv[:1])
        union = one if union is None else union | one
    return tyro.cli(
        union,
        prog="morl-blocks",
        description=DESCRIPTION,
        args=argv,
        config=(tyro.conf.OmitSubcommandPrefixes, tyro.conf.FlagCreatePairsOff),
    )


def prepare(argv: list[str]) -> Any:
    """Return the command that was typed, with what it needs imported; ``--version`` exits like help."""
    if argv == ["--version"]:
        print(f"morl-blocks {metadata.version('morl-blocks')}")
        raise SystemExit(0)
    command = parse(argv)
    with patient():
        import_module(_NEEDS.get(type(command), "morl_recipes"))
    require_no_table(getattr(command, "folder", None))
    return command


def _silence() -> None:
    """Send what is still to be printed nowhere, so that Python does not complain about it at the end."""
    with suppress(OSError, ValueError):  # a test or a notebook may have no real standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interruption(error: BaseException) -> KeyboardInterrupt | None:
    """Find an interruption that a package, interrupted while it was imported, turned into another error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause


def explain(error: BaseException) -> int:
    """Turn an error into a sentence and an exit code; one that nobody foresaw comes with its traceback."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BAD_INPUT
    if isinstance(error, BrokenPipeError):  # `morl-blocks list | head`: whoever read has had enough
        _silence()
        return 0
    if (stop := _interruption(error)) is not None:
        word, code = named(stop)
        return _complain(f"{word}. The same command continues where it stopped.", code)
    if isinstance(error, StoreError):
        return _complain(str(error), BAD_STORE)
    if isinstance(error, (ValueError, ImportError)):
        return _complain(str(error), BAD_INPUT)
    if isinstance(error, MemoryError):
        return _complain("there is not enough memory for this.", BAD_STORE)
    if isinstance(error, OSError):
        _flush_or_silence()
        where = "" if error.filename is None else f"{error.filename}: "
        return _complain(f"{where}{error.strerror or error}.", BAD_STORE)
    traceback.print_exception(error)
    return _complain(f"this is a bug of morl-blocks ({type(error).__name__}). Please report it.", BUG)


def _flush_or_silence() -> None:
    """Print what is left; where it cannot be printed, as on a full disk, drop it."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence()


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        print(f"morl-blocks: {one_line(message)}", file=sys.stderr, flush=True)
    return code
